package data

import (
	"errors"
	"fmt"
	"slices"
	"sort"
)

// Concat returns a data set with the examples of several, one data set after the other, like PyTorch's
// ConcatDataset. They must have examples of one shape, and classes, columns and targets of the same names in the same
// order; see [Dataset.Like]. Sequences need the same padding, and are padded to the longest of all. The transforms
// of each stay with its examples, so [Dataset.Example] of the result applies them too.
func Concat(first *Dataset, more ...*Dataset) (*Dataset, error) {
	c := &chained{}
	var t Dataset
	for k, s := range append([]*Dataset{first}, more...) {
		switch {
		case s == nil:
			return nil, fmt.Errorf("data: Concat: data set %d is nil: check the error returned where it was created", k)
		case s.resident != nil:
			return nil, fmt.Errorf("data: Concat: %s is on the device: call OnDevice for the result", s.name)
		case k == 0:
			t = *s
		case s.cutsPadding() && first.cutsPadding(): // to the longest one
		case !slices.Equal(s.Shape(), first.Shape()):
			return nil, fmt.Errorf("data: Concat: the examples of %s have shape %v, but those of %s have %v", s.name, s.Shape(), first.name, first.Shape())
		case s.SequenceLength() != first.SequenceLength() || positionsOf(s.source) != positionsOf(first.source):
			return nil, fmt.Errorf("data: Concat: the sequences of %s and %s are padded to different lengths", s.name, first.name)
		}
		padding, pads := paddingIn(s.source)
		if k == 0 {
			c.padding, c.pads = padding, pads
		}
		switch {
		case pads && c.pads && padding != c.padding:
			return nil, fmt.Errorf("data: Concat: the sequences of data set %d (%s) are padded with %d, but those of data set 0 with %d: make them with the same padding", k, s.name, padding, c.padding)
		case s.source.form().packed != first.source.form().packed:
			return nil, fmt.Errorf("data: Concat: only one of %s and %s has packed sequences: join them before PackSequences", first.name, s.name)
		case s.Unlabeled() != first.Unlabeled():
			return nil, fmt.Errorf("data: Concat: only one of %s and %s has labels: add labels with WithLabels", first.name, s.name)
		}
		if err := t.Schema().Check(s); err != nil {
			var differs *MismatchError
			if errors.As(err, &differs) {
				differs.concat = true
			}
			return nil, err
		}
		if len(s.classes) > len(t.classes) {
			t.classes = s.classes
		}
		if t.columns == nil {
			t.columns = s.columns
		}
		if t.targetNames == nil {
			t.targetNames = s.targetNames
		}
		c.longest = max(c.longest, positionsOf(s.source))
		c.parts, c.ends = append(c.parts, *s), append(c.ends, c.len()+s.Len())
	}
	t.source, t.index, t.transforms, t.shape = c, nil, nil, first.Shape()
	if first.cutsPadding() {
		t.shape = []int{c.longest}
	}
	return &t, nil
}

// chained is a source of the examples of several data sets.
type chained struct {
	parts []Dataset
	ends  []int // for each part, the number of examples up to its end

	longest int  // positions to which sequences are padded; 0 for other examples
	padding int  // the token after them,
	pads    bool // if there is one
}

func (c *chained) len() int {
	if len(c.ends) == 0 {
		return 0
	}
	return c.ends[len(c.ends)-1]
}

func (c *chained) form() form {
	f := c.parts[0].source.form()
	for i := range c.parts {
		f.ignores = f.ignores || c.parts[i].Ignores()
		f.sequence = max(f.sequence, c.parts[i].SequenceLength())
	}
	return f
}

// part returns the data set of example i, and its number there.
func (c *chained) part(i int) (k, at int) {
	k = sort.SearchInts(c.ends, i+1)
	return k, i - c.ends[k] + c.parts[k].Len()
}

func (c *chained) read(i int, v values) error {
	k, at := c.part(i)
	s := &c.parts[k]
	if n := positionsOf(s.source); n < c.longest {
		if v.x != nil {
			fill(v.x[n:], float32(c.padding))
			v.x = v.x[:n]
		}
		if s.SequenceLength() > 0 && len(v.labels) > n {
			fill(v.labels[n:], Ignored)
			v.labels = v.labels[:n]
		}
	}
	if v.x == nil {
		return s.source.read(s.at(at), v) // only the labels
	}
	return s.readTransformed(at, v, v.loader.other(k))
}

func fill[T any](all []T, with T) {
	for i := range all {
		all[i] = with
	}
}

// paddingIn returns the token after the sequences of a source; ok is false for other examples.
func paddingIn(s source) (token int, ok bool) {
	switch s := s.(type) {
	case *sequences:
		return s.padding, true
	case *packed:
		return s.from.padding, true
	case *chained:
		return s.padding, s.pads
	case selection:
		return paddingIn(s.source)
	case *joined:
		if s.text != nil {
			return paddingIn(s.text.source)
		}
	case interface{ wrapped() *Dataset }:
		return paddingIn(s.wrapped().source)
	}
	return 0, false
}

func (c *chained) path(i int) string {
	k, at := c.part(i)
	return c.parts[k].Path(at)
}

func (c *chained) length(i int) int {
	k, at := c.part(i)
	return c.parts[k].Length(at)
}

func (c *chained) positions() int { return c.longest }

func (c *chained) inMemory() bool {
	return !slices.ContainsFunc(c.parts, func(s Dataset) bool { return !s.InMemory() })
}
