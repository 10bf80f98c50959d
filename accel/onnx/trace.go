package onnx

import (
	"errors"
	"fmt"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// trace records the function once for each run of a plan, and joins the records. The caller
// must release the graph.
func trace(function func([]*tensor.Tensor) []*tensor.Tensor, p *plan) (*graph, error) {
	var runs []*tensors.Graph[*tensor.Tensor]
	var joined *graph
	defer func() {
		for i, g := range runs {
			if joined == nil || i > 0 {
				g.Release()
			}
		}
	}()
	// The first call of layers without parameters is different, because it creates them.
	warm, err := record(function, p.runs[0])
	if err != nil {
		return nil, explain(err, function, p, 0)
	}
	warm.Release()
	for run, inputs := range p.runs {
		g, err := record(function, inputs)
		if err != nil {
			return nil, explain(err, function, p, run)
		}
		runs = append(runs, g)
	}
	joined, err = join(runs, p)
	return joined, err
}

// record makes one run.
func record(function func([]*tensor.Tensor) []*tensor.Tensor, inputs []*tensor.Tensor) (g *tensors.Graph[*tensor.Tensor], err error) {
	defer nn.Catch(&err)
	missing := -1
	g = tensors.Trace(func(in []*tensor.Tensor) []*tensor.Tensor {
		out := function(in)
		for i, y := range out {
			if y == nil {
				missing = i
				return nil
			}
		}
		return out
	}, inputs...)
	switch {
	case missing >= 0:
		err = outputError(fmt.Sprintf("onnx: output %d is nil", missing))
	case len(g.Outputs) == 0:
		err = outputError("onnx: the function has no output")
	}
	if err != nil {
		g.Release()
		return nil, err
	}
	compose(g)
	return g, nil
}

// outputError says what is wrong with the result of a function.
type outputError string

func (e outputError) Error() string { return string(e) }

// explain returns why a run failed.
func explain(err error, function func([]*tensor.Tensor) []*tensor.Tensor, p *plan, run int) error {
	if result := outputError(""); errors.As(err, &result) {
		return result
	}
	if refused, ok := errors.AsType[*tensor.TraceError](err); ok {
		reason := ErrChanging
		if refused.Reading {
			reason = ErrDataDependent
		}
		e := &Error{Op: refused.Op, Path: refused.Path, Layer: refused.Layer, Err: fmt.Errorf("%w: %s", reason, refused.Hint)}
		if layer := (*nn.LayerError)(nil); errors.As(err, &layer) {
			e.Path, e.Layer = layer.Path, layer.Layer
		}
		return e
	}
	if shape := (*tensor.ShapeError)(nil); errors.As(err, &shape) {
		if g, failed := record(function, p.examples); failed == nil {
			g.Release()
			return fmt.Errorf("onnx: the model accepts the example, but not with %s; if an axis has a fixed size, say so with Axes: %w", p.text(run), err)
		}
	}
	return fmt.Errorf("onnx: with %s: %w", p.text(run), err)
}

// text describes the sizes of a run.
func (p *plan) text(run int) string {
	if len(p.axes) == 0 {
		return "the example"
	}
	s := ""
	for i, a := range p.axes {
		if i > 0 {
			s += ", "
		}
		s += fmt.Sprintf("%s %d", a.name, a.sizes[run])
	}
	return s
}
