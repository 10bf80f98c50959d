package active

import (
	"fmt"
	"math"
	"slices"

	"github.com/quernlab/quern/accel/data"
)

// LabelTargets is [Pool.Label] for data sets with targets, for regression or for several labels that
// are each 0 or 1: it stores a vector of targets for each example, or without that argument those
// of the data set. Its errors are those of Label; a target that is NaN or infinite is a
// [*LabelError].
func (p *Pool) LabelTargets(pick []int, targets ...[]float32) error {
	if err := p.Err(); err != nil {
		return err
	}
	if p.targets == nil {
		return fmt.Errorf("active: LabelTargets: the examples of %s have classes: use Label", p.set.Name())
	}
	labels := make([]int, len(pick))
	if err := p.check(pick, labels, false); err != nil {
		return err
	}
	if targets == nil {
		targets = make([][]float32, len(pick))
		for k, i := range pick {
			targets[k] = p.set.Target(i)
		}
	}
	if len(targets) != len(pick) {
		return fmt.Errorf("active: LabelTargets: %d vectors of targets for %d examples", len(targets), len(pick))
	}
	for k, v := range targets {
		if len(v) != p.set.Targets() {
			return &LabelError{Example: pick[k], Problem: fmt.Sprintf("%d targets were given, but examples have %d", len(v), p.set.Targets())}
		}
		for _, f := range v {
			if math.IsNaN(float64(f)) || math.IsInf(float64(f), 0) {
				return &LabelError{Example: pick[k], Problem: fmt.Sprintf("the target %g is not finite", f)}
			}
		}
	}
	return p.store(pick, labels, targets)
}

// KnownTargets returns the targets of example i; ok is false if they are unknown, or if the data set
// has classes.
func (p *Pool) KnownTargets(i int) (targets []float32, ok bool) {
	if p.Err() != nil || i < 0 || i >= len(p.targets) || p.targets[i] == nil {
		return nil, false
	}
	return slices.Clone(p.targets[i]), true
}

// labeledTargets is Labeled for a data set with targets.
func (p *Pool) labeledTargets() *data.Dataset {
	targets := make([][]float32, len(p.order))
	for k, i := range p.order {
		targets[k] = p.targets[i]
	}
	// Neither fails: the pool has checked all indices and targets.
	some, _ := p.set.Subset(p.order)
	given, _ := some.WithTargetValues(targets)
	return given.Named(p.set.Name() + ", labeled")
}
