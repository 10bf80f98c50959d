package tensor

import (
	"slices"

	"github.com/quernlab/quern/accel/internal/ir"
)

// TraceError says that a function cannot be traced because it does something besides ops: it reads
// elements that depend on its input, or keeps such a tensor for the next call. The op that does so
// panics with it.
type TraceError = ir.TraceError

// Graph is the computation of a function as recorded by [Trace]: the ops between its inputs and its
// results, in order. Values are referred to by index.
type Graph struct {
	Values  []GraphValue // all, in the order in which they were created
	Nodes   []GraphNode  // in the order in which they can run
	Inputs  []int        // indices in Values, one for each input of the function
	Outputs []int        // indices in Values, one for each result

	dependent []bool // of the outputs: whether it depends on an input

	tracer *ir.Tracer
	number map[int]int // from the tracer's number of a value to its index in Values
}

// GraphValue is an input, the result of a node, or a constant such as a parameter.
type GraphValue struct {
	Shape    []int   // of the traced call
	DType    DType   // of its elements
	Constant *Tensor // nil for inputs and results
}

// GraphNode is an op.
type GraphNode struct {
	Op   ir.Op  // with its name and attributes
	In   []int  // indices in Values of the operands
	Out  int    // index in Values of the result
	Path string // of the layer, such as "2.0"; empty outside of layers
	Kind string // the layer's kind, such as Dense
}

// Trace runs f without gradients and without [Autocast] and returns the ops that its results depend
// on. It panics with a *TraceError if f reads elements that depend on its inputs. Branches of f
// that depend on shapes or on anything else are recorded as taken. Release the graph after use.
func Trace(f func(inputs []*Tensor) []*Tensor, inputs ...*Tensor) *Graph {
	g := &Graph{number: map[int]int{}}
	var in []*ir.Value
	scopeNameUsers.Add(1)
	defer scopeNameUsers.Add(-1)
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
			if _, ok := o.Op.(ir.Alias); ok { // the same value
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

// value returns the index of a value. A value that is neither an input nor the result of a node
// is a constant, which value adds.
func (g *Graph) value(number int) int {
	if n, ok := g.number[number]; ok {
		return n
	}
	return g.constant(number)
}

// constant adds a constant, or returns the index of one with the same memory.
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

// Find returns the index of a constant with the value of t, or -1.
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

// Depends reports whether output i depends on an input.
func (g *Graph) Depends(i int) bool { return g.dependent[i] }

// Release releases the constants.
func (g *Graph) Release() {
	for _, v := range g.Values {
		if v.Constant != nil {
			v.Constant.Release()
		}
	}
	locked(func(r *ir.Recorder) { r.LetGo(g.tracer) })
}
