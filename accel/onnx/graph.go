package onnx

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/tensor"
)

// graph is what all runs of a trace have in common, and the sizes in which they differ.
type graph struct {
	plan    *plan
	values  []value
	steps   []step
	inputs  []int
	outputs []int
	from    []int // by value: the step that computes it, or -1
	first   *tensors.Graph[*tensor.Tensor]
}

// sizes is a size in each run.
type sizes []int

// fixed reports whether a size is the same in all runs.
func (s sizes) fixed() bool {
	for _, n := range s {
		if n != s[0] {
			return false
		}
	}
	return true
}

// value is an input, a constant or the result of a step.
type value struct {
	shape    []sizes
	dtype    tensor.DType
	constant *tensor.Tensor // value in the first run
	pattern  pattern        // for a constant whose size differs
}

// resizes reports whether the size of the value differs between the runs.
func (v *value) resizes() bool {
	return slices.ContainsFunc(v.shape, func(s sizes) bool { return !s.fixed() })
}

// step is an op with its variant in each run.
type step struct {
	ops  []ir.Op
	in   []int
	out  int
	path string
	kind string
}

// fails returns an error of the step.
func (s *step) fails(reason error, format string, arguments ...any) error {
	return &Error{Op: s.ops[0].Name(), Path: s.path, Layer: s.kind, Err: fmt.Errorf("%w: %s", reason, fmt.Sprintf(format, arguments...))}
}

// join compares the runs and keeps the first.
func join(runs []*tensors.Graph[*tensor.Tensor], p *plan) (*graph, error) {
	first := runs[0]
	g := &graph{plan: p, first: first, inputs: first.Inputs, outputs: first.Outputs}
	if err := sameOps(runs, p); err != nil {
		return nil, err
	}
	for i, v := range first.Values {
		next := value{dtype: v.DType, constant: v.Constant}
		for d := range v.Shape {
			s := make(sizes, len(runs))
			for r, run := range runs {
				s[r] = run.Values[i].Shape[d]
			}
			next.shape = append(next.shape, s)
		}
		g.values = append(g.values, next)
	}
	for i := range g.values {
		if err := g.sameConstant(i, runs); err != nil {
			return nil, err
		}
	}
	g.from = slices.Repeat([]int{-1}, len(g.values))
	for k, n := range first.Nodes {
		s := step{in: n.In, out: n.Out, path: n.Path, kind: n.Kind}
		for _, run := range runs {
			s.ops = append(s.ops, run.Nodes[k].Op)
		}
		g.from[n.Out] = k
		g.steps = append(g.steps, s)
	}
	depends := false
	for i := range first.Outputs {
		depends = depends || first.Depends(i)
	}
	if !depends {
		return nil, &Error{Err: fmt.Errorf("%w: the output does not depend on the input; the function must use the tensors that it receives", ErrChanging)}
	}
	return g, nil
}

// sameOps returns an error if a run has other ops than the first.
func sameOps(runs []*tensors.Graph[*tensor.Tensor], p *plan) error {
	first := runs[0]
	for r, run := range runs[1:] {
		differs := func(n tensors.GraphNode, does, did string) error {
			return &Error{Op: n.Op.Name(), Path: n.Path, Layer: n.Kind, Err: fmt.Errorf(
				"%w: with %s it computes %s, with %s %s; an if or a loop in Go that depends on a size cannot be exported", ErrChanging, p.text(r+1), does, p.text(0), did)}
		}
		for k, n := range run.Nodes {
			if k >= len(first.Nodes) {
				return differs(n, fmt.Sprintf("%d ops", len(run.Nodes)), fmt.Sprint(len(first.Nodes)))
			}
			if o := first.Nodes[k]; !sameOp(n.Op, o.Op) || !slices.Equal(n.In, o.In) || n.Out != o.Out ||
				len(run.Values[n.Out].Shape) != len(first.Values[o.Out].Shape) {
				if why := ir.NoONNX(n.Op); why != "" && n.Op.Name() == o.Op.Name() { // in whatever way it depends on a size
					return &Error{Op: n.Op.Name(), Path: n.Path, Layer: n.Kind, Err: fmt.Errorf("%w: %s", ErrUnsupported, why)}
				}
				return differs(n, describe(run, n), describe(first, o))
			}
		}
		if len(run.Nodes) < len(first.Nodes) {
			return differs(first.Nodes[len(run.Nodes)], fmt.Sprintf("%d ops", len(run.Nodes)), fmt.Sprint(len(first.Nodes)))
		}
		if !slices.Equal(run.Inputs, first.Inputs) || !slices.Equal(run.Outputs, first.Outputs) {
			return &Error{Err: fmt.Errorf("%w: its outputs differ between %s and %s", ErrChanging, p.text(r+1), p.text(0))}
		}
		for i, v := range run.Values {
			if (v.Constant == nil) != (first.Values[i].Constant == nil) || v.DType != first.Values[i].DType || len(v.Shape) != len(first.Values[i].Shape) {
				return &Error{Err: fmt.Errorf("%w: the tensors that it creates in Go differ between %s and %s", ErrChanging, p.text(r+1), p.text(0))}
			}
		}
	}
	return nil
}

// describe returns a node with the shapes of its inputs as text.
func describe(g *tensors.Graph[*tensor.Tensor], n tensors.GraphNode) string {
	text := n.Op.Name()
	for i, x := range n.In {
		sep := " and "
		if i == 0 {
			sep = " of "
		}
		text += sep + ir.FormatShape(g.Values[x].Shape)
	}
	return text
}

// sameOp reports whether two ops differ at most in sizes or scalars.
func sameOp(a, b ir.Op) bool {
	if reflect.TypeOf(a) != reflect.TypeOf(b) {
		return false
	}
	switch a.(type) {
	case ir.Slice, ir.Pad, ir.Index, ir.ArgSort: // their keys contain sizes
		return true
	}
	return bytes.Equal(a.AppendKey(nil), b.AppendKey(nil))
}

// sameConstant returns an error if a constant differs between runs, unless it depends on a size
// by a known formula.
func (g *graph) sameConstant(i int, runs []*tensors.Graph[*tensor.Tensor]) error {
	v := &g.values[i]
	if v.constant == nil {
		return nil
	}
	if v.resizes() {
		p, ok := findPattern(runs, i)
		if !ok {
			return g.changing(i, "the model makes a tensor of shape %s in Go, whose size depends on that of the input; only tensors with one value, or with 0, 1, 2 and so on, are supported")
		}
		v.pattern = p
		return nil
	}
	for _, run := range runs[1:] {
		other := run.Values[i].Constant
		if run.Find(v.constant) == i {
			continue
		}
		if !bytes.Equal(v.constant.Raw(), other.Raw()) {
			return g.changing(i, "the model uses a tensor of shape %s whose values differ between the calls: Go code fills it with random numbers or depending on the input's size, or the model changes it")
		}
	}
	return nil
}

// changing returns an error about a constant, at the first op that uses it.
func (g *graph) changing(i int, format string) error {
	e := &Error{}
	for _, n := range g.first.Nodes {
		if slices.Contains(n.In, i) {
			e.Op, e.Path, e.Layer = n.Op.Name(), n.Path, n.Kind
			break
		}
	}
	e.Err = fmt.Errorf("%w: %s", ErrChanging, fmt.Sprintf(format, ir.FormatShape(g.first.Values[i].Shape)))
	return e
}
