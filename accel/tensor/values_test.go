package tensor

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

func TestConcatOfMany(t *testing.T) {
	for _, n := range []int{1, 255, 256, 257} {
		parts := make([]*Tensor, n)
		for i := range parts {
			parts[i] = Full(float64(i), 1)
		}
		if got := Concat(0, parts...).Data(); len(got) != n || got[n-1] != float32(n-1) {
			t.Errorf("%d parts give %d elements", n, len(got))
		}
	}
}

func TestNaNAndInf(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	x := New([]float32{nan, inf, -inf, 0}, 4)
	y := New([]float32{1, 1, 1, 1}, 4)
	for _, row := range []struct {
		name string
		got  []float32
		want []float32
	}{
		{"ReLU", x.ReLU().Data(), []float32{nan, inf, 0, 0}},
		{"Maximum", x.Maximum(y).Data(), []float32{nan, inf, 1, 1}},
		{"Maximum turned", y.Maximum(x).Data(), []float32{nan, inf, 1, 1}},
		{"Exp", x.Exp().Data(), []float32{nan, inf, 0, 1}},
		{"Tanh", x.Tanh().Data(), []float32{nan, 1, -1, 0}},
		{"Sigmoid", x.Sigmoid().Data(), []float32{nan, 1, 0, 0.5}},
		{"GELU", x.GELU().Data(), []float32{nan, inf, 0, 0}},
		{"GELUTanh", x.GELUTanh().Data(), []float32{nan, inf, nan, 0}}, // as in torch
		{"Log", x.Log().Data(), []float32{nan, inf, nan, -inf}},
		{"Sqrt", x.Sqrt().Data(), []float32{nan, inf, nan, 0}},
		{"Sign", x.Sign().Data(), []float32{0, 1, -1, 0}},
		{"Eq", x.Eq(x).Data(), []float32{0, 1, 1, 1}},
		{"Max", x.Max(0).Data(), []float32{nan}},
		{"Sum", x.Sum().Data(), []float32{nan}},
		{"Softmax", New([]float32{1000, 0, -inf, -1000}, 4).Softmax(0).Data(), []float32{1, 0, 0, 0}},
	} {
		for i, w := range row.want {
			if g := row.got[i]; g != w && (g == g || w == w) {
				t.Errorf("%s: element %d is %v, want %v", row.name, i, g, w)
			}
		}
	}
	if got := x.ArgMax(0).Ints()[0]; got != 0 {
		t.Errorf("ArgMax of NaN: %d, want 0", got)
	}
	if got := New([]float32{1, nan, -inf, nan, 2, 0, 0, 3}, 2, 4).ArgMin(1).Ints(); !slices.Equal(got, []int{1, 1}) {
		t.Errorf("ArgMin: %v, want [1 1]: the first NaN, and the first of two", got)
	}
}

func TestCast(t *testing.T) {
	x := New([]float32{-1.5, 0, 2.75, 300}, 4)
	for _, row := range []struct {
		to   DType
		want []float64
	}{
		{Float32, []float64{-1.5, 0, 2.75, 300}},
		{Float64, []float64{-1.5, 0, 2.75, 300}},
		{Int32, []float64{-1, 0, 2, 300}},
		{Int64, []float64{-1, 0, 2, 300}},
		{Bool, []float64{1, 0, 1, 1}},
	} {
		y := x.Cast(row.to)
		if got := y.Float64s(); y.DType() != row.to || !slices.Equal(got, row.want) {
			t.Errorf("%v: %v, want %v", row.to, got, row.want)
		}
		if got := y.Cast(Float32).MulScalar(1).Float64s(); !slices.Equal(got, row.want) {
			t.Errorf("%v and back: %v, want %v", row.to, got, row.want)
		}
	}
	pixels := FromBytes([]uint8{0, 51, 255}, 3)
	if got := pixels.Cast(Float32).MulScalar(1. / 255).Data(); !slices.Equal(got, []float32{0, float32(1./255) * 51, 1}) {
		t.Errorf("pixels: %v", got)
	}
	big := FromInts([]int{1<<24 + 1, 1 << 24}, 2)
	if got := big.Slice(0, 0, 1).Eq(big).Data(); !slices.Equal(got, []float32{1, 0}) {
		t.Errorf("integers are compared as floats: %v", got)
	}
}

// TestSort has the results of torch.sort with stable=True and of torch.topk.
func TestSort(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	long := make([]float64, 300)
	for i := range long {
		long[i] = float64(i * 7 % 50)
	}
	byLong := func(descending bool) []int {
		order := Arange(0, 300, 1, Int32).Ints()
		slices.SortStableFunc(order, func(a, b int) int {
			if descending {
				a, b = b, a
			}
			return int(long[a] - long[b])
		})
		return order
	}
	for _, row := range []struct {
		data       []float64
		k          int
		descending bool
		want       []int
	}{
		{[]float64{1, nan, -2, nan}, 4, false, []int{2, 0, 1, 3}},
		{[]float64{1, nan, -2, nan}, 4, true, []int{1, 3, 0, 2}},
		{[]float64{1, nan, -2, nan}, 3, true, []int{1, 3, 0}},
		{[]float64{inf, 0, math.Copysign(0, -1), 0, -inf}, 5, false, []int{4, 1, 2, 3, 0}},
		{[]float64{2, 1, 2, 1}, 4, true, []int{0, 2, 1, 3}},
		{[]float64{5}, 0, true, nil},
		{nil, 0, false, nil},
		{long, 300, false, byLong(false)},
		{long, 300, true, byLong(true)},
		{long, 20, false, byLong(false)[:20]},
	} {
		for _, d := range []DType{Float32, Float64, Float16, BFloat16, Int32} {
			if d == Int32 && slices.ContainsFunc(row.data, func(v float64) bool { return v != math.Trunc(v) || math.IsInf(v, 0) }) {
				continue
			}
			x := FromFloat64s(row.data, len(row.data)).Cast(d)
			values, indices := x.TopK(row.k, 0, row.descending)
			if row.k == len(row.data) {
				values, indices = x.Sort(-1, row.descending)
			}
			got := indices.Ints()
			if values.DType() != d || indices.DType() != Int32 || !slices.Equal(got, row.want) && len(got)+len(row.want) > 0 {
				t.Errorf("%d of %v in %v: %v, want %v", row.k, row.data, d, got, row.want)
			}
			for i, v := range values.Float64s() {
				if w := row.data[got[i]]; v != w && (v == v || w == w) {
					t.Errorf("%d of %v in %v: value %d is %v, want %v", row.k, row.data, d, i, v, w)
				}
			}
		}
	}
}

func TestArange(t *testing.T) {
	for _, row := range []struct {
		start, end, step float64
		want             []float64
	}{
		{0, 5, 1, []float64{0, 1, 2, 3, 4}},
		{5, 1, -2, []float64{5, 3}},
		{7, 7, 1, nil},
		{7, 7, -1, nil},
		{0, 255.5, 255, []float64{0, 255}},
	} {
		for _, d := range []DType{Float32, Float64, Float16, BFloat16, Int32, Int64, Uint8} {
			y := Arange(row.start, row.end, row.step, d)
			if got := y.Float64s(); y.DType() != d || y.NDim() != 1 || !slices.Equal(got, row.want) && len(got)+len(row.want) > 0 {
				t.Errorf("from %v to %v by %v: %v, want %v in %v", row.start, row.end, row.step, y, row.want, d)
			}
		}
	}
	if got := Arange(1, 2.5, 0.5, Float32).Data(); !slices.Equal(got, []float32{1, 1.5, 2}) {
		t.Errorf("halves: %v", got)
	}
	if n := Arange(0, 1, 0.1, Float64).Numel(); n != 10 {
		t.Errorf("%d tenths", n)
	}
}

func TestString(t *testing.T) {
	for _, row := range []struct {
		t    *Tensor
		want string
	}{
		{Full(1.5), "float32[] 1.5"},
		{FromInts([]int{1, -2}, 2), "int32[2] [1 -2]"},
		{New([]float32{1, 2, 3, 4}, 2, 2), "float32[2×2]\n[[1 2]\n [3 4]]"},
		{Zeros(0), "float32[0] []"},
	} {
		if got := row.t.String(); got != row.want {
			t.Errorf("got %q, want %q", got, row.want)
		}
	}
	if got := Zeros(1<<40, 0).String(); len(got) > 100 {
		t.Errorf("no elements, in %d characters", len(got))
	}
	big := Zeros(100, 100).String()
	if want := "[[0 0 0 … 0 0 0]\n [0 0 0 … 0 0 0]"; !strings.Contains(big, want) || strings.Count(big, "\n") > 8 {
		t.Errorf("a big tensor: %s", big)
	}
}

func TestDTypeSizes(t *testing.T) {
	for d, want := range map[DType]string{Float32: "float32 4", Float64: "float64 8", Int32: "int32 4", Int64: "int64 8", Uint8: "uint8 1", Bool: "bool 1", Float16: "float16 2", BFloat16: "bfloat16 2"} {
		if got := d.String() + " " + string(rune('0'+d.Size())); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestCompareWithScalar compares tensors of each type with numbers that their type does not have.
func TestCompareWithScalar(t *testing.T) {
	const large = 1<<24 + 1 // not a float32
	for _, tt := range []struct {
		name string
		got  *Tensor
		want []float32
	}{
		{"float32 rounds the number", New([]float32{0.1, 0.2}, 2).EqScalar(0.1), []float32{1, 0}},
		{"float64", FromFloat64s([]float64{0.1, 0.1 + 1e-12}, 2).GreaterScalar(0.1), []float32{0, 1}},
		{"int32", FromInts([]int{large - 1, large}, 2).EqScalar(large), []float32{0, 1}},
		{"fraction", FromInts([]int{2, 3}, 2).GreaterScalar(2.5), []float32{0, 1}},
		{"negative fraction", FromInts([]int{-3, -2}, 2).LessScalar(-2.5), []float32{1, 0}},
		{"bytes below 0", FromBytes([]byte{0, 255}, 2).GreaterScalar(-1), []float32{1, 1}},
		{"bytes above 255", FromBytes([]byte{0, 255}, 2).LessScalar(256), []float32{1, 1}},
		{"int64", FromInts([]int{-100, 3}, 2).Cast(Int64).EqScalar(-100), []float32{1, 0}},
		{"bool", New([]float32{0, 2}, 2).Cast(Bool).EqScalar(1), []float32{0, 1}},
	} {
		if got := tt.got.Data(); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestFloat16Ops compares ops of 16-bit floats with the rounded results of float32 ops.
func TestFloat16Ops(t *testing.T) {
	for d, round := range map[DType]func(float32) float32{
		Float16:  func(f float32) float32 { return tensortype.Float16Value(tensortype.Float16Bits(f)) },
		BFloat16: func(f float32) float32 { return tensortype.BFloat16Value(tensortype.BFloat16Bits(f)) },
	} {
		g := NewGenerator(3)
		rounded := func(x *Tensor) []float32 {
			v := x.Data()
			for i := range v {
				v[i] = round(v[i])
			}
			return v
		}
		x, y := Randn(g, 5, 7), Randn(g, 5, 7)
		hx, hy := x.Cast(d), y.Cast(d)
		if !slices.Equal(hx.Data(), rounded(x)) || hx.DType() != d {
			t.Fatalf("%s: Cast does not round", d)
		}
		wx, wy := hx.Cast(Float32), hy.Cast(Float32)
		for _, row := range []struct {
			name      string
			got, want *Tensor
		}{
			{"Add", hx.Add(hy), wx.Add(wy)},
			{"Exp", hx.Exp(), wx.Exp()},
			{"transposed product", hx.T().MatMul(hy), wx.T().MatMul(wy)},
			{"Linear", Linear(hx, hy, nil), Linear(wx, wy, nil)},
			{"Sum", hx.Sum(1), wx.Sum(1)},
			{"Softmax", hx.Softmax(0), wx.Softmax(0)},
			{"Where", Where(wx.Greater(wy), hx, hy), Where(wx.Greater(wy), wx, wy)},
			{"Slice", hx.Slice(1, 2, 5).Clone(), wx.Slice(1, 2, 5)},
			{"Concat", Concat(0, hx, hy), Concat(0, wx, wy)},
			{"IndexSelect", hx.IndexSelect(FromInts([]int{4, 0}, 2)), wx.IndexSelect(FromInts([]int{4, 0}, 2))},
			{"LayerNorm", LayerNorm(hx, nil, nil, 1, 1e-5), LayerNorm(wx, nil, nil, 1, 1e-5)},
		} {
			if row.got.DType() != d {
				t.Errorf("%s of %s is %s", row.name, d, row.got.DType())
			}
			if got, want := row.got.Data(), rounded(row.want); !slices.Equal(got, want) {
				t.Errorf("%s of %s: %v, want %v", row.name, d, got, want)
			}
		}
		if m := hx.Greater(hy); m.DType() != Float32 || !slices.Equal(m.Data(), wx.Greater(wy).Data()) {
			t.Errorf("%s: Greater is %v", d, m)
		}
		if z := hx.Mul(y); z.DType() != Float32 {
			t.Errorf("%s by float32 is %s", d, z.DType())
		}
		if s := Full(1.5).Cast(d).String(); s != d.String()+"[] 1.5" {
			t.Errorf("String is %q", s)
		}
		z := Zeros(2).Cast(d)
		z.SetData([]float32{1.0009, 3})
		if got := z.Data(); got[0] != round(1.0009) || got[1] != 3 {
			t.Errorf("SetData gives %v", got)
		}
	}
}

// TestFloat16Gradients computes gradients through ops of 16-bit floats, which round them too, and
// updates a parameter.
func TestFloat16Gradients(t *testing.T) {
	for _, d := range []DType{Float16, BFloat16} {
		g := NewGenerator(4)
		w, x := Parameter(Randn(g, 3, 4)), Randn(g, 2, 4)
		f := func(w, x *Tensor) *Tensor {
			y := Linear(x, w, nil)
			return y.Mul(y.Slice(0, 0, 1)).Add(y).Mean()
		}
		f(w.Cast(d), x.Cast(d)).Backward()
		got := w.Grad().Clone()
		v := Parameter(w.Detach().Clone())
		f(v, x).Backward()
		compare(t, d.String(), got, fromTensor(v.Grad()), 0.03)
		p := Parameter(Ones(4).Cast(d))
		p.Square().Sum().Backward()
		NoGrad(func() { p.Assign(p.Sub(p.Grad().MulScalar(0.25))) })
		if got := p.Data(); p.DType() != d || got[0] != 0.5 {
			t.Errorf("%s: a parameter becomes %v", d, p)
		}
	}
	big := New([]float32{65536, 1e-9}, 2).Cast(Float16).Data()
	if !math.IsInf(float64(big[0]), 1) || big[1] != 0 {
		t.Errorf("out of range: %v", big)
	}
}

func TestMixedTypesAreRefused(t *testing.T) {
	var dtype *DTypeError
	for name, f := range map[string]func(){
		"float32 and float64": func() { Ones(2).Add(Ones(2).Cast(Float64)) },
		"float16 and float64": func() { Ones(2).Cast(Float16).Mul(Ones(2).Cast(Float64)) },
		"integers":            func() { FromInts([]int{1}, 1).Add(Ones(1)) },
		"no such type":        func() { Ones(2).Cast(99) },
	} {
		if err := catch(f); !errors.As(err, &dtype) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
