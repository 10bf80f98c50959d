package tensor

import (
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// Parameter makes t a parameter, whose gradient Backward computes, and returns t.
func Parameter(t *Tensor) *Tensor {
	t.SetRequiresGrad(true)
	return t
}

// SetRequiresGrad sets whether Backward computes the tensor's gradient. A tensor that does not is a
// frozen parameter: [Autocast] casts it once, not in each step. SetRequiresGrad panics with a *StateError if t is
// the result of ops that require a gradient.
func (t *Tensor) SetRequiresGrad(on bool) {
	locked(func(r *ir.Recorder) {
		v := t.holdValue("SetRequiresGrad")
		if on == (t.leaf != nil) {
			if !on {
				v.Freeze()
			}
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

// RequiresGrad reports whether gradients flow into the tensor.
func (t *Tensor) RequiresGrad() bool { return t.lockedValue("RequiresGrad").RequiresGrad() }

// Backward computes the gradient of t, which must be a scalar, with respect to each parameter that
// t depends on, and adds it to the parameter's Grad. A second Backward through the same ops panics
// with a *StateError.
func (t *Tensor) Backward() {
	locked(func(r *ir.Recorder) {
		v := t.value("Backward")
		r.Trim()
		r.Backward(v)
	})
}

// Grad returns the sum of the gradients since ZeroGrad, or nil if there is none.
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

// SetGrad replaces the gradient of the parameter t, as if Backward had computed g. It panics if g
// does not have the shape and element type of t.
func (t *Tensor) SetGrad(g *Tensor) {
	locked(func(r *ir.Recorder) {
		v, gradient := t.value("SetGrad"), g.holdValue("SetGrad")
		switch {
		case t.leaf == nil:
			panic(&StateError{Op: "SetGrad", Hint: "the tensor does not require a gradient; make it a parameter with Parameter or SetRequiresGrad"})
		case !slices.Equal(v.Shape(), gradient.Shape()):
			panic(&ShapeError{Op: "SetGrad", Shapes: [][]int{v.Shape(), gradient.Shape()}, Hint: "the gradient must have the shape of the parameter"})
		case v.DType() != gradient.DType():
			panic(&DTypeError{Op: "SetGrad", DTypes: []DType{v.DType(), gradient.DType()}, Hint: "the gradient must have the element type of the parameter"})
		}
		if gradient.RequiresGrad() {
			gradient = r.Alias(gradient)
		}
		gradient.Hold() // before ZeroGrad, in case it is the current gradient
		r.ZeroGrad(t.leaf)
		t.leaf.Grad = gradient
	})
}

// ZeroGrad removes the gradient.
func (t *Tensor) ZeroGrad() {
	locked(func(r *ir.Recorder) {
		if t.leaf != nil {
			r.ZeroGrad(t.leaf)
		}
	})
}

// Detach returns a tensor with the same value through which no gradient flows.
func (t *Tensor) Detach() *Tensor {
	return arrange(composite{name: "Detach"}, func(r *ir.Recorder, v []*ir.Value) *ir.Value { return r.Alias(v[0]) }, t)
}

// Clone returns a copy through which gradients flow.
func (t *Tensor) Clone() *Tensor { return record(ir.Copy{}, t) }

// Assign gives t the value of src, which must have the same shape and element type. Ops recorded
// before see the old value. Parameters are updated with it:
//
//	tensor.NoGrad(func() { p.Assign(p.Sub(p.Grad().MulScalar(learningRate))) })
//
// If nothing else can read the old value, the new one is computed in place. If src is a result that
// is not computed yet, its value moves to t: src can be read until the next Assign to t; using it
// later panics with a *StateError.
func (t *Tensor) Assign(src *Tensor) {
	locked(func(r *ir.Recorder) {
		t.holdValue("Assign")
		src.holdValue("Assign")
		src.borrowed = r.Assign(&t.v, src.v, t.leaf)
	})
}
