//go:build !race

package tensor

import (
	"math"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
)

// TestNormsOnCUDA compares norms with the sums and roundings around them, and their gradients, with
// the CPU's. On the GPU each norm is one step with what is around it, and gives the bits of separate
// steps.
func TestNormsOnCUDA(t *testing.T) {
	type in struct{ x, f, w, b, m *Tensor }
	layer := func(x *Tensor, in in) *Tensor { return LayerNorm(x, in.w, in.b, 1, 1e-5) }
	relu := func(x *Tensor) *Tensor {
		defer x.Release() // else it is computed for the handle
		return x.ReLU()
	}
	rms := func(x *Tensor, in in) *Tensor { return RMSNorm(x, in.w, 1, 1e-5) }
	for name, tt := range map[string]struct {
		f                 func(in in) *Tensor
		steps, of16, many int // of float32 and of 16 bits, and of float32 without fusion, each with the loss
	}{
		"before the branch": {func(in in) *Tensor {
			x := in.x.Add(in.f.MatMul(in.m))
			return x.Add(layer(x, in).MatMul(in.m))
		}, 13, 15, 19},
		"after the sum": {func(in in) *Tensor {
			x := layer(in.x.Add(in.f.MatMul(in.m)), in)
			return layer(x.Add(x.MatMul(in.m)), in)
		}, 15, 17, 24},
		"batch norm and ReLU": {func(in in) *Tensor {
			x := in.x.Reshape(10, -1)
			y := relu(BatchNorm(x, in.w, in.b, Zeros(x.Size(1)), Ones(x.Size(1)), .1, 1e-5, true))
			return y.MatMul(in.m).Reshape(in.x.Shape()...)
		}, 12, 16, 21},
		"batch norm and ReLU of data": {func(in in) *Tensor {
			x := in.x.Reshape(10, -1).Detach()
			y := relu(BatchNorm(x, in.w, in.b, Zeros(x.Size(1)), Ones(x.Size(1)), .1, 1e-5, true))
			return y.MatMul(in.m).Reshape(in.x.Shape()...)
		}, 11, 15, 20},
		"RMS of three":      {func(in in) *Tensor { return rms(in.x.Add(in.f.MatMul(in.m)).Add(in.f), in).MatMul(in.m) }, 14, 15, 19},
		"sums in 16 bits":   {func(in in) *Tensor { return rms(in.f.MatMul(in.m).Add(in.f.Add(in.x).MatMul(in.m)), in).MatMul(in.m) }, 18, 19, 23},
		"only parameters":   {func(in in) *Tensor { return layer(in.f.Detach(), in).MatMul(in.m.Detach()) }, 8, 9, 10},
		"a norm of a norm":  {func(in in) *Tensor { return layer(rms(in.x, in).Add(in.f), in) }, 9, 9, 14},
		"without gradients": {func(in in) *Tensor { return layer(in.x.Detach().Add(in.f.Detach()), in).Detach() }, 1, 1, 2},
	} {
		for _, d := range []DType{Float32, BFloat16, Float16} {
			for _, width := range []int{16, 13, 1} {
				if width == 1 && d != Float32 {
					continue // the gradients are rounding errors
				}
				run := func() (got []float64, steps int) {
					g := NewGenerator(7)
					in := in{x: Parameter(Randn(g, 2, 5, width)), f: Parameter(Randn(g, 2, 5, width)), w: Parameter(Randn(g, width)), b: Parameter(Randn(g, width)),
						m: Parameter(Randn(g, width, width).MulScalar(.3))}
					slope := Randn(g, 2, 5, width)
					Flush()
					tensors.ResetStats()
					var y *Tensor
					Autocast(d, func() { y = tt.f(in) })
					if y.RequiresGrad() {
						y.Cast(Float32).Mul(slope).Sum().Backward()
					}
					Flush()
					steps = tensors.Stats().Steps
					got = y.Cast(Float64).Float64s()
					for _, p := range []*Tensor{in.x, in.f, in.w, in.b, in.m} {
						if p.Grad() != nil {
							got = append(got, p.Grad().Cast(Float64).Float64s()...)
						}
					}
					return got, steps
				}
				want, _ := run()
				within := map[DType]float64{Float32: 2e-5, BFloat16: 1. / 24, Float16: 1. / 192}[d]
				onCUDA(t, func() {
					got, steps := run()
					for i, g := range got {
						if w := want[i]; width > 1 && !(math.Abs(g-w) <= within*math.Max(1, math.Abs(w))) {
							t.Errorf("%s in %v of %d: element %d is %v, on the CPU %v", name, d, width, i, g, w)
							break
						}
					}
					if d != Float32 {
						if steps != tt.of16 && width == 16 {
							t.Errorf("%s in %v: %d steps, want %d", name, d, steps, tt.of16)
						}
						return
					}
					setUnfused(true)
					alone, many := run()
					setUnfused(false)
					for i, g := range got {
						if math.Float64bits(g) != math.Float64bits(alone[i]) {
							t.Errorf("%s of %d: element %d is %v, without fusion %v", name, width, i, g, alone[i])
							break
						}
					}
					if width == 16 && (steps != tt.steps || many != tt.many) {
						t.Errorf("%s: %d steps and %d without fusion, want %d and %d", name, steps, many, tt.steps, tt.many)
					}
				})
			}
		}
	}
}
