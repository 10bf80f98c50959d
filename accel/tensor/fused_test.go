package tensor

import (
	"slices"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
)

// fusedAndNot runs f with fusion and without, and returns both results and the number of steps with fusion.
func fusedAndNot(f func() [][]float32) (fused, apart [][]float32, steps int) {
	tensors.ResetStats()
	fused = f()
	steps = tensors.Stats().Steps
	setUnfused(true)
	defer setUnfused(false)
	return fused, f(), steps
}

func TestLossAndGradientInOneStep(t *testing.T) {
	for _, tt := range []struct {
		name          string
		rows, classes int
		loss          func(logits *Tensor, labels []int) *Tensor
		skip          bool
		steps         int
	}{
		{"few classes", 128, 10, crossEntropyOf, false, 1},
		{"one row", 1, 3, crossEntropyOf, false, 1},
		{"more classes than are summed at once", 9, 2500, crossEntropyOf, false, 1},
		{"some rows without a loss", 33, 7, maskedCrossEntropyOf, true, 8},
		{"a scaled loss", 20, 5, func(x *Tensor, labels []int) *Tensor { return crossEntropyOf(x, labels).MulScalar(0.25) }, false, 3},
	} {
		g := NewGenerator(3)
		values := Randn(g, tt.rows, tt.classes).MulScalar(4).Data()
		labels := make([]int, tt.rows)
		for i := range labels {
			if labels[i] = g.Intn(tt.classes); tt.skip && i%3 == 0 {
				labels[i] = -100
			}
		}
		fused, apart, steps := fusedAndNot(func() [][]float32 {
			x := Parameter(New(slices.Clone(values), tt.rows, tt.classes))
			loss := tt.loss(x, labels)
			loss.Backward()
			return [][]float32{loss.Data(), x.Grad().Data()}
		})
		for i, what := range []string{"loss", "gradient"} {
			if !slices.Equal(fused[i], apart[i]) {
				t.Errorf("%s: the %s is not that of two steps", tt.name, what)
			}
		}
		if steps != tt.steps {
			t.Errorf("%s: %d steps, want %d", tt.name, steps, tt.steps)
		}
	}
}

func crossEntropyOf(x *Tensor, labels []int) *Tensor {
	return CrossEntropy(x, FromInts(labels, len(labels)))
}

func maskedCrossEntropyOf(x *Tensor, labels []int) *Tensor {
	return MaskedCrossEntropy(x, FromInts(labels, len(labels)), -100)
}
