package onnx

import (
	"math"
	"reflect"

	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/tensor"
)

// composed reports whether an op is exported as its composition: it states one, and neither an operator nor a reason
// why it cannot be exported, and there is no converter.
func composed(op ir.Op) bool {
	_, states := op.(ir.Composer)
	return states && ir.ONNX(op).Name == "" && ir.NoONNX(op) == "" && converters[reflect.TypeOf(op)] == nil
}

// compose replaces such ops of a graph, also in compositions.
func compose(g *tensors.Graph[*tensor.Tensor]) {
	var nodes []tensors.GraphNode
	for _, n := range g.Nodes {
		nodes = append(nodes, composition(g, n)...)
	}
	g.Nodes = nodes
}

// composition returns the nodes for one, and adds the values between them to the graph.
func composition(g *tensors.Graph[*tensor.Tensor], n tensors.GraphNode) []tensors.GraphNode {
	if !composed(n.Op) {
		return []tensors.GraphNode{n}
	}
	types := make([]ir.Type, len(n.In))
	for i, v := range n.In {
		types[i] = ir.Type{Shape: g.Values[v].Shape, DType: g.Values[v].DType}
	}
	c := ir.Composition(n.Op.(ir.Composer), types...)
	if c.Out < len(n.In) { // an input
		return []tensors.GraphNode{{Op: ir.Reshape{Shape: g.Values[n.Out].Shape}, In: []int{n.In[c.Out]}, Out: n.Out, Path: n.Path, Kind: n.Kind}}
	}
	var nodes []tensors.GraphNode
	number := append([]int{}, n.In...) // of each value of the composition: its index in the graph
	for i, o := range c.Ops {
		one := tensors.GraphNode{Op: o.Op, Out: n.Out, Path: n.Path, Kind: n.Kind}
		if len(n.In)+i != c.Out {
			one.Out = len(g.Values)
			g.Values = append(g.Values, tensors.GraphValue[*tensor.Tensor]{Shape: o.Type.Shape, DType: o.Type.DType})
		}
		for _, x := range o.In {
			one.In = append(one.In, number[x])
		}
		number = append(number, one.Out)
		nodes = append(nodes, composition(g, one)...)
	}
	return nodes
}

// formula is a formula by which a number depends on a size.
type formula struct {
	value func(n float64) float64
	write func(e *emitter, n string, d tensor.DType) string
}

// formulas are the supported formulas: a size, its inverse, the inverse of the size minus one (for
// a sample variance), and square roots.
var formulas = []formula{
	{func(n float64) float64 { return n }, func(_ *emitter, n string, _ tensor.DType) string { return n }},
	{func(n float64) float64 { return 1 / n }, func(e *emitter, n string, _ tensor.DType) string {
		return e.node("Reciprocal", []string{n})
	}},
	{func(n float64) float64 { return 1 / (n - 1) }, func(e *emitter, n string, d tensor.DType) string {
		return e.node("Reciprocal", []string{e.node("Sub", []string{n, e.scalar(d, 1)})})
	}},
	{math.Sqrt, func(e *emitter, n string, _ tensor.DType) string { return e.node("Sqrt", []string{n}) }},
	{func(n float64) float64 { return 1 / math.Sqrt(n) }, func(e *emitter, n string, _ tensor.DType) string {
		return e.node("Reciprocal", []string{e.node("Sqrt", []string{n})})
	}},
}
