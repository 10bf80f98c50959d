package onnx

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/quernlab/quern/accel/tensor"
)

// Imported is the model of an ONNX file, a module; see [Import]. Its weights are the fields of the
// embedded map, so package nn finds them under their names in the file.
type Imported struct {
	weights
	graph *program
}

// weights are the floating-point tensors of a file by name.
type weights map[string]*tensor.Tensor

// Import reads an ONNX file, of [Export] or of another program, as a module that is run, trained,
// saved and quantized like others:
//
//	model, err := onnx.Import("digits.onnx")
//	classes, err := accel.Predict(ctx, model, images)
//
// Opsets 13 to 20 and the ops that Export writes are supported, and those that PyTorch's exporters add
// for the layers that this module has, such as LSTM, GRU, RNN, Split, Resize, DepthToSpace and InstanceNormalization,
// with batches of any size. Anything else is an [*ImportError], which names the
// node: another op or attribute, element types that this module does not have, control flow. Weights
// may be in a separate file beside it. Floating-point weights whose names do not begin with "/"
// require gradients, except the running statistics of BatchNormalization, which always computes with
// these. Sequences of small ops, such as an attention, are not joined to one op again.
func Import(path string) (*Imported, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, &ImportError{Path: path, Err: err}
	}
	return importBytes(b, path)
}

// importBytes imports the content of a file at this path.
func importBytes(b []byte, path string) (*Imported, error) {
	f, err := readFile(b, filepath.Dir(path))
	if err == nil {
		var m *Imported
		if m, err = build(f); err == nil {
			return m, nil
		}
	}
	failed, ok := errors.AsType[*ImportError](err)
	if !ok {
		failed = &ImportError{Err: err}
	}
	failed.Path = path
	return nil, failed
}

// Inputs returns the names of the inputs, in the order of [Imported.Run].
func (m *Imported) Inputs() []string { return portNames(m.graph.inputs) }

// Outputs returns the names of the outputs.
func (m *Imported) Outputs() []string { return portNames(m.graph.outputs) }

func portNames(ports []port) []string {
	names := make([]string, len(ports))
	for i, p := range ports {
		names[i] = p.name
	}
	return names
}

// Forward runs a model with one input and one output. It panics with an error of package tensor, in
// an [*ImportError] that names the node, if x does not fit.
func (m *Imported) Forward(x *tensor.Tensor) *tensor.Tensor {
	if len(m.graph.inputs) != 1 || len(m.graph.outputs) != 1 {
		panic(&tensor.ShapeError{Op: "onnx", Hint: fmt.Sprintf("the model has inputs %q and outputs %q; call Run instead of Forward", m.Inputs(), m.Outputs())})
	}
	return m.Run(x)[0]
}

// Run runs a model with any number of inputs and outputs, and panics as Forward does.
func (m *Imported) Run(inputs ...*tensor.Tensor) []*tensor.Tensor {
	if len(inputs) != len(m.graph.inputs) {
		panic(&tensor.ShapeError{Op: "onnx", Hint: fmt.Sprintf("the model has %d inputs, %q, but got %d", len(m.graph.inputs), m.Inputs(), len(inputs))})
	}
	return m.graph.run(inputs)
}

// String lists inputs, outputs and how often each op occurs.
func (m *Imported) String() string {
	var b strings.Builder
	b.WriteString("Import(")
	for _, p := range m.graph.inputs {
		fmt.Fprintf(&b, "%s %s%s, ", p.name, p.element, shapeText(p.shape))
	}
	counts := map[string]int{}
	for _, n := range m.graph.nodes {
		counts[n.op]++
	}
	var ops []string
	for op, n := range counts {
		ops = append(ops, fmt.Sprintf("%d %s", n, op))
	}
	slices.Sort(ops)
	return b.String() + strings.Join(ops, ", ") + ")"
}
