package data

import (
	"fmt"
	"slices"
	"sort"
)

// Concat returns a data set with the examples of several, one data set after the other, like PyTorch's
// ConcatDataset. They must have examples of one shape, and classes, columns and targets of the same names in the same
// order; see [Dataset.Like]. The transforms of each stay with its examples, so [Dataset.Example] of the result
// applies them too.
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
		case !slices.Equal(s.Shape(), first.Shape()):
			return nil, fmt.Errorf("data: Concat: the examples of %s have shape %v, but those of %s have %v", s.name, s.Shape(), first.name, first.Shape())
		case s.SequenceLength() != first.SequenceLength() || positionsOf(s.source) != positionsOf(first.source):
			return nil, fmt.Errorf("data: Concat: the sequences of %s and %s are padded to different lengths", s.name, first.name)
		case s.source.form().packed != first.source.form().packed:
			return nil, fmt.Errorf("data: Concat: only one of %s and %s has packed sequences: join them before PackSequences", first.name, s.name)
		case s.Unlabeled() != first.Unlabeled():
			return nil, fmt.Errorf("data: Concat: only one of %s and %s has labels: add labels with WithLabels", first.name, s.name)
		}
		if err := t.Schema().Check(s); err != nil {
			return nil, fmt.Errorf("data: Concat: %w", err)
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
		c.parts, c.ends = append(c.parts, *s), append(c.ends, c.len()+s.Len())
	}
	t.source, t.index, t.transforms, t.shape = c, nil, nil, first.Shape()
	return &t, nil
}

// chained is a source of the examples of several data sets.
type chained struct {
	parts []Dataset
	ends  []int // for each part, the number of examples up to its end
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
	if s := &c.parts[k]; v.x == nil {
		return s.source.read(s.at(at), v) // only the labels
	}
	return c.parts[k].readTransformed(at, v, v.loader.other(k))
}

func (c *chained) path(i int) string {
	k, at := c.part(i)
	return c.parts[k].Path(at)
}

func (c *chained) length(i int) int {
	k, at := c.part(i)
	return c.parts[k].Length(at)
}

func (c *chained) positions() int { return positionsOf(c.parts[0].source) }

func (c *chained) inMemory() bool {
	return !slices.ContainsFunc(c.parts, func(s Dataset) bool { return !s.InMemory() })
}
