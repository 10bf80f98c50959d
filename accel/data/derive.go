package data

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
)

// Derive returns a data set whose examples and targets are computed from those of s when they are put into a batch,
// by the workers: inputs and targets are the numbers of values of each. It is for models that learn from the
// examples themselves, such as one that removes noise:
//
//	noisy, err := images.Derive("noisy", 64, 64, func(input, target []float32, e data.Example, random *rand.Rand) {
//		copy(target, e.X)
//		for i, v := range e.X {
//			input[i] = v + 0.1*float32(random.NormFloat64())
//		}
//	})
//
// The function gets the example after the transforms of [Dataset.Map], with its class, 0 if that is unknown, or its
// targets, and writes to input and target, which begin with zeros. Several goroutines call it at once; it must draw
// random numbers only from random. These depend on the seed and the epoch of the batches ([Shuffle], [Epoch])
// and on the example, so they differ in each epoch, do not depend on the number of workers, and are the same
// in a training that is resumed. [Dataset.Example] and [Dataset.Target] draw the same numbers each time.
//
// The shape of the examples is [inputs] until [Dataset.Reshape] sets another one. Sequences are rejected.
func (s *Dataset) Derive(name string, inputs, targets int, derive func(input, target []float32, e Example, random *rand.Rand)) (*Dataset, error) {
	switch {
	case derive == nil:
		return nil, errors.New("data: Derive: the function is nil")
	case inputs < 1 || targets < 1 || inputs > maxDerived || targets > maxDerived:
		return nil, fmt.Errorf("data: Derive of %s: %d inputs and %d targets must both be from 1 to %d", s.name, inputs, targets, maxDerived)
	case s.SequenceLength() > 0 || positionsOf(s.source) > 0:
		return nil, fmt.Errorf("data: Derive of %s: its examples are sequences: make a data set of other examples with FromSource", s.name)
	case s.resident != nil:
		return nil, fmt.Errorf("data: Derive: the examples of %s are on the device: call Derive without OnDevice", s.name)
	}
	d := &derived{set: *s, inputs: inputs, targets: targets, derive: derive}
	d.width, _ = volume(s.Shape())
	return &Dataset{name: s.name + ", " + name, shape: []int{inputs}, source: d}, nil
}

// maxDerived limits an example, whose values are 1 GiB then: a larger one is a mistake that would end the process.
const maxDerived = 1 << 28

// derived is a source of examples that are computed from those of a data set.
type derived struct {
	set             Dataset
	width           int // values of an example of set
	inputs, targets int
	derive          func(input, target []float32, e Example, random *rand.Rand)
}

func (d *derived) len() int          { return d.set.Len() }
func (d *derived) form() form        { return form{targets: d.targets} }
func (d *derived) path(i int) string { return d.set.Path(i) }
func (d *derived) inMemory() bool    { return d.set.InMemory() }
func (*derived) drawsRandom() bool   { return true }

func (d *derived) read(i int, v values) error {
	if v.x == nil && v.targets == nil {
		return nil
	}
	own := v.loader.other(1)
	form := d.set.source.form()
	from := values{x: make([]float32, d.width), labels: make([]int, form.labels()), targets: make([]float32, form.targets)}
	if err := d.set.readTransformed(i, from, own.other(1)); err != nil {
		return err
	}
	e := Example{X: from.x, Targets: from.targets}
	if len(from.labels) > 0 {
		e.Class = from.labels[0]
	}
	input, target := make([]float32, d.inputs), make([]float32, d.targets)
	d.derive(input, target, e, own.randomFor(i))
	copy(v.x, input)
	copy(v.targets, target)
	return nil
}

// other returns a loader with other random numbers for each n above 0, and with equal ones for 0.
func (l *loader) other(n int) *loader {
	o := loader{}
	if l != nil {
		o = *l
	}
	for range n {
		o.seed = o.seed*6364136223846793005 + 1442695040888963407 // a linear congruential generator
	}
	return &o
}

// randomized is a source whose examples may depend on the random numbers of an epoch.
type randomized interface{ drawsRandom() bool }

// drawsRandom reports whether the examples of a source, before the transforms, depend on random numbers.
func drawsRandom(s source) bool {
	r, ok := s.(randomized)
	return ok && r.drawsRandom()
}

func (v *view) drawsRandom() bool { return drawsRandom(v.set.source) }

func (c *chained) drawsRandom() bool {
	return slices.ContainsFunc(c.parts, func(s Dataset) bool {
		return drawsRandom(s.source) || slices.ContainsFunc(s.transforms, func(t Transform) bool { return t.random })
	})
}

// WithLabels returns the data set with other labels, one for each example, for instance after a
// person has labeled it. The labels are indices of its classes. The examples must have one
// class each.
func (s *Dataset) WithLabels(labels []int) (*Dataset, error) {
	if err := s.oneClassEach("WithLabels"); err != nil {
		return nil, err
	}
	if len(labels) != s.Len() {
		return nil, fmt.Errorf("data: %d labels for the %d examples of %s", len(labels), s.Len(), s.name)
	}
	for i, c := range labels {
		if c < 0 || c >= len(s.classes) {
			return nil, fmt.Errorf("data: label %d of example %d: the classes of %s are 0 to %d", c, i, s.name, len(s.classes)-1)
		}
	}
	t := *s
	t.source, t.index = &relabeled{view{*s}, slices.Clone(labels)}, nil
	return &t, nil
}

// WithTargetValues returns the data set with other targets, a vector for each example, for instance
// after a person has measured them. They have the length of its targets. The examples must have
// targets.
func (s *Dataset) WithTargetValues(targets [][]float32) (*Dataset, error) {
	if s.Targets() == 0 {
		return nil, fmt.Errorf("data: WithTargetValues: the examples of %s have no targets", s.name)
	}
	if len(targets) != s.Len() {
		return nil, fmt.Errorf("data: %d vectors of targets for the %d examples of %s", len(targets), s.Len(), s.name)
	}
	given := make([][]float32, len(targets))
	for i, v := range targets {
		if len(v) != s.Targets() {
			return nil, fmt.Errorf("data: example %d has %d targets, but the examples of %s have %d", i, len(v), s.name, s.Targets())
		}
		given[i] = slices.Clone(v)
	}
	t := *s
	t.source, t.index = &retargeted{view{*s}, given}, nil
	return &t, nil
}

// retargeted is a data set with other targets.
type retargeted struct {
	view
	given [][]float32
}

func (r *retargeted) read(i int, v values) error {
	copy(v.targets, r.given[i])
	if v.targets = nil; v.x == nil {
		return nil
	}
	return r.view.read(i, v)
}

// Append returns the data set with additional examples at the end, in the format of
// [Dataset.Example], with a class index for each. The transforms of [Dataset.Map] also apply to
// them. The examples must have one class each.
func (s *Dataset) Append(examples [][]float32, labels []int) (*Dataset, error) {
	if err := s.oneClassEach("Append"); err != nil {
		return nil, err
	}
	if positionsOf(s.source) > 0 {
		return nil, fmt.Errorf("data: Append to %s: the lengths of the sequences are unknown: make a data set of all with Sequences", s.name)
	}
	if len(examples) != len(labels) {
		return nil, fmt.Errorf("data: %d examples, but %d labels", len(examples), len(labels))
	}
	more := &floats{width: s.size(), labels: slices.Clone(labels)}
	for i, x := range examples {
		if len(x) != more.width {
			return nil, fmt.Errorf("data: example %d has %d values, but examples of %s have %d", i, len(x), s.name, more.width)
		}
		if c := labels[i]; c < 0 || c >= len(s.classes) {
			return nil, fmt.Errorf("data: label %d of example %d: the classes of %s are 0 to %d", c, i, s.name, len(s.classes)-1)
		}
		more.data = append(more.data, x...)
	}
	t := *s
	t.source, t.index = &extended{view{*s}, more}, nil
	return &t, nil
}

// oneClassEach returns an error if the examples do not have one class each, known or not.
func (s *Dataset) oneClassEach(name string) error {
	if s.Targets() > 0 || s.SequenceLength() > 0 {
		return fmt.Errorf("data: %s: the examples of %s do not have one class each", name, s.name)
	}
	return nil
}

// relabeled is a data set with other labels.
type relabeled struct {
	view
	given []int
}

func (r *relabeled) form() form { return form{} }

func (r *relabeled) read(i int, v values) error {
	if v.labels != nil {
		v.labels[0], v.labels = r.given[i], nil
	}
	if v.x == nil {
		return nil
	}
	return r.view.read(i, v)
}

// extended is a data set followed by additional examples.
type extended struct {
	view
	more *floats
}

func (e *extended) len() int { return e.view.len() + e.more.len() }

func (e *extended) read(i int, v values) error {
	if n := e.view.len(); i >= n {
		return e.more.read(i-n, v)
	}
	return e.view.read(i, v)
}

func (e *extended) path(i int) string {
	if i >= e.view.len() {
		return ""
	}
	return e.view.path(i)
}
