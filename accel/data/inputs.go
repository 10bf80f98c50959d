package data

import (
	"fmt"
	"slices"
)

// Inputs returns a data set whose examples have several inputs, such as an image and a row of a
// table: example i has the values of example i of each data set, one after the other, and the
// labels of the first. Transforms that draw random numbers are not possible. Sequences of different
// lengths, which one of the data sets may have, are padded to the longest of all. A model divides its
// input again with nn.Unpack:
//
//	func (m *model) Forward(x *tensor.Tensor) *tensor.Tensor {
//		in := nn.Unpack(x, []int{1, 28, 28}, []int{5})
//		return m.head.Forward(tensor.Concat(1, m.image.Forward(in[0]), m.table.Forward(in[1])))
//	}
func Inputs(first *Dataset, more ...*Dataset) (*Dataset, error) {
	j := &joined{}
	named := true
	var columns []string
	for k, s := range append([]*Dataset{first}, more...) {
		switch {
		case s == nil:
			return nil, fmt.Errorf("data: Inputs: data set %d is nil: check the error returned where it was created", k)
		case s.Len() != first.Len():
			return nil, fmt.Errorf("data: Inputs: %s has %d examples, but %s has %d", s.name, s.Len(), first.name, first.Len())
		case s.resident != nil:
			return nil, fmt.Errorf("data: Inputs: %s is on the device: call OnDevice for the result", s.name)
		case slices.ContainsFunc(s.transforms, func(t Transform) bool { return t.random }):
			return nil, fmt.Errorf("data: Inputs: the transforms of %s draw random numbers", s.name)
		case drawsRandom(s.source):
			return nil, fmt.Errorf("data: Inputs: the examples of %s draw random numbers: call Derive for the result", s.name)
		case positionsOf(s.source) > 0 && j.text != nil:
			return nil, fmt.Errorf("data: Inputs: both %s and %s have sequences of different lengths, but a batch has one list of lengths", j.text.name, s.name)
		case positionsOf(s.source) > 0:
			j.text = s
		case s.source.form().packed && k > 0:
			return nil, fmt.Errorf("data: Inputs: the rows of %s are packed sequences, which can only be the first input", s.name)
		}
		n, _ := volume(s.Shape())
		j.parts, j.sizes, j.width = append(j.parts, *s), append(j.sizes, n), j.width+n
		named = named && len(s.columns) == n
		columns = append(columns, s.columns...)
	}
	t := *first
	t.source, t.index, t.transforms, t.shape, t.columns = j, nil, nil, []int{j.width}, nil
	if named {
		t.columns = columns
	}
	return &t, nil
}

// joined is a source of the values of several data sets and the labels of the first.
type joined struct {
	parts []Dataset
	sizes []int // values of an example of each
	width int
	text  *Dataset // the part of padded sequences; nil for none
}

func (j *joined) len() int          { return j.parts[0].Len() }
func (j *joined) form() form        { return j.parts[0].source.form() }
func (j *joined) path(i int) string { return j.parts[0].Path(i) }

func (j *joined) length(i int) int {
	if j.text == nil {
		return 0
	}
	return j.text.Length(i)
}

func (j *joined) positions() int {
	if j.text == nil {
		return 0
	}
	return positionsOf(j.text.source)
}

func (j *joined) read(i int, v values) error {
	for k := range j.parts {
		s := &j.parts[k]
		if v.x == nil {
			return s.source.read(s.at(i), v) // only the labels
		}
		part := values{x: v.x[:j.sizes[k]]}
		if k == 0 {
			part.labels, part.targets, part.positions = v.labels, v.targets, v.positions
		}
		if err := s.readTransformed(i, part, &loader{}); err != nil {
			return err
		}
		if v.x = v.x[j.sizes[k]:]; len(v.x) == 0 {
			break
		}
	}
	return nil
}
