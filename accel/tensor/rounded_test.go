package tensor

import (
	"math"
	"slices"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
)

// roundedNet is trained with automatic mixed precision. It has a weight that is used twice and transposed, one
// of a convolution, and a bias.
type roundedNet struct {
	kernel, w, b *Tensor
	x, y         *Tensor
	cast         DType
	out          []float32 // losses, and what rows add
}

func newRoundedNet() *roundedNet {
	g := NewGenerator(4)
	return &roundedNet{
		kernel: Parameter(Randn(g, 6, 2, 3, 3)), w: Parameter(Randn(g, 6, 6)), b: Parameter(Randn(g, 6)),
		x: Randn(g, 3, 2, 4, 4), y: Randn(g, 3, 6), cast: BFloat16,
	}
}

func (n *roundedNet) parameters() []*Tensor { return []*Tensor{n.kernel, n.w, n.b} }

func (n *roundedNet) loss() (loss *Tensor) {
	Autocast(n.cast, func() {
		h := Conv2D(n.x, n.kernel, nil, Window{Padding: [2]int{1, 1}}).ReLU().Sum(2, 3)
		h = Linear(h.MatMul(n.w).Tanh(), n.w, n.b)
		loss = h.Sub(n.y).Square().Mean()
	})
	return loss
}

func (n *roundedNet) backward() {
	loss := n.loss()
	loss.Backward()
	n.out = append(n.out, loss.Clone().Data()...)
}

func (n *roundedNet) zero() {
	for _, p := range n.parameters() {
		p.ZeroGrad()
	}
}

func (n *roundedNet) update(rate float64) {
	NoGrad(func() {
		for _, p := range n.parameters() {
			if g := p.Grad(); g != nil {
				p.Assign(p.Sub(g.MulScalar(rate)))
			}
		}
	})
}

func (n *roundedNet) step() {
	n.zero()
	n.backward()
	n.update(0.1)
	Flush()
}

// evaluate adds the loss in a type.
func (n *roundedNet) evaluate(cast DType) {
	before := n.cast
	n.cast = cast
	NoGrad(func() { n.out = append(n.out, n.loss().Data()...) })
	n.cast = before
}

func scaledData(p *Tensor, by float32) []float32 {
	d := p.Data()
	for i := range d {
		d[i] *= by
	}
	return d
}

// roundedRows are what may happen between two steps of a training.
var roundedRows = []struct {
	name   string
	change func(n *roundedNet)
}{
	{"nothing", func(*roundedNet) {}},
	{"data", func(n *roundedNet) { n.w.SetData(scaledData(n.w, 2)) }},
	{"data that another tensor shares", func(n *roundedNet) {
		old := n.w.Detach()
		n.w.SetData(scaledData(n.w, 2))
		n.out = append(n.out, old.Data()...)
	}},
	{"data after an evaluation", func(n *roundedNet) {
		n.evaluate(BFloat16)
		n.w.SetData(scaledData(n.w, 2))
		n.evaluate(BFloat16)
	}},
	{"data, twice", func(n *roundedNet) {
		for range 2 {
			n.kernel.SetData(scaledData(n.kernel, 1.5))
			n.evaluate(BFloat16)
		}
	}},
	{"an assignment", func(n *roundedNet) { NoGrad(func() { n.w.Assign(n.w.MulScalar(2)) }) }},
	{"an assignment of what is computed", func(n *roundedNet) {
		NoGrad(func() {
			next := n.w.MulScalar(2)
			Flush()
			n.w.Assign(next)
			n.evaluate(BFloat16)
			next.SetData(scaledData(next, 3)) // no longer the parameter
		})
	}},
	{"an assignment of a transpose", func(n *roundedNet) { NoGrad(func() { n.w.Assign(n.w.T().Clone().T()) }) }},
	{"assignments with and without evaluations, in one list", func(n *roundedNet) {
		NoGrad(func() {
			n.w.Assign(n.w.MulScalar(2))
			n.w.Assign(n.w.AddScalar(1))
			n.evaluate(BFloat16)
			n.w.Assign(n.w.AddScalar(-1))
		})
	}},
	{"an assignment before the list has run", func(n *roundedNet) {
		n.zero()
		loss := n.loss()
		loss.Backward()
		n.update(0.1)
		NoGrad(func() { n.w.Assign(n.w.Minimum(Full(0.5))) })
		n.out = append(n.out, n.loss().Data()...)
	}},
	{"memory", func(n *roundedNet) {
		if b := tensors.Memory(n.w); b != nil {
			copy(b, b[8:16])
		}
	}},
	{"memory that changes again and again", func(n *roundedNet) {
		b := tensors.Memory(n.b)
		for range 3 {
			if b != nil {
				b[3] ^= 0x80 // the sign of the first element
			}
			n.evaluate(BFloat16)
		}
	}},
	{"another tensor", func(n *roundedNet) {
		old := n.w
		n.w = Parameter(Randn(NewGenerator(9), 6, 6))
		old.Release()
	}},
	{"the rounded one is released, its gradient not yet computed", func(n *roundedNet) {
		loss := n.loss()
		old := n.b
		n.b = Parameter(Ones(6))
		old.Release()
		loss.Backward()
		n.zero()
	}},
	{"frozen and thawed", func(n *roundedNet) {
		n.w.SetRequiresGrad(false)
		n.w.SetRequiresGrad(true)
	}},
	{"frozen for a step", func(n *roundedNet) {
		n.w.SetRequiresGrad(false)
		n.step()
		n.w.SetRequiresGrad(true)
	}},
	{"frozen, changed and thawed", func(n *roundedNet) {
		n.w.SetRequiresGrad(false)
		n.evaluate(BFloat16)
		NoGrad(func() { n.w.Assign(n.w.MulScalar(0.5)) })
		n.w.SetRequiresGrad(true)
	}},
	{"frozen for three steps", func(n *roundedNet) {
		n.w.SetRequiresGrad(false)
		n.kernel.SetRequiresGrad(false)
		for range 3 {
			n.step()
		}
		n.w.SetRequiresGrad(true)
	}},
	{"frozen, with new data between steps", func(n *roundedNet) {
		n.w.SetRequiresGrad(false)
		for range 3 {
			n.step()
			n.w.SetData(scaledData(n.w, 1.5))
		}
		n.w.SetRequiresGrad(true)
	}},
	{"frozen, with assignments between steps and in a list of their own", func(n *roundedNet) {
		n.w.SetRequiresGrad(false)
		for i := range 4 {
			n.step()
			NoGrad(func() { n.w.Assign(n.w.MulScalar(0.75)) })
			if i%2 == 1 {
				Flush()
			}
		}
		n.w.SetRequiresGrad(true)
	}},
	{"frozen, an average of what trains", func(n *roundedNet) {
		average := Parameter(n.w.Clone().Detach())
		average.SetRequiresGrad(false)
		for range 3 {
			n.step()
			NoGrad(func() { average.Assign(average.MulScalar(0.5).Add(n.w.MulScalar(0.5))) })
			n.w, average = average, n.w
			n.evaluate(BFloat16)
			n.w, average = average, n.w
		}
	}},
	{"frozen, and assigned to another", func(n *roundedNet) {
		for range 2 {
			n.w.SetRequiresGrad(false)
			n.evaluate(BFloat16)
			NoGrad(func() {
				frozen := Parameter(n.w.MulScalar(2))
				frozen.SetRequiresGrad(false)
				n.w.Assign(frozen)
				n.evaluate(BFloat16)
				frozen.SetData(scaledData(frozen, 3))
				n.evaluate(BFloat16)
				frozen.Assign(n.w)
				n.w.Assign(n.w.AddScalar(0.125))
				frozen, n.w = n.w, frozen
				n.evaluate(BFloat16)
			})
			n.w.SetRequiresGrad(true)
		}
	}},
	{"frozen, its memory changed", func(n *roundedNet) {
		n.w.SetRequiresGrad(false)
		n.evaluate(BFloat16)
		for range 3 {
			if b := tensors.Memory(n.w); b != nil {
				b[3] ^= 0x80
			}
			n.evaluate(BFloat16)
		}
		n.w.SetRequiresGrad(true)
	}},
	{"frozen while other tensors share its memory", func(n *roundedNet) {
		before := n.w.Detach()
		n.w.SetRequiresGrad(false)
		n.step()
		after := n.w.Detach()
		after.SetData(scaledData(after, 2))
		before.SetData(scaledData(before, 3))
		n.step()
		NoGrad(func() { before.Assign(before.MulScalar(2)) })
		n.step()
		n.w.SetRequiresGrad(true)
	}},
	{"frozen and transposed", func(n *roundedNet) {
		n.w.SetRequiresGrad(false)
		NoGrad(func() { n.w.Assign(n.w.T().Clone().T()) })
		n.step()
		n.step()
		n.w.SetRequiresGrad(true)
	}},
	{"frozen, in other types and recomputed", func(n *roundedNet) {
		n.w.SetRequiresGrad(false)
		for _, d := range []DType{Float16, BFloat16, Float32, Float16} {
			n.cast = d
			n.step()
			NoGrad(func() {
				Recompute(func(in []*Tensor) *Tensor { return in[0].MatMul(in[1]).MatMul(n.w) }, n.y, n.w).Data()
			})
			n.zero()
			var loss *Tensor
			Autocast(d, func() {
				h := Recompute(func(in []*Tensor) *Tensor { return Linear(in[0], n.w, n.b).MatMul(in[1]) }, n.y, n.w)
				loss = h.Square().Mean()
			})
			loss.Backward()
			n.out = append(n.out, loss.Data()...)
		}
		n.w.SetRequiresGrad(true)
	}},
	{"frozen before the list has run", func(n *roundedNet) {
		n.zero()
		loss := n.loss()
		loss.Backward()
		n.update(0.1)
		n.w.SetRequiresGrad(false)
		n.step()
		n.w.SetRequiresGrad(true)
	}},
	{"frozen, and released in the list that reads it", func(n *roundedNet) {
		n.w.SetRequiresGrad(false)
		n.step()
		old := n.w
		n.zero()
		loss := n.loss()
		n.w = Parameter(Ones(6, 6))
		old.Release()
		loss.Backward()
		n.update(0.1)
		Flush()
	}},
	{"frozen, and a list that fails", func(n *roundedNet) {
		n.w.SetRequiresGrad(false)
		for range 2 {
			late := FromInts([]int{1, -7}, 2).Cast(Float32).MulScalar(1).Cast(Int32)
			if catch(func() {
				NoGrad(func() {
					n.evaluate(BFloat16)
					n.w.Assign(n.w.MulScalar(2).Add(Ones(3).IndexSelect(late).Sum()))
					n.evaluate(BFloat16)
				})
			}) == nil {
				panic("the index is out of range")
			}
			n.step()
		}
		n.w.SetRequiresGrad(true)
	}},
	{"frozen, in parts and traced", func(n *roundedNet) {
		n.w.SetRequiresGrad(false)
		locked(func(r *ir.Recorder) { r.Halved(true) })
		n.step()
		n.step()
		locked(func(r *ir.Recorder) { r.Halved(false) })
		locked(func(r *ir.Recorder) {
			t := r.Trace(nil)
			defer r.LetGo(t)
			defer r.EndTrace(t)
			n.evaluate(BFloat16)
			NoGrad(func() { n.w.Assign(n.w.MulScalar(2)) })
			n.evaluate(BFloat16)
		})
		n.w.SetRequiresGrad(true)
	}},
	{"evaluation", func(n *roundedNet) { n.evaluate(BFloat16) }},
	{"evaluations in other types", func(n *roundedNet) {
		for _, d := range []DType{Float32, Float16, BFloat16, Float16} {
			n.evaluate(d)
		}
	}},
	{"steps in another type", func(n *roundedNet) {
		for _, d := range []DType{Float16, Float32, Float32, BFloat16, Float16} {
			n.cast = d
			n.step()
		}
	}},
	{"a moving average, used and given back", func(n *roundedNet) {
		NoGrad(func() {
			before := n.w.Clone()
			n.w.Assign(n.w.MulScalar(0.9).Clone())
			Flush()
			n.evaluate(BFloat16)
			n.w.Assign(before)
			Flush()
		})
		n.evaluate(BFloat16)
	}},
	{"gradients of two batches", func(n *roundedNet) {
		n.zero()
		n.backward()
		n.x = n.x.MulScalar(1.5)
		n.backward()
		n.update(0.1)
		Flush()
	}},
	{"a step that the device skips", func(n *roundedNet) {
		NoGrad(func() {
			for _, p := range n.parameters() {
				p.Assign(Where(Zeros(), p.MulScalar(3), p))
			}
		})
		Flush()
	}},
	{"two optimizers", func(n *roundedNet) {
		for range 3 {
			n.zero()
			n.backward()
			n.update(0.1)
			Flush()
			n.update(0.01)
			Flush()
		}
	}},
	{"recomputed parts, with the weight as an input and not", func(n *roundedNet) {
		for range 2 {
			n.zero()
			var loss *Tensor
			Autocast(BFloat16, func() {
				x := n.y.Mul(n.y)
				h := Recompute(func(in []*Tensor) *Tensor { return Linear(in[0], n.w, n.b).Tanh() }, x)
				h = Recompute(func(in []*Tensor) *Tensor { return in[0].MatMul(in[1]).Tanh() }, h, n.w)
				loss = h.Sub(n.y).Square().Mean()
			})
			loss.Backward()
			n.update(0.1)
			n.out = append(n.out, loss.Data()...)
			Flush()
		}
	}},
	{"a list that fails", func(n *roundedNet) {
		late := FromInts([]int{1, -7}, 2).Cast(Float32).MulScalar(1).Cast(Int32)
		n.zero()
		err := catch(func() {
			n.loss().Backward()
			NoGrad(func() {
				wrong := Ones(3).IndexSelect(late).Sum()
				for _, p := range n.parameters() {
					p.Assign(p.Sub(p.Grad()).Add(wrong))
				}
			})
			n.b.Data()
		})
		if err == nil {
			panic("the index is out of range")
		}
		n.zero()
	}},
	{"a trace", func(n *roundedNet) {
		locked(func(r *ir.Recorder) {
			t := r.Trace(nil)
			defer r.LetGo(t)
			defer r.EndTrace(t)
			n.evaluate(BFloat16)
		})
	}},
	{"lists in parts", func(n *roundedNet) {
		locked(func(r *ir.Recorder) { r.Halved(true) })
		n.step()
		locked(func(r *ir.Recorder) { r.Halved(false) })
	}},
	{"loaded from a file", func(n *roundedNet) {
		for _, p := range n.parameters() {
			raw := FromRaw(Float32, p.Raw(), p.Shape()...)
			p.SetData(scaledData(raw, -1))
		}
	}},
}

// train makes steps around and after a change and returns all losses and parameters.
func (n *roundedNet) train(change func(n *roundedNet), recast bool) []float32 {
	locked(func(r *ir.Recorder) { r.Recast(recast) })
	defer locked(func(r *ir.Recorder) { r.Recast(false) })
	for range 2 {
		n.step()
	}
	change(n)
	n.evaluate(BFloat16)
	for range 3 {
		n.step()
	}
	for _, p := range n.parameters() {
		n.out = append(n.out, p.Data()...)
	}
	return n.out
}

func testRounded(t *testing.T) {

	t.Helper()
	for _, row := range roundedRows {
		want := newRoundedNet().train(row.change, true)
		got := newRoundedNet().train(row.change, false)
		same := func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }
		if !slices.EqualFunc(got, want, same) {
			t.Errorf("%s: %v, with new casts %v", row.name, got, want)
		}
	}
}

// What a training with automatic mixed precision computes does not depend on which casts of parameters are kept.
func TestRoundedParameters(t *testing.T) { testRounded(t) }
