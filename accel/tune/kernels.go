package tune

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// kernels are the distributions of a Parzen estimator for one setting: one for each observation, and last the prior.
//
// The kernel of a number is a normal distribution around the observation, truncated to the range; that of an integer
// has the mass within ±½ of each integer. The prior is as wide as the range, around its middle. The kernel of a choice
// prefers the observed string; the prior is uniform. An observation that is missing, NaN, has the kernel of the prior.
type kernels struct {
	d           dimension
	low, high   float64
	observed    []float64 // NaN for the prior
	mean        []float64 // of numbers
	spread      []float64 // standard deviations of numbers
	below, mass []float64 // parts of the normal distributions below and within the range
}

func newKernels(d dimension, seen []float64) kernels {
	low, high := d.ends()
	k := kernels{d: d, low: low, high: high, observed: append(slices.Clone(seen), math.NaN())}
	if d.kind == choice {
		return k
	}
	k.spread = k.spreads()
	for i, at := range k.observed {
		if math.IsNaN(at) {
			at = low + (high-low)/2
		}
		below := distuv.UnitNormal.CDF((low - at) / k.spread[i])
		k.mean, k.below = append(k.mean, at), append(k.below, below)
		k.mass = append(k.mass, distuv.UnitNormal.CDF((high-at)/k.spread[i])-below)
	}
	return k
}

// spreads returns the standard deviations: the distance to the farther neighbor (Bergstra and others, 2011, section
// 4.2), but not less than a part of the range that decreases with the number of kernels. The ends of the range are
// neighbors of a single observation only.
func (k kernels) spreads() []float64 {
	widest := k.high - k.low
	narrowest := widest / min(100, 1+float64(len(k.observed)))
	spreads, order := make([]float64, len(k.observed)), []int{}
	for i, at := range k.observed {
		if spreads[i] = widest; !math.IsNaN(at) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(k.observed[a], k.observed[b]) })
	if len(order) == 1 {
		at := k.observed[order[0]]
		spreads[order[0]] = max(at-k.low, k.high-at, narrowest)
		return spreads
	}
	for rank, i := range order {
		distance := narrowest
		if rank > 0 {
			distance = max(distance, k.observed[i]-k.observed[order[rank-1]])
		}
		if rank+1 < len(order) {
			distance = max(distance, k.observed[order[rank+1]]-k.observed[i])
		}
		spreads[i] = distance
	}
	return spreads
}

// draw returns a random coordinate from a kernel.
func (k kernels) draw(r *rand.Rand, i int) float64 {
	if k.d.kind == choice {
		p := make([]float64, len(k.d.words))
		for word := range p {
			p[word] = k.share(i, word)
		}
		return float64(drawIndex(r, p))
	}
	at := k.mean[i] + k.spread[i]*distuv.UnitNormal.Quantile(k.below[i]+r.Float64()*k.mass[i])
	if k.d.kind == whole {
		return k.d.round(at)
	}
	return min(max(at, k.low), k.high)
}

// log returns the logarithm of the density of a kernel, or of the probability of an integer or a choice.
func (k kernels) log(i int, at float64) float64 {
	switch k.d.kind {
	case choice:
		return math.Log(k.share(i, int(at)))
	case whole:
		if k.spread[i] > 1e3 { // the mass is the density, but the difference below would be rounded
			break
		}
		below := func(x float64) float64 { return distuv.UnitNormal.CDF((x - k.mean[i]) / k.spread[i]) }
		return math.Log(max(below(at+.5)-below(at-.5), math.SmallestNonzeroFloat64) / k.mass[i])
	}
	return distuv.UnitNormal.LogProb((at-k.mean[i])/k.spread[i]) - math.Log(k.spread[i]*k.mass[i])
}

// share returns the probability of a string in a kernel. All kernels together have one pseudo-observation, which is
// spread evenly over the strings.
func (k kernels) share(i, word int) float64 {
	words, each := float64(len(k.d.words)), 1/float64(len(k.observed))
	switch {
	case math.IsNaN(k.observed[i]):
		return 1 / words
	case int(k.observed[i]) == word:
		return (1 + each) / (1 + words*each)
	}
	return each / (1 + words*each)
}
