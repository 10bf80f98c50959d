package tensor

import (
	"errors"
	"math"
	"slices"
	"testing"
)

// Values and gradients of torch.amax and torch.amin, of all elements and over several axes; equal elements share the
// gradient.
func TestMaxOverAxes(t *testing.T) {
	third := float32(1) / 3
	weights := New([]float32{1, 2}, 2)
	for name, c := range map[string]struct {
		f        func(x *Tensor) *Tensor
		value    float64
		gradient []float32
	}{
		"Max()":     {func(x *Tensor) *Tensor { return x.Max() }, 7, []float32{0, third, 0, third, 0, 0, 0, 0, 0, 0, 0, third}},
		"Max(0, 2)": {func(x *Tensor) *Tensor { return x.Max(0, 2).Mul(weights).Sum() }, 21, []float32{0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1}},
		"Min()":     {func(x *Tensor) *Tensor { return x.Min() }, -9, []float32{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0}},
		"Min(-1, 1)": {func(x *Tensor) *Tensor { return x.Min(-1, 1).Mul(weights).Sum() }, -18,
			[]float32{0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 2, 0}},
	} {
		x := Parameter(New([]float32{1, 7, 3, 7, 2, 0, -1, 4, 4, 5, -9, 7}, 2, 2, 3))
		y := c.f(x)
		y.Backward()
		if got := x.Grad().Data(); y.Item() != c.value || !slices.EqualFunc(got, c.gradient, func(a, b float32) bool { return math.Abs(float64(a-b)) < 1e-6 }) {
			t.Errorf("%s is %v with the gradient %v, want %v and %v", name, y.Item(), got, c.value, c.gradient)
		}
	}
	if y := New([]float32{3}).Max(); y.NDim() != 0 || y.Item() != 3 {
		t.Errorf("of a scalar: %v", y)
	}
	if y := New([]float32{1, float32(math.NaN()), 3, 2}, 2, 2).Max(); !math.IsNaN(y.Item()) {
		t.Errorf("with a NaN: %v", y)
	}
	for name, f := range map[string]func(){
		"no elements": func() { Zeros(0, 2).Max() }, "twice": func() { Zeros(2, 2).Min(0, -2) }, "no axis 2": func() { Zeros(2, 2).Max(0, 2) },
	} {
		func() {
			defer func() {
				var shape *ShapeError
				if err, ok := recover().(error); !ok || !errors.As(err, &shape) {
					t.Errorf("%s: no ShapeError", name)
				}
			}()
			f()
		}()
	}
}
