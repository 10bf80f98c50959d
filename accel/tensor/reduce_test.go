package tensor

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

func TestOneHot(t *testing.T) {
	got := FromInts([]int{2, 0, 1, 2}, 2, 2).Cast(Uint8).OneHot(3)
	compare(t, "", got, array{[]int{2, 2, 3}, []float64{0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1}}, 0)
	var index *IndexError
	if err := catch(func() { FromInts([]int{3}, 1).OneHot(3) }); !errors.As(err, &index) || index.Index != 3 {
		t.Errorf("got %v", err)
	}
	late := FromInts([]int{-1}, 1).Cast(Float32).MulScalar(1).Cast(Int32).OneHot(3)
	if err := catch(func() { late.Data() }); !errors.As(err, &index) {
		t.Errorf("got %v", err)
	}
}

func TestSpecialReductions(t *testing.T) {
	inf := float32(math.Inf(1))
	x := New([]float32{-inf, -inf, 1000, 1000, inf, 0}, 3, 2)
	want := []float64{math.Inf(-1), 1000 + math.Ln2, math.Inf(1)}
	for i, g := range x.LogSumExp(1).Float64s() {
		if w := want[i]; g != w && !(math.Abs(g-w) <= 1e-4) {
			t.Errorf("LogSumExp %d is %v, want %v", i, g, w)
		}
	}
	p := Parameter(Zeros(3))
	n := p.Norm()
	n.Backward()
	if n.Item() != 0 || !slices.Equal(p.Grad().Data(), []float32{0, 0, 0}) {
		t.Errorf("the norm of zeros is %v with gradient %v", n.Item(), p.Grad())
	}
	if v := Ones(1).Var(1).Item(); v == v {
		t.Errorf("the variance of one element is %v", v)
	}
	q := Parameter(New([]float32{-1, 0, 0.5, 1, 2}, 5))
	q.Clamp(0, 1).Sum().Backward()
	if got := q.Grad().Data(); !slices.Equal(got, []float32{0, 0, 1, 0, 0}) { // torch 2.15, also at the bounds
		t.Errorf("Clamp's gradient is %v", got)
	}
}

func TestNoSlopeAtZero(t *testing.T) {
	for _, d := range []DType{Float32, Float64} {
		for name, f := range map[string]func(*Tensor) *Tensor{
			"Std":  func(x *Tensor) *Tensor { return x.Std(1, 1) },
			"Norm": func(x *Tensor) *Tensor { return x.Sub(Full(3, 1).Cast(d)).Norm(1) },
		} {
			p := Parameter(New([]float32{3, 3, 3, 4, 5, 3}, 2, 3).Cast(d).Detach().Clone())
			f(p).Sum().Backward()
			got := p.Grad().Float64s()
			for i, g := range got {
				if i < 3 && g != 0 || math.IsNaN(g) {
					t.Errorf("%s of %v: the gradient is %v; it is 0 where all numbers are equal", name, d, got)
					break
				}
			}
		}
	}
}

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

// TestMeanOfEqualNumbers demands that the mean of equal numbers is that number, and their deviation 0,
// along each axis, for any count and whichever column it is.
func TestMeanOfEqualNumbers(t *testing.T) {
	check := func(what string, x *Tensor, want float64, axes ...int) {
		t.Helper()
		for i, v := range x.Mean(axes...).Float64s() {
			if v != want {
				t.Errorf("%s: mean %d of %v is %v", what, i, want, v)
				return
			}
		}
		for i, v := range x.Std(0, axes...).Float64s() {
			if v != 0 {
				t.Errorf("%s: deviation %d of %v is %v", what, i, want, v)
				return
			}
		}
	}
	for _, number := range []float64{1, 0.1, 3, -7.3, 1e6, 1e30, 1e-30, 1.9999999} {
		for _, double := range []bool{false, true} {
			v, full := float64(float32(number)), func(shape ...int) *Tensor { return Full(number, shape...) }
			if double {
				v, full = number, func(shape ...int) *Tensor {
					values := make([]float64, ir.Len(shape))
					for i := range values {
						values[i] = number
					}
					return FromFloat64s(values, shape...)
				}
			}
			for n := 1; n <= 200; n++ {
				check("all", full(n), v)
			}
			for _, n := range []int{1023, 1025, 3001, 8193, 20011} {
				check("all", full(n), v)
				check("rows", full(3, n), v, 1)
				check("columns", full(7, n), v, 0)
			}
			for _, columns := range []int{1, 2, 3, 7, 15, 16, 17, 33, 64, 65, 100, 257, 300} {
				check("columns", full(1203, columns), v, 0)
				check("rows", full(5, columns), v, 1)
			}
			check("middle", full(3, 41, 5), v, 1)
			check("two axes", full(3, 41, 5, 7), v, 0, 2)
			for _, k := range []int{1, 2, 3, 5, 7} {
				for i, got := range AvgPool2D(full(1, 2, 15, 15), [2]int{k, k}, Window{Stride: [2]int{k, k}}).Float64s() {
					if got != v {
						t.Errorf("window %d of %d×%d: %v, want %v", i, k, k, got, v)
						break
					}
				}
			}
		}
	}
	check("a long table", Full(0.1, 200000, 2), float64(float32(0.1)), 0)
	check("a long table", Full(0.1, 200000, 15), float64(float32(0.1)), 0)
	check("a wide table", Full(0.1, 20000, 130), float64(float32(0.1)), 0)
}

// TestSumErrors compares sums of all shapes with float64: the error is a few units in the last place of
// the sum of absolute values, however many elements are added.
func TestSumErrors(t *testing.T) {
	for _, s := range [][3]int{{1, 1000000, 1}, {3, 100001, 1}, {1, 200000, 3}, {1, 50000, 65}, {2, 9001, 100}, {1, 3000, 2100}, {5000, 1025, 1}} {
		x := Randn(NewGenerator(3), s[0], s[1], s[2]).Square()
		values := x.Float64s()
		sums, means := x.Sum(1).Float64s(), x.Mean(1).Float64s()
		for i := range sums {
			want := 0.0
			for r := range s[1] {
				want += values[(i/s[2]*s[1]+r)*s[2]+i%s[2]]
			}
			if n := float64(s[1]); math.Abs(sums[i]-want) > 2e-7*want || math.Abs(means[i]-want/n) > 2e-7*want/n {
				t.Errorf("%v: sum %d is %v and the mean %v, want %v", s, i, sums[i], means[i], want)
				break
			}
		}
	}
}

// TestColumnsOfNarrowTables compares the deviation of values far from 0 with float64.
func TestColumnsOfNarrowTables(t *testing.T) {
	g := NewGenerator(9)
	for _, columns := range []int{1, 2, 5, 15, 16, 20, 64, 65} {
		const rows = 50000
		x := Randn(g, rows, columns).AddScalar(100000)
		values := x.Float64s()
		means, deviations := x.Mean(0).Float64s(), x.Std(1, 0).Float64s()
		for c := range columns {
			mean, squares := 0.0, 0.0
			for r := range rows {
				mean += values[r*columns+c] / rows
			}
			for r := range rows {
				squares += (values[r*columns+c] - mean) * (values[r*columns+c] - mean)
			}
			want := math.Sqrt(squares / (rows - 1))
			if math.Abs(means[c]-mean) > 0.05 || math.Abs(deviations[c]-want) > 1e-3 {
				t.Errorf("column %d of %d: %v ± %v, want %v ± %v", c, columns, means[c], deviations[c], mean, want)
				break
			}
		}
	}
}
