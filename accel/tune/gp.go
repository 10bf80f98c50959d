package tune

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"
)

// GP selects settings by Bayesian optimization with a Gaussian process, which needs fewer trials than [TPE] where the
// value changes smoothly with the settings. The first ten trials are random. Then each trial has the settings with the
// highest expected improvement over the best trial, by a model of all trials before it (Jones, Schonlau and Welch,
// Efficient Global Optimization, 1998; the logarithm of the improvement as in Ament and others, Unexpected Improvements
// to Expected Improvement, 2023). The kernel is Matérn 5/2 with a length scale for each setting; the length scales and
// the noise maximize the marginal likelihood.
//
// The model sees a LogFloat on its logarithmic scale, rounds an Int as the trial does, and sees a choice as a one-hot
// vector. A trial that Halving stopped, that diverged or that ran out of memory counts as much as the worst finished
// trial. Values that are farther above the median than the best one is below it are clipped, so that settings with
// enormous losses do not hide the differences of good ones.
//
// The model has the settings that all finished trials have requested. Settings that only some trials have requested, or
// whose range has changed since the last request, are selected as by [TPE]; so are all settings while all trials have
// the same value, and after 200 trials, because the time for a model grows with the cube of their number. A note of the
// search says so then.
func GP() Option {
	return Option{method(func() sampler { return &gp{} }, "GP")}
}

const maxModeled = 200 // trials that are selected by a Gaussian process

// gp is the sampler of GP.
type gp struct {
	tpe  // for what is not modeled
	plan plan
}

func (g *gp) settings() []Setting {
	if g.plan == nil {
		return g.tpe.settings()
	}
	return g.plan.settings()
}

func (g *gp) begin(s *Search, t *Trial) bool {
	g.tpe.begin(s, t)
	g.plan = nil
	if t.Number > maxModeled {
		s.noteOnce("GP selected the first %d trials; the others were selected as by TPE", maxModeled)
		return true
	}
	if t.Number > startTrials {
		g.plan = newModel(s, g.ended).plan(t.random, g.pending)
	}
	return true
}

func (g *gp) sample(t *Trial, name string, d dimension) float64 {
	if at, ok := g.plan.sample(name, d); ok {
		return at
	}
	return g.tpe.sample(t, name, d)
}

// model is a Gaussian process of the values of trials, whose points have the coordinates of the settings, from 0 to 1 within
// the range; those of choices are the indexes of the strings.
type model struct {
	process
	space    []named
	finished [][]float64 // points of finished trials, best first
}

// newModel returns a model of trials, the best first. Low values are good ones.
func newModel(s *Search, ended []*Trial) *model {
	m := &model{space: common(s, ended)}
	for _, n := range m.space {
		m.choices = append(m.choices, n.d.kind == choice)
	}
	worst, sign := math.NaN(), 1.
	if s.Maximized {
		sign = -1
	}
	for _, u := range ended { // finished ones come first
		x, ok := m.point(u)
		if u.State == Finished {
			worst = sign * u.Value
			m.finished = append(m.finished, x)
		}
		if ok && finite(worst) {
			m.x, m.y = append(m.x, x), append(m.y, worst)
		}
	}
	return m
}

// point returns the point of a trial; ok is false if it lacks a setting.
func (m *model) point(u *Trial) (x []float64, ok bool) {
	for _, n := range m.space {
		at, ok := n.d.coordinate(u.Get(n.name))
		if !ok {
			return nil, false
		}
		x = append(x, n.unit(at))
	}
	return x, true
}

// unit scales a coordinate to the unit interval.
func (n named) unit(at float64) float64 {
	if n.d.kind == choice {
		return at
	}
	low, high := n.d.ends()
	return (at - low) / (high - low)
}

// fromUnit returns the coordinate that is closest to one of the unit interval.
func (n named) fromUnit(at float64) float64 {
	low, high := n.d.ends()
	switch n.d.kind {
	case choice:
		return at
	case whole:
		return n.d.round(low + at*(high-low))
	}
	return low + min(max(at, 0), 1)*(high-low)
}

// plan returns the settings with the highest expected improvement, or nil if the trials do not determine a model.
// Trials that run at the same time count as if their values were the mean of all, so that their settings are not selected again
// (Ginsbourger, Le Riche and Carraro, Kriging Is Well-Suited to Parallelize Optimization, 2010).
func (m *model) plan(r *rand.Rand, pending []*Trial) plan {
	if len(m.space) == 0 || len(m.finished) == 0 || !m.clip() {
		return nil
	}
	mean := floats.Sum(m.y) / float64(len(m.y))
	for _, u := range pending {
		if x, ok := m.point(u); ok {
			m.x, m.y = append(m.x, x), append(m.y, mean)
		}
	}
	if !m.fit() {
		return nil
	}
	p := plan{}
	for j, at := range m.search(r) {
		n := m.space[j]
		p[n.name] = planned{n.d, n.fromUnit(at)}
	}
	return p
}

// The search for the highest expected improvement: the best of random points and the best trials have children at
// random distances, whose scale decreases from round to round.
const (
	scattered  = 512 // random points at the beginning
	parents    = 8   // in each round
	children   = 8   // of each
	rounds     = 16
	firstScale = .2
	shrinks    = .7
)

// candidate is a point with the logarithm of its expected improvement.
type candidate struct {
	x    []float64
	gain float64
}

// search returns the point with the highest expected improvement over the best finished trial. That is the one with the lowest
// mean of the process, because its value may owe much to noise.
func (m *model) search(r *rand.Rand) []float64 {
	means, _ := m.predict(m.finished)
	best := slices.Min(means)
	pool := make([][]float64, scattered)
	for i := range pool {
		pool[i] = m.scatter(r)
	}
	top := fittest(m.rate(pool, best))
	top = append(top, m.rate(m.finished[:min(len(m.finished), parents/2)], best)...)
	for scale := firstScale; scale > firstScale*math.Pow(shrinks, rounds); scale *= shrinks {
		pool = pool[:0]
		for _, c := range top {
			for range children {
				pool = append(pool, m.child(r, c.x, scale))
			}
		}
		top = fittest(append(top, m.rate(pool, best)...))
	}
	return top[0].x
}

// rate returns points with their expected improvement over best.
func (m *model) rate(points [][]float64, best float64) []candidate {
	means, deviations := m.predict(points)
	all := make([]candidate, len(points))
	for i, x := range points {
		all[i] = candidate{x, logImprovement(means[i], deviations[i], best)}
	}
	return all
}

// fittest returns the best candidates, at most as many as there are parents.
func fittest(all []candidate) []candidate {
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.gain, a.gain) })
	return all[:min(len(all), parents)]
}

// scatter returns a random point.
func (m *model) scatter(r *rand.Rand) []float64 {
	x := make([]float64, len(m.space))
	for j, n := range m.space {
		x[j] = n.unit(uniform(r, n.d))
	}
	return x
}

// child returns a point near another one: it changes each setting with probability ½, and at least one.
func (m *model) child(r *rand.Rand, parent []float64, scale float64) []float64 {
	x, always := slices.Clone(parent), r.IntN(len(parent))
	for j, n := range m.space {
		switch {
		case j != always && r.IntN(2) == 0:
		case n.d.kind == choice:
			x[j] = uniform(r, n.d)
		case n.d.kind == whole: // far enough for the next integer
			x[j] = n.unit(n.fromUnit(x[j] + max(scale, 1/(n.d.high-n.d.low))*r.NormFloat64()))
		default:
			x[j] = min(max(x[j]+scale*r.NormFloat64(), 0), 1)
		}
	}
	return x
}

// clip limits values that are farther above the median than the best one is below it: a value that is a thousand times too
// high says no more than that its settings are bad, but the process would explain it at the expense of the others. It
// returns false if all values are the same.
func (m *model) clip() bool {
	sorted := slices.Sorted(slices.Values(m.y))
	low, median := sorted[0], sorted[len(sorted)/2]
	limit := sorted[len(sorted)-1]
	if median > low {
		limit = min(limit, median+(median-low))
	}
	if limit == low || !finite(limit-low) {
		return false
	}
	for i, y := range m.y {
		m.y[i] = min(y-low, limit-low) / (limit - low)
	}
	return true
}

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
