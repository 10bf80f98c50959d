package tune

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"
)

// TPE selects settings with the tree-structured Parzen estimator. For each setting it estimates one
// density from the best tenth of the trials and one from the others, draws candidates from the
// first, and takes the candidate with the highest ratio of the two densities. The first ten trials
// are random. Each setting is selected independently of the others (Bergstra, Bardenet, Bengio and
// Kégl, Algorithms for Hyper-Parameter Optimization, 2011, section 4; the widths of the kernels are
// those of section 4.2, and older trials have less weight as in Bergstra, Yamins and Cox, Making a
// Science of Model Search, 2013).
func TPE() Option {
	return Option{"TPE()", func(o *options) error { o.sampler = &tpe{}; return nil }}
}

const (
	startTrials = 10 // random trials at the beginning
	candidates  = 24 // drawn for each setting
	maxBest     = 25 // maximum number of trials that count as the best
	recent      = 25 // trials with full weight
)

// tpe is the sampler of TPE, with the trials before the current one.
type tpe struct{ ended []*Trial }

func (p *tpe) begin(s *Search, t *Trial) bool {
	p.ended = earlier(s, t)
	return true
}

func (p *tpe) sample(t *Trial, name string, d dimension) float64 {
	low, high := d.ends()
	var seen []observation
	for _, u := range p.ended {
		if at, ok := d.coordinate(u.Get(name)); ok && at >= low && at <= high {
			seen = append(seen, observation{at, u.Number})
		}
	}
	if len(seen) < startTrials || low == high {
		return uniform(t.random, d)
	}
	best := min(int(math.Ceil(.1*float64(len(seen)))), maxBest)
	if d.kind == choice {
		return chooseWord(t.random, len(d.words), seen[:best], seen[best:])
	}
	good, other := newMixture(seen[:best], low, high), newMixture(seen[best:], low, high)
	chosen, highest := 0., math.Inf(-1)
	for range candidates {
		at := good.sample(t.random)
		ratio := 0.
		if d.kind == whole {
			at = d.round(at)
			ratio = good.logMass(at-.5, at+.5) - other.logMass(at-.5, at+.5)
		} else {
			ratio = good.logDensity(at) - other.logDensity(at)
		}
		if ratio > highest {
			chosen, highest = at, ratio
		}
	}
	return chosen
}

// observation is a coordinate used by an earlier trial.
type observation struct {
	at    float64
	trial int
}

// weights returns the weights of observations by the age of their trials: full for the newest,
// decreasing for older ones.
func weights(seen []observation) []float64 {
	w := make([]float64, len(seen))
	byAge := make([]int, len(seen))
	for i := range byAge {
		byAge[i] = i
	}
	slices.SortFunc(byAge, func(a, b int) int { return seen[b].trial - seen[a].trial })
	old := len(seen) - recent
	for age, i := range byAge {
		w[i] = 1
		if age >= recent && old > 1 {
			first := 1 / float64(len(seen))
			w[i] = 1 - (1-first)*float64(age-recent+1)/float64(old)
		}
	}
	return w
}

// chooseWord draws candidates for a choice by their frequency among the good trials, and takes the
// one with the highest ratio of the frequencies among good and other trials. One pseudo-trial is
// spread evenly over all choices.
func chooseWord(r *rand.Rand, words int, good, other []observation) float64 {
	share := func(seen []observation) []float64 {
		p := make([]float64, words)
		for i, w := range weights(seen) {
			p[int(seen[i].at)] += w
		}
		floats.AddConst(1/float64(words), p)
		floats.Scale(1/floats.Sum(p), p)
		return p
	}
	l, g := share(good), share(other)
	chosen, highest := 0, math.Inf(-1)
	for range candidates {
		i := drawIndex(r, l)
		if ratio := l[i] / g[i]; ratio > highest {
			chosen, highest = i, ratio
		}
	}
	return float64(chosen)
}

// drawIndex returns a random index with these probabilities.
func drawIndex(r *rand.Rand, p []float64) int {
	u := r.Float64()
	for i, share := range p {
		if u -= share; u < 0 {
			return i
		}
	}
	return len(p) - 1
}

// mixture is a Parzen estimator: truncated normal distributions around the observations, and a
// wide one around the middle of the range.
type mixture struct {
	low, high            float64
	weight, mean, spread []float64
}

func newMixture(seen []observation, low, high float64) mixture {
	type kernel struct {
		at, weight float64
		prior      bool // the prior: the wide kernel
	}
	kernels := []kernel{{at: low + (high-low)/2, weight: 1, prior: true}}
	for i, w := range weights(seen) {
		kernels = append(kernels, kernel{at: seen[i].at, weight: w})
	}
	slices.SortStableFunc(kernels, func(a, b kernel) int { return cmp.Compare(a.at, b.at) })
	m := mixture{low: low, high: high}
	widest := high - low
	narrowest := widest / min(100, 1+float64(len(kernels)))
	for i, k := range kernels {
		// The standard deviation is the distance to the farther neighbor.
		spread := 0.
		if i > 0 {
			spread = k.at - kernels[i-1].at
		}
		if i+1 < len(kernels) {
			spread = max(spread, kernels[i+1].at-k.at)
		}
		if k.prior {
			spread = widest
		}
		m.weight, m.mean = append(m.weight, k.weight), append(m.mean, k.at)
		m.spread = append(m.spread, min(max(spread, narrowest), widest))
	}
	floats.Scale(1/floats.Sum(m.weight), m.weight)
	return m
}

// truncation returns the mass of a kernel below and within the range.
func (m mixture) truncation(i int) (below, within float64) {
	below = distuv.UnitNormal.CDF((m.low - m.mean[i]) / m.spread[i])
	return below, distuv.UnitNormal.CDF((m.high-m.mean[i])/m.spread[i]) - below
}

func (m mixture) sample(r *rand.Rand) float64 {
	i := drawIndex(r, m.weight)
	below, within := m.truncation(i)
	at := m.mean[i] + m.spread[i]*distuv.UnitNormal.Quantile(below+r.Float64()*within)
	return min(max(at, m.low), m.high)
}

// logDensity returns the logarithm of the density at a coordinate.
func (m mixture) logDensity(at float64) float64 {
	parts := make([]float64, len(m.mean))
	for i := range parts {
		_, within := m.truncation(i)
		parts[i] = math.Log(m.weight[i]) + distuv.UnitNormal.LogProb((at-m.mean[i])/m.spread[i]) - math.Log(m.spread[i]*within)
	}
	return floats.LogSumExp(parts)
}

// logMass returns the logarithm of the probability of an interval.
func (m mixture) logMass(from, to float64) float64 {
	p := 0.
	for i := range m.mean {
		_, within := m.truncation(i)
		p += m.weight[i] / within * (distuv.UnitNormal.CDF((to-m.mean[i])/m.spread[i]) - distuv.UnitNormal.CDF((from-m.mean[i])/m.spread[i]))
	}
	return math.Log(max(p, math.SmallestNonzeroFloat64))
}
