package tensors

import (
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// TapeNode is a value on the way to a tensor; see [Tape].
type TapeNode struct {
	Op       string  // name of the op that computes it; "" for parameters and values from before
	Shape    []int   // of the value
	In       []int   // indices of the operands in the list of nodes
	Gradient bool    // a gradient flows into the value
	Of       int     // index of the tensor given to Tape that it is, -1 for none
	Axes     []int   // of Permute: the axis of the operand that each axis of the value is
	Bound    float64 // of AtLeast and AtMost
}

// Tape returns the values that t depends on as far as they are pending or on the tape: each after
// its operands, and t last. It says which of them are the given tensors, at which it stops. Call it
// before Backward.
func Tape[T any](t T, given ...T) (nodes []TapeNode) {
	engine.Locked(func(*ir.Recorder) {
		value := of[T]().Value
		places, is := map[*ir.Value]int{}, map[*ir.Value]int{}
		for i, g := range given {
			is[value(g, "Tape")] = i
		}
		var visit func(v *ir.Value) int
		visit = func(v *ir.Value) int {
			if at, ok := places[v]; ok {
				return at
			}
			n := TapeNode{Shape: slices.Clone(v.Shape()), Gradient: v.RequiresGrad(), Of: -1}
			if i, ok := is[v]; ok {
				n.Of = i
			}
			op, in := v.Computation()
			if op != nil && n.Of < 0 {
				n.Op = op.Name()
				switch op := op.(type) {
				case ir.Permute:
					n.Axes = slices.Clone(op.Perm)
				case ir.AtLeast:
					n.Bound = op.Scalar
				case ir.AtMost:
					n.Bound = op.Scalar
				}
				for _, x := range in {
					n.In = append(n.In, visit(x))
				}
			}
			places[v] = len(nodes)
			nodes = append(nodes, n)
			return places[v]
		}
		visit(value(t, "Tape"))
	})
	return nodes
}
