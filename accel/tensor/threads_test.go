package tensor

import (
	"slices"
	"testing"
)

// TestStepsSameBitsOnAnyNumberOfThreads compares results and gradients of ops that split their
// work, at sizes that make several parts.
func TestStepsSameBitsOnAnyNumberOfThreads(t *testing.T) {
	pair := [2]int{3, 3}
	for name, f := range map[string]func(x, w *Tensor) *Tensor{
		"LayerNorm": func(x, w *Tensor) *Tensor { return LayerNorm(x, w, w, 1, 1e-5) },
		"RMSNorm":   func(x, w *Tensor) *Tensor { return RMSNorm(x, w, 1, 1e-5) },
		"BatchNorm": func(x, w *Tensor) *Tensor { return BatchNorm(x, nil, nil, nil, nil, 0.1, 1e-5, true).Mul(w) },
		"MaxPool2D": func(x, w *Tensor) *Tensor { return MaxPool2D(x.Mul(w), pair, Window{Stride: [2]int{1, 1}}) },
		"AvgPool2D": func(x, w *Tensor) *Tensor { return AvgPool2D(x.Mul(w), pair, Window{Stride: [2]int{2, 2}}) },
		"CumSum":    func(x, w *Tensor) *Tensor { return x.Mul(w).CumSum(3) },
		"LogSumExp": func(x, w *Tensor) *Tensor { return x.Mul(w).LogSumExp(3) },
		"MatMul":    func(x, w *Tensor) *Tensor { return x.Mul(w).MatMul(x.MT()) },
		"Embedding": func(x, w *Tensor) *Tensor { return Embedding(x, FromInts([]int{4, 1, 4, 4, 0}, 5)).Mul(w) },
		"float64":   func(x, w *Tensor) *Tensor { return x.Cast(Float64).MatMul(w.Cast(Float64).Reshape(33, 1)).Exp() },
	} {
		var want []float32
		for _, threads := range []int{1, 2, 5} {
			withThreads(threads, func() {
				g := NewGenerator(6)
				x, w := Parameter(Randn(g, 40, 7, 11, 33)), Parameter(Randn(g, 33))
				y := f(x, w)
				y.Mul(y).Mean().Backward()
				got := slices.Concat(y.Data(), x.Grad().Data(), w.Grad().Data())
				if want == nil {
					want = got
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s: %d threads give other bits than 1", name, threads)
				}
			})
		}
	}
}
