package onnx

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/tensor"
)

// batchAxis is the default name of the first axis of an input.
const batchAxis = "batch"

// axis is an axis with a variable size.
type axis struct {
	name  string
	sizes []int // sizes in each run of a trace
}

// plan is the inputs of all runs: the named axes, and the inputs of each run. A size that
// depends on an axis differs where the axis differs, and everything else is equal.
type plan struct {
	examples []*tensor.Tensor
	axes     []axis
	of       [][]string // by input: the names of its axes, "" for fixed ones
	runs     [][]*tensor.Tensor
}

// The sizes of batch axes. None is a multiple of another, and none is 1 or 0, for which shapes
// may have a special meaning.
var exampleSizes = [3]int{2, 3, 5}

// sizesOf returns three sizes to trace an axis with. A sequence in the example may already have
// the maximum length, so the other sizes are smaller if possible.
func sizesOf(first bool, size int) [3]int {
	switch {
	case first:
		return exampleSizes
	case size > 2:
		return [3]int{size, size - 1, size - 2}
	}
	return [3]int{size, 3 - size, 3}
}

// plan makes the inputs: first with the base sizes, then with two other sizes of each axis,
// then with all axes changed.
func (o *options) plan(examples []*tensor.Tensor) (*plan, error) {
	p := &plan{examples: examples}
	var choices [][3]int
	base := map[string]int{}
	for i, x := range examples {
		names, named := o.axes[i]
		if !named && x.NDim() > 0 {
			names = []string{batchAxis}
		}
		p.of = append(p.of, names)
		for at, name := range names {
			if name == "" {
				continue
			}
			size := x.Size(at)
			if size < 1 {
				return nil, fmt.Errorf("onnx: the example of input %d has the shape %v: axis %d, %q, must have at least size 1", i, x.Shape(), at, name)
			}
			if old, ok := base[name]; ok {
				if old != size {
					return nil, fmt.Errorf("onnx: axis %q has size %d in one example and %d in another", name, old, size)
				}
				continue
			}
			base[name] = size
			p.axes = append(p.axes, axis{name: name})
			choices = append(choices, sizesOf(at == 0, size))
		}
	}
	for _, run := range runsOf(len(p.axes)) {
		for i := range p.axes {
			p.axes[i].sizes = append(p.axes[i].sizes, choices[i][run[i]])
		}
	}
	for run := range runsOf(len(p.axes)) {
		var inputs []*tensor.Tensor
		for i, x := range examples {
			inputs = append(inputs, p.resize(x, p.of[i], run))
		}
		p.runs = append(p.runs, inputs)
	}
	return p, nil
}

// runsOf returns which of its three sizes each axis has in each run. Without axes there are two
// identical runs.
func runsOf(axes int) [][]int {
	runs := [][]int{make([]int, axes)}
	if axes == 0 {
		return append(runs, []int{})
	}
	for i := range axes {
		for choice := 1; choice < 3; choice++ {
			run := make([]int, axes)
			run[i] = choice
			runs = append(runs, run)
		}
	}
	if axes > 1 {
		runs = append(runs, slices.Repeat([]int{1}, axes))
	}
	return runs
}

// dependsOn returns the names of the axes that a size depends on.
func (p *plan) dependsOn(s sizes) []string {
	var names []string
	for i, a := range p.axes {
		if s[1+2*i] != s[0] || s[2+2*i] != s[0] { // the runs of runsOf in which only this axis differs
			names = append(names, a.name)
		}
	}
	return names
}

// resize repeats or truncates an example to the sizes of a run.
func (p *plan) resize(x *tensor.Tensor, names []string, run int) *tensor.Tensor {
	shape, raw, width := x.Shape(), x.Raw(), x.DType().Size()
	for at, name := range names {
		for _, a := range p.axes {
			if a.name == name {
				raw = cycle(raw, shape, at, a.sizes[run], width)
				shape[at] = a.sizes[run]
			}
		}
	}
	return tensor.FromRaw(x.DType(), raw, shape...)
}

// cycle returns the elements of a tensor with n slices along an axis, repeating the slices
// cyclically; width is the element size in bytes.
func cycle(raw []byte, shape []int, at, n, width int) []byte {
	inner := width * ir.Len(shape[at+1:])
	var out bytes.Buffer
	for o := range ir.Len(shape[:at]) {
		for i := range n {
			from := (o*shape[at] + i%shape[at]) * inner
			out.Write(raw[from : from+inner])
		}
	}
	return out.Bytes()
}
