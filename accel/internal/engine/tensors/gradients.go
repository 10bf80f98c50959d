package tensors

import (
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

// AfterGrad calls f in each Backward as soon as the gradient of the parameter t is complete, while
// other gradients are still to be computed; nil removes f. If the graph contains a Recompute, f is
// called at the end. f may read the gradient, which runs the ops recorded so far. It corresponds to
// torch's register_post_accumulate_grad_hook.
func AfterGrad[T any](t T, f func()) {
	engine.Locked(func(*ir.Recorder) {
		of[T]().Value(t, "AfterGrad")
		leaf := of[T]().Leaf(t)
		if leaf == nil {
			panic(&tensortype.StateError{Op: "AfterGrad", Hint: "the tensor does not require a gradient; make it a parameter with Parameter or SetRequiresGrad"})
		}
		leaf.After = f
	})
}

// UseGrad is called by an optimizer that is about to update the parameter t with its gradient. It reports
// whether there is a gradient, and whether an earlier update has already used a part of it, since ZeroGrad was
// not called before the newest Backward. Without a gradient, lost reports whether ZeroGrad has dropped one that no
// update had used.
func UseGrad[T any](t T) (some, stale, lost bool) {
	engine.Locked(func(*ir.Recorder) {
		of[T]().Value(t, "UseGrad")
		switch leaf := of[T]().Leaf(t); {
		case leaf == nil:
		case leaf.Grad != nil:
			some, stale, leaf.Used = true, leaf.Stale, true
		default:
			lost = leaf.Lost
		}
	})
	return some, stale, lost
}

// ExtendGrad calls extend, which replaces the gradient of the parameter t by its sum with another one. As after a
// second Backward, [UseGrad] then reports whether an update had used the gradient before.
func ExtendGrad[T any](t T, extend func()) {
	use := func(f func(leaf *ir.Leaf)) {
		engine.Locked(func(*ir.Recorder) {
			of[T]().Value(t, "ExtendGrad")
			if leaf := of[T]().Leaf(t); leaf != nil {
				f(leaf)
			}
		})
	}
	var used, stale bool
	use(func(leaf *ir.Leaf) { used, stale = leaf.Used, leaf.Stale })
	extend()
	use(func(leaf *ir.Leaf) { leaf.Used, leaf.Stale = used, stale || used })
}

// MarkPart records whether other processes have the rest of the parameter t, or other parameters of its
// model, so that only the model of all of them can be trained.
func MarkPart[T any](t T, part bool) {
	engine.Locked(func(*ir.Recorder) {
		of[T]().Value(t, "MarkPart")
		if leaf := of[T]().Leaf(t); leaf != nil {
			leaf.Part = part
		}
	})
}

// IsPart reports whether [MarkPart] was called for t.
func IsPart[T any](t T) (part bool) {
	engine.Locked(func(*ir.Recorder) {
		leaf := of[T]().Leaf(t)
		part = leaf != nil && leaf.Part
	})
	return part
}

// OtherParameters returns the shapes of the parameters that t depends on and that are not in known:
// gradients of t flow into them, but an optimizer of the known parameters does not update them.
// Call it before Backward.
func OtherParameters[T any](t T, known []T) (shapes [][]int) {
	engine.Locked(func(r *ir.Recorder) {
		leaves := make([]*ir.Leaf, 0, len(known))
		for _, k := range known {
			if leaf := of[T]().Leaf(k); leaf != nil {
				leaves = append(leaves, leaf)
			}
		}
		for _, s := range r.Sources(of[T]().Value(t, "OtherParameters"), leaves) {
			shapes = append(shapes, slices.Clone(s.Shape))
		}
	})
	return shapes
}

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
