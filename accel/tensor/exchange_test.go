package tensor

import (
	"slices"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
)

// TestExchange compares gradients with those of ops whose values and gradients the functions of the
// exchange compute: reading elements in both, as an exchange with other processes does.
func TestExchange(t *testing.T) {
	scaled := func(by float64) func(x *Tensor) *Tensor {
		return func(x *Tensor) *Tensor {
			values := x.Float64s()
			for i := range values {
				values[i] *= by
			}
			return FromFloat64s(values, x.Shape()...).Cast(x.DType())
		}
	}
	for _, c := range []struct {
		name              string
		forward, backward func(x *Tensor) *Tensor
		value, slope      float64
	}{
		{"identity", nil, nil, 1, 1},
		{"f", nil, scaled(3), 1, 3},
		{"g", scaled(2), nil, 2, 1},
		{"both", scaled(2), scaled(5), 2, 5},
		{"unchanged", func(x *Tensor) *Tensor { return x }, func(x *Tensor) *Tensor { return x }, 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, recomputed := range []bool{false, true} {
				w, x := Parameter(New([]float32{1, 2, 3, 4}, 2, 2)), New([]float32{1, -1, 2, 0.5}, 2, 2)
				model := func(in []*Tensor) *Tensor {
					h := in[0].MatMul(w)
					return tensors.Exchange(h.Add(h), c.forward, c.backward).MatMul(w)
				}
				var y *Tensor
				if recomputed {
					y = Recompute(model, x)
				} else {
					y = model([]*Tensor{x})
				}
				y.Sum().Backward()
				// y = value·2xw·w, and the gradient through the exchange has another slope.
				v := Parameter(New([]float32{1, 2, 3, 4}, 2, 2))
				h := x.MatMul(v)
				h = h.Add(h)
				through := h.MulScalar(c.slope)
				through = through.Add(h.MulScalar(c.value - c.slope).Detach())
				want := through.MatMul(v)
				want.Sum().Backward()
				if !slices.Equal(y.Data(), want.Data()) || !slices.Equal(w.Grad().Data(), v.Grad().Data()) {
					t.Errorf("recomputed %v: y is %v with the gradient %v, want %v with %v", recomputed, y.Data(), w.Grad().Data(), want.Data(), v.Grad().Data())
				}
			}
		})
	}
	x := New([]float32{1}, 1)
	if tensors.Exchange(x, nil, nil).RequiresGrad() {
		t.Error("a gradient flows into a tensor that requires none")
	}
}
