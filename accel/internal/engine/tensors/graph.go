package tensors

import (
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

// Tensor is *tensor.Tensor.
type Tensor interface {
	comparable
	Release()
}

// Graph is the computation of a function as recorded by [Trace]: the ops between its inputs and its
// results, in order. Values are referred to by index.
type Graph[T Tensor] struct {
	Values  []GraphValue[T] // all, in the order in which they were created
	Nodes   []GraphNode     // in the order in which they can run
	Inputs  []int           // indices in Values, one for each input of the function
	Outputs []int           // indices in Values, one for each result

	dependent []bool // of the outputs: whether it depends on an input

	tracer *ir.Tracer
	number map[int]int // from the tracer's number of a value to its index in Values
}

// GraphValue is an input, the result of a node, or a constant such as a parameter.
type GraphValue[T Tensor] struct {
	Shape    []int            // of the traced call
	DType    tensortype.DType // of its elements
	Constant T                // nil for inputs and results
}

// GraphNode is an op.
type GraphNode struct {
	Op   ir.Op  // with its name and attributes
	In   []int  // indices in Values of the operands
	Out  int    // index in Values of the result
	Path string // of the layer, such as "2.0"; empty outside of layers
	Kind string // the layer's kind, such as Dense
}

// Trace runs f without gradients and without Autocast and returns the ops that its results depend
// on. It panics with a *TraceError if f reads elements that depend on its inputs. Branches of f
// that depend on shapes or on anything else are recorded as taken. Release the graph after use.
func Trace[T Tensor](f func(inputs []T) []T, inputs ...T) *Graph[T] {
	g := &Graph[T]{number: map[int]int{}}
	var in []*ir.Value
	defer KeepNames()()
	engine.Locked(func(r *ir.Recorder) {
		for _, t := range inputs {
			in = append(in, of[T]().Value(t, "Trace"))
		}
		g.tracer = r.Trace(in)
	})
	done := false
	defer func() {
		engine.Locked(func(r *ir.Recorder) { r.EndTrace(g.tracer) })
		if !done {
			g.Release()
		}
	}()
	var out []T
	engine.Plain(func() { out = f(slices.Clone(inputs)) })
	engine.Locked(func(*ir.Recorder) {
		for _, v := range in {
			g.Inputs = append(g.Inputs, g.add(g.tracer.Number(v)))
		}
		var results []int
		for _, t := range out {
			results = append(results, g.tracer.Number(of[T]().Value(t, "Trace")))
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
func (g *Graph[T]) value(number int) int {
	if n, ok := g.number[number]; ok {
		return n
	}
	return g.constant(number)
}

// constant adds a constant, or returns the index of one with the same memory.
func (g *Graph[T]) constant(number int) int {
	var none T
	v := g.tracer.Value(number)
	for i, o := range g.Values {
		if o.Constant != none && ir.SameMemory(of[T]().Value(o.Constant, "Trace"), v) {
			g.number[number] = i
			return i
		}
	}
	n := g.add(number)
	g.Values[n].Constant = of[T]().Wrap(v)
	return n
}

func (g *Graph[T]) add(number int) int {
	v := g.tracer.Value(number)
	n := len(g.Values)
	g.number[number] = n
	g.Values = append(g.Values, GraphValue[T]{Shape: slices.Clone(v.Shape()), DType: v.DType()})
	return n
}

// Find returns the index of a constant with the value of t, or -1.
func (g *Graph[T]) Find(t T) int {
	found := -1
	engine.Locked(func(*ir.Recorder) {
		var none T
		v := of[T]().Value(t, "Find")
		for i, o := range g.Values {
			if o.Constant != none && ir.SameMemory(of[T]().Value(o.Constant, "Trace"), v) {
				found = i
				return
			}
		}
	})
	return found
}

// Depends reports whether output i depends on an input.
func (g *Graph[T]) Depends(i int) bool { return g.dependent[i] }

// Release releases the constants.
func (g *Graph[T]) Release() {
	var none T
	for _, v := range g.Values {
		if v.Constant != none {
			v.Constant.Release()
		}
	}
	engine.Locked(func(r *ir.Recorder) { r.LetGo(g.tracer) })
}
