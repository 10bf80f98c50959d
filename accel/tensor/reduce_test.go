package tensor

import (
	"errors"
	"math"
	"slices"
	"testing"
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
