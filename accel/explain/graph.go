package explain

import (
	"errors"
	"fmt"
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// ModelGraph is the layers of a model and what flows between them; [Graph] returns it. It displays itself as a drawing,
// with the graph as text.
type ModelGraph struct {
	Nodes  []GraphNode // in the order in which they run; the first is the input
	Output int         // index in Nodes of the one whose output the model returns
}

// GraphNode is a layer, or an op outside of layers.
type GraphNode struct {
	Path       string       // of the layer in the model, such as "2.0" or "block.up"; "" for ops outside of layers
	Layer      string       // the layer as Go code, "input", or the name of the op
	Shape      []int        // of the output for one example
	DType      tensor.DType // of the output
	Parameters int          // number of trained values; a tensor that layers share counts for the first one only
	Frozen     int          // number of frozen values, without running statistics
	In         []int        // indices of the nodes whose outputs the layer takes, in order, each once
}

// Graph runs one example of zeros with the given shape through a model in evaluation mode, and returns its layers: as
// nn.Summary, but with the branches and sums of residual connections, of any model. Layers of package nn are one node
// each. Layers that have not seen an input create their parameters. What does nothing in evaluation mode, such as
// nn.Dropout, is left out, and so is a module that a branch of Forward does not run for this example.
//
// The drawing is a vertical list: layers that follow each other are connected by an arrow, other connections run beside it.
// Repeated blocks are drawn once, with their number.
//
// A model that reads elements of its input, for instance with Item, is an error that wraps a *tensor.TraceError.
func Graph(model nn.Module, shape ...int) (g *ModelGraph, err error) {
	if model == nil {
		return nil, errors.New("explain: Graph: the model is nil")
	}
	defer func() {
		if err != nil {
			g, err = nil, fmt.Errorf("explain: Graph: %w", err)
		}
	}()
	defer nn.Catch(&err)
	defer nn.Eval(model)()
	x := tensor.Zeros(append([]int{1}, shape...)...)
	tensor.NoGrad(func() { model.Forward(x) }) // creates the parameters
	traced := tensors.Trace(func(in []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{model.Forward(in[0])} }, x)
	defer traced.Release()
	b := newGraphBuilder(model, traced)
	for i := range traced.Nodes {
		b.add(i)
	}
	output, ok := b.from[traced.Outputs[0]]
	if !ok || !traced.Depends(0) {
		return nil, errors.New("the output of the model does not depend on its input")
	}
	b.graph.Output = output
	return b.graph, nil
}

// exampleOf returns the shape of one example of a value.
func exampleOf(shape []int) []int {
	if len(shape) == 0 {
		return []int{}
	}
	return slices.Clone(shape[1:])
}
