package main

import (
	"fmt"
	"slices"
)

// allowed is how much longer a step may take than in the previous run: 10 %, the variation
// between runs of the same program.
const allowed = 1.10

// regression is a step of Quern that has become slower.
type regression struct {
	bench, runner string
	before, now   float64 // seconds
	// machine is how much slower the machine itself was this time, measured by its peak: 1
	// means equal, 1.2 a fifth slower.
	machine float64
}

func (r regression) factor() float64 { return r.now / r.before }

func (r regression) String() string {
	return fmt.Sprintf("%s on %s: %s, was %s (%.2f times; the machine itself %.2f times)",
		r.bench, r.runner, duration(r.now), duration(r.before), r.factor(), r.machine)
}

// compare finds what has become slower. Only times of Quern count. A slower machine is taken
// into account by its peak; a faster one does not lower the limit. Figures that only one of the
// runs has are not compared.
func compare(before, now result) []regression {
	var worse []regression
	for _, bench := range sortedKeys(now.Figures) {
		f, old := now.Figures[bench], before.Figures[bench]
		for _, runner := range sortedKeys(f.Times) {
			last, ok := old.Times[runner]
			if !ok || !isQuern(runner) {
				continue
			}
			r := regression{bench: bench, runner: runner, before: last.Median, now: f.Times[runner].Median, machine: 1}
			if a, b := old.Peak[runner], f.Peak[runner]; a > 0 && b > 0 {
				r.machine = max(1, a/b)
			}
			if !(r.factor() <= allowed*r.machine) { // also if it is NaN
				worse = append(worse, r)
			}
		}
	}
	return worse
}

// benchesOf returns the benchmarks of regressions, each once.
func benchesOf(worse []regression) []string {
	var names []string
	for _, r := range worse {
		if !slices.Contains(names, r.bench) {
			names = append(names, r.bench)
		}
	}
	return names
}

// keepFaster replaces times of a result by shorter ones of another result, together with the
// corresponding peak.
func keepFaster(to, again result) {
	for bench, f := range again.Figures {
		for runner, t := range f.Times {
			if t.Median < to.Figures[bench].Times[runner].Median {
				to.Figures[bench].Times[runner] = t
				to.Figures[bench].Peak[runner] = f.Peak[runner]
			}
		}
	}
}
