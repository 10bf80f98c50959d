package tensor

import (
	"slices"

	"github.com/quernlab/quern/accel/internal/ir"
)

// TraceError says that a function cannot be traced because of what it does beside
// ops: it reads numbers that depend on its input, or keeps such a tensor for the
// next time. It is a panic of the op that does so.
type TraceError = ir.TraceError

// Graph is what a function computes, as [Trace] has seen it: the ops that lead from
// its inputs to its results, in their order. Values go by numbers.
type Graph struct {
	Values  []GraphValue
	Nodes   []GraphNode
	Inputs  []int
	Outputs []int

	dependent []bool // of the outputs: an input leads to it

	tracer *ir.Tracer
	number map[int]int // of the tracer to that of the graph
}

// GraphValue is an input, the result of a node, or a tensor from elsewhere, such as
// a parameter.
type GraphValue struct {
	Shape    []int
	DType    DType
	Constant *Tensor // from elsewhere; nil for inputs and results
}

// GraphNode is an op.
type GraphNode struct {
	Op   ir.Op
	In   []int
	Out  int
	Path string // of the layer, "2.0"; empty outside of chains
	Kind string // the layer, as it is written in Go
}

// Trace runs f without gradients, and in the element types of its tensors whatever
// [Autocast] says outside, and gives the ops that lead to its results. It panics with
// a *TraceError where f does in Go what depends on the numbers of its inputs; a path
// that f takes because of their shapes, or because of anything else, is the path of
// the graph. Release the graph after use.
func Trace(f func(inputs []*Tensor) []*Tensor, inputs ...*Tensor) *Graph {
	g := &Graph{number: map[int]int{}}
	var in []*ir.Value
	watched.Add(1)
	defer watched.Add(-1)
	locked(func(r *ir.Recorder) {
		for _, t := range inputs {
			in = append(in, t.value("Trace"))
		}
		g.tracer = r.Trace(in)
	})
	done := false
	defer func() {
		locked(func(r *ir.Recorder) { r.EndTrace(g.tracer) })
		if !done {
			g.Release()
		}
	}()
	var out []*Tensor
	NoGrad(func() { Autocast(Float32, func() { out = f(slices.Clone(inputs)) }) })
	locked(func(*ir.Recorder) {
		for _, v := range in {
			g.Inputs = append(g.Inputs, g.add(g.tracer.Number(v)))
		}
		var results []int
		for _, t := range out {
			results = append(results, g.tracer.Number(t.value("Trace")))
		}
		for _, o := range g.tracer.Leading(results) {
			if _, ok := o.Op.(ir.Alias); ok { // another name of a value
				g.number[o.Out] = g.value(o.In[0])
				continue
			}
			n := GraphNode{Op: o.Op, Path: o.Path, Kind: o.Kind}
			for _, x := range o.In {
				n.In = append(n.In, g.value(x))
			}
			n.Out = g.add(o.Out)
			g.Nodes = append(g.Nodes, n)
		}
		for _, n := range results {
			g.Outputs = append(g.Outputs, g.value(n))
			g.dependent = append(g.dependent, g.tracer.Depends(n))
		}
	})
	done = true
	return g
}

// value returns the number of a value that is an input, made already, or from elsewhere.
func (g *Graph) value(number int) int {
	if n, ok := g.number[number]; ok {
		return n
	}
	return g.constant(number)
}

// constant adds a value from elsewhere, once for each place in memory.
func (g *Graph) constant(number int) int {
	v := g.tracer.Value(number)
	for i, o := range g.Values {
		if o.Constant != nil && ir.SameMemory(o.Constant.v, v) {
			g.number[number] = i
			return i
		}
	}
	n := g.add(number)
	g.Values[n].Constant = wrap(v)
	return n
}

func (g *Graph) add(number int) int {
	v := g.tracer.Value(number)
	n := len(g.Values)
	g.number[number] = n
	g.Values = append(g.Values, GraphValue{Shape: slices.Clone(v.Shape()), DType: v.DType()})
	return n
}

// Find returns the number of a tensor that the graph has as a constant, -1 without.
func (g *Graph) Find(t *Tensor) int {
	found := -1
	locked(func(*ir.Recorder) {
		v := t.value("Find")
		for i, o := range g.Values {
			if o.Constant != nil && ir.SameMemory(o.Constant.v, v) {
				found = i
				return
			}
		}
	})
	return found
}

// Depends reports whether an input leads to output i.
func (g *Graph) Depends(i int) bool { return g.dependent[i] }

// Release gives the constants back.
func (g *Graph) Release() {
	for _, v := range g.Values {
		if v.Constant != nil {
			v.Constant.Release()
		}
	}
	locked(func(r *ir.Recorder) { r.LetGo(g.tracer) })
}
