package tensor

import (
	"slices"

	"github.com/quernlab/quern/accel/internal/ir"
)

// Parameter makes t a parameter, a tensor whose gradient Backward computes,
// and returns it.
func Parameter(t *Tensor) *Tensor {
	t.SetRequiresGrad(true)
	return t
}

// SetRequiresGrad sets whether Backward computes the tensor's gradient. Only a
// tensor that is not itself the result of ops with a gradient can be asked to.
func (t *Tensor) SetRequiresGrad(on bool) {
	locked(func(r *ir.Recorder) {
		v := t.own("SetRequiresGrad")
		if on == (t.leaf != nil) {
			return
		}
		leaf := &ir.Leaf{}
		if !on {
			r.ZeroGrad(t.leaf)
			leaf = nil
		}
		t.v = r.Leaf(v, leaf)
		t.leaf = leaf
	})
}

// RequiresGrad reports whether a gradient flows into the tensor.
func (t *Tensor) RequiresGrad() bool { return t.known("RequiresGrad").RequiresGrad() }

// Backward computes the gradient of t, a single number, with respect to every
// parameter that it depends on, and adds it to the parameter's Grad. A second
// Backward through the same ops panics with a *StateError.
func (t *Tensor) Backward() {
	locked(func(r *ir.Recorder) {
		v := t.value("Backward")
		r.Trim()
		r.Backward(v)
	})
}

// Grad returns the sum of the gradients since ZeroGrad, nil if there was none.
func (t *Tensor) Grad() *Tensor {
	var g *Tensor
	locked(func(*ir.Recorder) {
		t.value("Grad")
		if t.leaf != nil && t.leaf.Grad != nil {
			g = wrap(t.leaf.Grad)
		}
	})
	return g
}

// SetGrad gives t, a parameter, a gradient in the place of the one that it has, as if
// Backward had computed it. It panics if it has not the shape and element type of t.
func (t *Tensor) SetGrad(g *Tensor) {
	locked(func(r *ir.Recorder) {
		v, gradient := t.value("SetGrad"), g.own("SetGrad")
		switch {
		case t.leaf == nil:
			panic(&StateError{Op: "SetGrad", Hint: "the tensor requires no gradient"})
		case !slices.Equal(v.Shape(), gradient.Shape()):
			panic(&ShapeError{Op: "SetGrad", Shapes: [][]int{v.Shape(), gradient.Shape()}, Hint: "the gradient must have the shape of the parameter"})
		case v.DType() != gradient.DType():
			panic(&DTypeError{Op: "SetGrad", DTypes: []DType{v.DType(), gradient.DType()}, Hint: "the gradient must have the element type of the parameter"})
		}
		if gradient.RequiresGrad() {
			gradient = r.Alias(gradient)
		}
		gradient.Hold() // before the old one goes, which it may be
		r.ZeroGrad(t.leaf)
		t.leaf.Grad = gradient
	})
}

// AfterGrad has f be called within each Backward as soon as the gradient of t, a
// parameter, is complete, while those of others are still to be taken; nil for
// nothing. With a Recompute in the graph it is called at the end. f may read the
// gradient, which runs what was recorded up to there.
func (t *Tensor) AfterGrad(f func()) {
	locked(func(*ir.Recorder) {
		t.value("AfterGrad")
		if t.leaf == nil {
			panic(&StateError{Op: "AfterGrad", Hint: "the tensor requires no gradient"})
		}
		t.leaf.After = f
	})
}

// ZeroGrad forgets the gradient.
func (t *Tensor) ZeroGrad() {
	locked(func(r *ir.Recorder) {
		if t.leaf != nil {
			r.ZeroGrad(t.leaf)
		}
	})
}

// Detach returns a tensor with the same value through which no gradient flows.
func (t *Tensor) Detach() *Tensor {
	return arrange("Detach", func(r *ir.Recorder, v []*ir.Value) *ir.Value { return r.Alias(v[0]) }, t)
}

// Clone returns a copy of its own, through which gradients flow.
func (t *Tensor) Clone() *Tensor { return record(ir.Copy{}, t) }

// Assign gives t the value of src, which has its shape and element type; ops
// recorded before see the old value. It is how parameters are updated:
//
//	tensor.NoGrad(func() { p.Assign(p.Sub(p.Grad().MulScalar(rate))) })
//
// Where nobody else can read the old value the new one is computed in its
// place. If src is a result that was not computed yet, its value moves to t:
// src can be read until the next Assign to t, and says so if it is used later.
func (t *Tensor) Assign(src *Tensor) {
	locked(func(r *ir.Recorder) {
		t.own("Assign")
		src.own("Assign")
		src.borrowed = r.Assign(&t.v, src.v, t.leaf)
	})
}
