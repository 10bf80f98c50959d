package tensor

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

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
