package tensor

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
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

// Recompute returns f(in...) and keeps only the inputs and the result for the gradient (activation
// checkpointing in PyTorch). Backward runs f again to compute the intermediate results, which costs
// a second forward pass of f. Parameters that f uses get their gradients. f draws the same random
// numbers both times, and running statistics are updated only the first time.
//
// f must compute the same result from in both times. It should release the tensors that it makes
// and does not return, and must not keep the one that it returns. f runs on the goroutine that
// calls it; ops of other goroutines wait until f returns, so f must not wait for them.
func Recompute(f func(in []*Tensor) *Tensor, in ...*Tensor) *Tensor {
	e := shared()
	e.enter()
	defer e.leave()
	var values []*ir.Value
	for _, t := range in {
		values = append(values, t.value("Recompute"))
	}
	e.recorder.Trim()
	counters, replaying, outer := &drawCounters{}, false, e.current
	replay := func(v []*ir.Value) *ir.Value {
		tensors := make([]*Tensor, len(v))
		for i, x := range v {
			tensors[i] = wrap(x)
		}
		if replaying {
			defer counters.rewind()()
		} else { // also if an enclosing Recompute runs its function again
			replaying = true
			counters.outer = activeDraws.Load()
			activeDraws.Store(counters)
			defer activeDraws.Store(counters.outer)
		}
		var y *Tensor
		from := e.recorder.Position()
		withScope(func(s *scope) {
			s.cast, s.fp8, s.lengths, s.positions, s.packed = outer.cast, outer.fp8, outer.lengths, outer.positions, outer.packed
		}, func() { y = f(tensors) })
		out := y.lockedValue("Recompute")
		if e.recorder.Since(out, from) {
			out.Drop() // only the recorded function holds it
		}
		for _, t := range tensors {
			if t != y {
				t.Release()
			}
		}
		return out
	}
	return wrap(e.recorder.Recompute(replay, values))
}

// drawCounters holds the counter that each generator had when a function first drew from it.
type drawCounters struct {
	outer *drawCounters // of the enclosing Recompute; nil if there is none
	mu    sync.Mutex
	at    map[*Generator]uint64
}

// activeDraws holds the drawCounters that generators report to, nil outside of Recompute.
var activeDraws atomic.Pointer[drawCounters]

func (d *drawCounters) note(g *Generator, counter uint64) {
	if d.outer != nil {
		d.outer.note(g, counter)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.at == nil {
		d.at = map[*Generator]uint64{}
	}
	if _, ok := d.at[g]; !ok {
		d.at[g] = counter
	}
}

// rewind resets the generators to the saved counters until the returned function is called.
func (d *drawCounters) rewind() (end func()) {
	now := map[*Generator]uint64{}
	for g, counter := range d.at {
		g.mu.Lock()
		now[g], g.counter = g.counter, counter
		g.mu.Unlock()
	}
	return func() {
		for g, counter := range now {
			g.mu.Lock()
			g.counter = counter
			g.mu.Unlock()
		}
	}
}

// NonFiniteError says that a tensor checked by [Tensor.RequireFinite] has NaN or an infinity.
type NonFiniteError = ir.NonFiniteError

// RequireFinite returns t with a check: if a step runs in which t has NaN or an infinity, the step
// fails with a *NonFiniteError, and parameters and everything else that the step would have
// assigned keep their values. what names t in the error, such as "loss". Gradients flow through it.
// For a scalar it costs next to nothing:
//
//	loss := nn.CrossEntropy(model.Forward(x), y).RequireFinite("loss")
//	loss.Backward()
//	opt.Step() // panics with the error and does not change the model
func (t *Tensor) RequireFinite(what string) *Tensor { return record(ir.Finite{What: what}, t) }

// NonFinite says which op or input has NaN or an infinity.
type NonFinite = ir.NonFinite

// FindNonFinite runs f, for example the forward and backward pass of a step, and returns the first
// op whose result has NaN, or else the first with an infinity; nil if all values are finite. It is
// slow because it runs ops one by one and keeps all their results; use it to find out why a loss
// became NaN, as torch.autograd.detect_anomaly. Ops that other goroutines record meanwhile are
// checked too.
func FindNonFinite(f func()) (found *NonFinite) {
	locked(func(r *ir.Recorder) { r.Watch(true) })
	defer locked(func(r *ir.Recorder) { found = r.Watch(false) })
	defer tensors.KeepNames()()
	f()
	return nil
}
