package tune

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
)

// TPE selects settings with the tree-structured Parzen estimator. It estimates one density from the
// settings of the best 15 % of the trials, at most 25, and one from those of the others, draws
// candidates from the first, and takes the candidate with the highest ratio of the two densities.
// The first ten trials are random.
//
// The densities are joint ones: settings that all trials have requested are selected together, so
// that the search finds values that are good together. A setting that only some trials have
// requested, or whose range has changed, is selected given those that the trial already has.
//
// Sources: Bergstra, Bardenet, Bengio and Kégl, Algorithms for Hyper-Parameter Optimization, 2011,
// section 4; Bergstra, Yamins and Cox, Making a Science of Model Search, 2013, for the weights of
// older trials; Falkner, Klein and Hutter, BOHB, 2018, for joint densities; Watanabe,
// Tree-Structured Parzen Estimator: Understanding Its Algorithm Components, 2023, which compares
// the variants. [GP] finds better settings with up to 200 trials, but needs more time for each.
func TPE() Option {
	return Option{method(func() sampler { return &tpe{} }, "TPE")}
}

const (
	startTrials     = 10  // random trials at the beginning
	jointCandidates = 48  // drawn for all settings together
	candidates      = 12  // drawn for a single setting; with more of them, the lowest density of the others decides
	bestShare       = .15 // of the trials count as the best
	maxBest         = 25  // maximum number of them
	recent          = 25  // trials with full weight
)

// tpe is the sampler of TPE.
type tpe struct {
	ended   []*Trial // before the current one, best first
	pending []*Trial // that run at the same time
	plan    plan
}

func (p *tpe) settings() []Setting { return p.plan.settings() }

// plan holds the coordinates of settings that are selected before a trial requests them.
type plan map[string]planned

type planned struct {
	d  dimension
	at float64
}

// sample returns the coordinate of a setting; ok is false if there is none in this range.
func (p plan) sample(name string, d dimension) (at float64, ok bool) {
	q, ok := p[name]
	return q.at, ok && q.d.equal(d)
}

// named is a setting with its dimension.
type named struct {
	name string
	d    dimension
}

// settings returns the values of the plan, in the order of their names.
func (p plan) settings() (all []Setting) {
	for _, name := range slices.Sorted(maps.Keys(p)) {
		all = append(all, Setting{name, p[name].d.value(p[name].at)})
	}
	return all
}

// common returns the settings that all finished trials have, with the ranges of the last requests, in the order of their
// names. Those with a single value are not among them.
func common(s *Search, ended []*Trial) (all []named) {
	for name, d := range s.space {
		lacks := func(u *Trial) bool {
			_, ok := d.coordinate(u.Get(name))
			return !ok && u.State == Finished
		}
		if d.low < d.high && !slices.ContainsFunc(ended, lacks) {
			all = append(all, named{name, d})
		}
	}
	slices.SortFunc(all, func(a, b named) int { return strings.Compare(a.name, b.name) })
	return all
}

func (p *tpe) begin(s *Search, t *Trial) bool {
	p.ended, p.pending, p.plan = earlier(s, t), pending(s, t), plan{}
	space := common(s, p.ended)
	for i, at := range p.choose(t.random, space, nil, jointCandidates) {
		p.plan[space[i].name] = planned{space[i].d, at}
	}
	return true
}

func (p *tpe) sample(t *Trial, name string, d dimension) float64 {
	if at, ok := p.plan.sample(name, d); ok {
		return at
	}
	var space []named
	var known []float64
	for _, s := range t.Settings {
		e := t.ranges[s.Name]
		at, _ := e.coordinate(s.Value)
		space, known = append(space, named{s.Name, e}), append(known, at)
	}
	if at := p.choose(t.random, append(space, named{name, d}), known, candidates); at != nil && d.low < d.high {
		return at[0]
	}
	return uniform(t.random, d)
}

// choose returns coordinates of the settings behind those with known coordinates, or nil if there are too few trials
// with values in their ranges.
func (p *tpe) choose(r *rand.Rand, space []named, known []float64, candidates int) (chosen []float64) {
	with := func(trials []*Trial) (with []*Trial) {
		for _, u := range trials {
			if !slices.ContainsFunc(space[len(known):], func(n named) bool { return math.IsNaN(n.of(u)) }) {
				with = append(with, u)
			}
		}
		return with
	}
	seen := with(p.ended)
	if len(seen) < startTrials || len(space) == 0 {
		return nil
	}
	best := min(int(math.Ceil(bestShare*float64(len(seen)))), maxBest)
	others := slices.Concat(seen[best:], with(p.pending)) // so that trials that run at the same time are not alike
	good, other := newDensity(space, seen[:best]).given(known), newDensity(space, others).given(known)
	highest := math.Inf(-1)
	for range candidates {
		at := good.draw(r)
		if ratio := good.log(at) - other.log(at); ratio > highest {
			chosen, highest = at, ratio
		}
	}
	return chosen
}

// of returns the coordinate of a setting in a trial, NaN if it is missing or outside of its range.
func (n named) of(u *Trial) float64 {
	at, ok := n.d.coordinate(u.Get(n.name))
	if low, high := n.d.ends(); !ok || at < low || at > high {
		return math.NaN()
	}
	return at
}

// density is the joint density of settings: a mixture of products of kernels. Each trial has a kernel for each setting;
// the last ones are the prior.
type density struct {
	kernels []kernels // of each setting
	weights []float64 // logarithms, which add up to 1; of each trial and the prior
}

func newDensity(space []named, trials []*Trial) density {
	var d density
	for _, n := range space {
		seen := make([]float64, len(trials))
		for i, u := range trials {
			seen[i] = n.of(u)
		}
		d.kernels = append(d.kernels, newKernels(n.d, seen))
	}
	for _, w := range append(weights(trials), 1) {
		d.weights = append(d.weights, math.Log(w))
	}
	d.normalize()
	return d
}

func (d density) normalize() { floats.AddConst(-floats.LogSumExp(d.weights), d.weights) }

// given returns the conditional density of the settings behind the first ones, whose coordinates are known.
func (d density) given(known []float64) density {
	d = density{d.kernels[len(known):], d.products(d.kernels, known)}
	d.normalize()
	return d
}

// products returns the logarithms of the weighted products of the kernels at coordinates.
func (d density) products(settings []kernels, at []float64) []float64 {
	logs := slices.Clone(d.weights)
	for j, v := range at {
		for i := range logs {
			logs[i] += settings[j].log(i, v)
		}
	}
	return logs
}

// log returns the logarithm of the density.
func (d density) log(at []float64) float64 { return floats.LogSumExp(d.products(d.kernels, at)) }

// draw returns random coordinates.
func (d density) draw(r *rand.Rand) (at []float64) {
	p := make([]float64, len(d.weights))
	for i, w := range d.weights {
		p[i] = math.Exp(w)
	}
	i := drawIndex(r, p)
	for _, k := range d.kernels {
		at = append(at, k.draw(r, i))
	}
	return at
}

// weights returns the weights of trials by their age: full for the newest, decreasing for older ones.
func weights(trials []*Trial) []float64 {
	w := make([]float64, len(trials))
	byAge := make([]int, len(trials))
	for i := range byAge {
		byAge[i] = i
	}
	slices.SortFunc(byAge, func(a, b int) int { return trials[b].Number - trials[a].Number })
	old := len(trials) - recent
	for age, i := range byAge {
		w[i] = 1
		if age >= recent && old > 1 {
			first := 1 / float64(len(trials))
			w[i] = 1 - (1-first)*float64(age-recent+1)/float64(old)
		}
	}
	return w
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
