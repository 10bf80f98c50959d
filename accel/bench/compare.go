package main

import (
	"fmt"
	"slices"
	"strings"
)

// allowed is how much longer a step may take than in the run before: the 10 %
// within which runs of the same program differ.
const allowed = 1.10

// regression is a step of this engine that has become slower.
type regression struct {
	bench, runner string
	before, now   float64 // seconds
	// machine is how much slower the machine itself was this time, by its peak:
	// 1 is the same, 1.2 a fifth slower.
	machine float64
}

func (r regression) factor() float64 { return r.now / r.before }

func (r regression) String() string {
	return fmt.Sprintf("%s on %s: %s, was %s (%.2f times; the machine itself %.2f times)",
		r.bench, r.runner, duration(r.now), duration(r.before), r.factor(), r.machine)
}

// compare finds what is slower than it was. Only this engine's times count. A
// slower machine excuses as much as its peak has fallen, a faster one asks for
// nothing more. What only one of the runs has is not compared.
func compare(before, now result) []regression {
	var worse []regression
	for _, bench := range sortedKeys(now.Figures) {
		f, old := now.Figures[bench], before.Figures[bench]
		for _, runner := range sortedKeys(f.Times) {
			last, ok := old.Times[runner]
			if !ok || !strings.HasPrefix(runner, "quern") {
				continue
			}
			r := regression{bench: bench, runner: runner, before: last.Median, now: f.Times[runner].Median, machine: 1}
			if a, b := old.Peak[runner], f.Peak[runner]; a > 0 && b > 0 {
				r.machine = max(1, a/b)
			}
			if !(r.factor() <= allowed*r.machine) { // also if it is no number
				worse = append(worse, r)
			}
		}
	}
	return worse
}

// benchesOf are the benches of regressions, each once.
func benchesOf(worse []regression) []string {
	var names []string
	for _, r := range worse {
		if !slices.Contains(names, r.bench) {
			names = append(names, r.bench)
		}
	}
	return names
}

// keepFaster replaces times of a result by those of another that are shorter,
// with the peak that belongs to them.
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
