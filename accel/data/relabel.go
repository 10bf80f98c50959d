package data

import (
	"fmt"
	"slices"
)

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
