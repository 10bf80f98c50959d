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

// Append returns the data set with additional examples at the end, in the format of
// [Dataset.Example], with a class index for each. The transforms of [Dataset.Map] also apply to
// them. The examples must have one class each.
func (s *Dataset) Append(examples [][]float32, labels []int) (*Dataset, error) {
	if err := s.oneClassEach("Append"); err != nil {
		return nil, err
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

func (s *Dataset) oneClassEach(name string) error {
	if s.Targets() > 0 || s.SequenceLength() > 0 {
		return fmt.Errorf("data: %s: the examples of %s do not have one class each", name, s.name)
	}
	return nil
}

// view is a data set as a source, without its transforms.
type view struct{ set Dataset }

func (v *view) len() int                           { return v.set.Len() }
func (v *view) example(i int, dst []float32) error { return v.set.source.example(v.set.at(i), dst) }
func (v *view) label(i int) int                    { return v.set.source.label(v.set.at(i)) }
func (v *view) target(int, []float32)              {}
func (v *view) targets() int                       { return 0 }

// relabeled is a data set with other labels.
type relabeled struct {
	view
	given []int
}

func (r *relabeled) label(i int) int { return r.given[i] }

// extended is a data set followed by additional examples.
type extended struct {
	view
	more *floats
}

func (e *extended) len() int { return e.view.len() + e.more.len() }

func (e *extended) example(i int, dst []float32) error {
	if n := e.view.len(); i >= n {
		return e.more.example(i-n, dst)
	}
	return e.view.example(i, dst)
}

func (e *extended) label(i int) int {
	if n := e.view.len(); i >= n {
		return e.more.label(i - n)
	}
	return e.view.label(i)
}
