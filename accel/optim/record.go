package optim

import (
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/tensor"
)

// record collects the intermediate tensors of an update, which nothing else refers to.
// Releasing them before the list runs lets the whole update of a parameter become one fused
// kernel. Tensors that are passed to Assign become the values of parameters and must not be
// recorded.
type record struct {
	made  []*tensor.Tensor
	guard *guard // nil if the step cannot be skipped
	delay bool   // assign waits for release
	later []assignment
}

// assignment sets a tensor to its next value.
type assignment struct{ t, next *tensor.Tensor }

// assign sets t to next, unless the device skips the step.
func (r *record) assign(t, next *tensor.Tensor) {
	if r.guard != nil {
		next = tensor.Where(r.guard.finite, r.keep(next), t)
	}
	if r.delay {
		r.later = append(r.later, assignment{t, next})
		return
	}
	t.Assign(next)
}

func (r *record) keep(t *tensor.Tensor) *tensor.Tensor {
	r.made = append(r.made, t)
	return t
}

func (r *record) times(t *tensor.Tensor, s float64) *tensor.Tensor { return r.keep(t.MulScalar(s)) }
func (r *record) add(a, b *tensor.Tensor) *tensor.Tensor           { return r.keep(a.Add(b)) }

// decayed adds the weight decay of parameter p to its gradient or direction g.
func (r *record) decayed(g, p *tensor.Tensor, o options) *tensor.Tensor {
	if o.weightDecay == 0 {
		return g
	}
	return r.add(g, r.times(p, o.weightDecay))
}

// tiny is added to a running mean and subtracted again, which rounds values below about 5e-38 to zero and changes others by no more than
// that. The running mean of a gradient that has become zero, for instance of a pixel that is
// always black, would otherwise shrink to a denormal number and stay one, and CPUs compute with
// denormal numbers far more slowly.
const tiny = 1e-30

// average updates a running mean or sum, which starts at zero: keep·mean + share·v.
func (r *record) average(mean **tensor.Tensor, keep float64, v *tensor.Tensor, share float64) {
	r.extend(runningMean, mean, keep, v, share)
}

// averageSquare is average of v².
func (r *record) averageSquare(mean **tensor.Tensor, keep float64, v *tensor.Tensor, share float64) {
	r.extend(runningMeanOfSquares, mean, keep, v, share)
}

func (r *record) extend(of *ir.Composing, mean **tensor.Tensor, keep float64, v *tensor.Tensor, share float64) {
	if *mean == nil {
		*mean = newMean(v)
	}
	r.assign(*mean, composite(of, ir.Scalars{keep, share, tiny, -tiny}, *mean, v))
}

var (
	runningMean          = &ir.Composing{Name: "RunningMean", Scalars: 4, Record: extended}
	runningMeanOfSquares = &ir.Composing{Name: "RunningMeanOfSquares", Scalars: 4, Record: func(c *ir.Recorder, in []*ir.Value, s []float64) *ir.Value {
		return extended(c, []*ir.Value{in[0], c.Record(ir.Square{}, in[1])}, s)
	}}
)

// extended records a running mean after another element.
func extended(c *ir.Recorder, in []*ir.Value, s []float64) *ir.Value {
	kept, v := c.MulScalar(in[0], s[0]), c.MulScalar(in[1], s[1])
	sum := c.Record(ir.Add{}, kept, v)
	return c.Record(ir.AddScalar{Scalar: s[3]}, c.Record(ir.AddScalar{Scalar: s[2]}, sum))
}

// composite records a composite.
func composite(of *ir.Composing, scalars ir.Scalars, in ...*tensor.Tensor) *tensor.Tensor {
	return tensors.Compute(of.Name, func(c *ir.Recorder, in []*ir.Value) *ir.Value {
		return c.Record(ir.Composite{Of: of, Scalars: scalars}, in...)
	}, in...)
}

// newMean returns zeros for a running mean of t: float64 if t is, else float32, also for 16-bit floats, in which small changes would be
// lost.
func newMean(t *tensor.Tensor) *tensor.Tensor {
	if t.DType() == tensor.Float64 {
		return zerosLike(t)
	}
	return tensor.Zeros(t.Shape()...)
}

// release makes the later assignments and releases the intermediate tensors. The record is then empty.
func (r *record) release() {
	for _, a := range r.later {
		a.t.Assign(a.next)
	}
	for _, t := range r.made {
		t.Release()
	}
	clear(r.made)
	r.later, r.made = nil, r.made[:0]
}

// norm returns the L2 norm as a scalar.
func (r *record) norm(t *tensor.Tensor) *tensor.Tensor {
	return r.keep(r.keep(r.keep(t.Square()).Sum()).Sqrt())
}
