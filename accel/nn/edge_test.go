package nn_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// finiteAll reports elements that are not finite.
func finiteAll(t *testing.T, what string, x *tensor.Tensor) {
	t.Helper()
	for i, v := range x.Cast(tensor.Float32).Data() {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			t.Errorf("%s: element %d is %v", what, i, v)
			return
		}
	}
}

// TestLossesOfConstants computes losses and their gradients of zero and constant predictions, for a single
// example, a single class and 16-bit floats. The values are those of the definitions.
func TestLossesOfConstants(t *testing.T) {
	classes := func(n int) *tensor.Tensor { return tensor.FromInts(make([]int, n), n) }
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float16, tensor.BFloat16, tensor.Float64} {
		for _, n := range []int{1, 3} {
			for _, v := range []float64{0, 1, -2} {
				for _, c := range []int{1, 4} {
					for _, row := range []struct {
						name   string
						loss   nn.Loss
						target *tensor.Tensor
						want   float64
					}{
						{"CrossEntropy", nn.CrossEntropy, classes(n), math.Log(float64(c))},
						{"CrossEntropyLoss", nn.CrossEntropyLoss(nn.LabelSmoothing(0.1)), classes(n), math.Log(float64(c))},
						{"BCEWithLogits", nn.BCEWithLogits, tensor.Ones(n, c).Cast(d), math.Log1p(math.Exp(-v))},
						{"FocalLoss", nn.FocalLoss(0, -1), tensor.Ones(n, c).Cast(d), math.Log1p(math.Exp(-v))},
						{"MSE", nn.MSE, tensor.Ones(n, c).Cast(d), (v - 1) * (v - 1)},
						{"L1", nn.L1, tensor.Ones(n, c).Cast(d), math.Abs(v - 1)},
						{"SmoothL1Loss", nn.SmoothL1Loss(1), tensor.Ones(n, c).Cast(d), map[float64]float64{0: 0.5, 1: 0, -2: 2.5}[v]},
						{"HuberLoss", nn.HuberLoss(1), tensor.Ones(n, c).Cast(d), map[float64]float64{0: 0.5, 1: 0, -2: 2.5}[v]},
					} {
						what := fmt.Sprintf("%s of %v [%d %d] %v", row.name, v, n, c, d)
						x := tensor.Parameter(tensor.Full(v, n, c).Cast(d))
						loss := row.loss(x, row.target)
						got := float64(loss.Cast(tensor.Float32).Data()[0])
						tolerance := map[tensor.DType]float64{tensor.Float16: 2e-3, tensor.BFloat16: 2e-2}[d] + 1e-5
						if !(math.Abs(got-row.want) <= tolerance*(1+row.want)) {
							t.Errorf("%s: %v, want %v", what, got, row.want)
						}
						loss.Sum().Backward()
						finiteAll(t, what+", gradient", x.Grad())
					}
				}
			}
		}
	}
}

// TestNormsOfConstants demands that norms of equal numbers, whose variance is 0, give their bias, and
// finite gradients.
func TestNormsOfConstants(t *testing.T) {
	for _, v := range []float64{0, 0.1, 3, -1000} {
		for _, n := range []int{2, 7, 49, 1100} {
			for name, layer := range map[string]nn.Module{"LayerNorm": nn.LayerNorm(), "BatchNorm": nn.BatchNorm()} {
				what := fmt.Sprintf("%s of %d × %v", name, n, v)
				x := tensor.Parameter(tensor.Full(v, n, n))
				y := layer.Forward(x)
				for i, got := range y.Data() {
					if got != 0 {
						t.Errorf("%s: element %d is %v", what, i, got)
						break
					}
				}
				y.Square().Sum().Backward()
				finiteAll(t, what+", gradient", x.Grad())
			}
		}
	}
}
