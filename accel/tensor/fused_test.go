package tensor

import (
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/internal/engine/trace"
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

func TestSlopeInTheStepOfAProduct(t *testing.T) {
	for _, tt := range []struct {
		name   string
		of, by []int // the shapes of the activation and of the factor that it is multiplied with
	}{
		{"small", []int{3, 4}, []int{4, 5}},
		{"as in a classifier", []int{128, 130}, []int{130, 10}},
		{"several blocks of rows, columns and the depth", []int{301, 700}, []int{700, 900}},
		{"the depth in parts", []int{30, 40}, []int{40, 2100}},
		{"one row", []int{1, 300}, []int{300, 2000}},
		{"a few rows", []int{3, 300}, []int{300, 2000}},
		{"a batch", []int{3, 40, 50}, []int{3, 50, 20}},
		{"without depth", []int{4, 6}, []int{6, 0}},
	} {
		for name, activation := range map[string]func(*Tensor) *Tensor{"ReLU": (*Tensor).ReLU, "GELU": (*Tensor).GELU} {
			g := NewGenerator(5)
			values, factor := Randn(g, tt.of...).Data(), Randn(g, tt.by...)
			weight := Randn(g, append(slices.Clone(tt.of[:len(tt.of)-1]), tt.by[len(tt.by)-1])...)
			var names []string
			fused, apart, _ := fusedAndNot(func() [][]float32 {
				x := Parameter(New(slices.Clone(values), tt.of...))
				y := activation(x)
				loss := y.MatMul(factor).Mul(weight).Sum()
				y.Release()
				c, ok := trace.Start()
				if !ok {
					t.Fatal("a profile is being recorded")
				}
				defer c.Stop()
				loss.Backward()
				gradient := x.Grad().Data()
				for _, f := range c.Flushes() {
					for _, s := range f.Program.Steps {
						names = append(names, strings.Join(s.Ops, "+"))
					}
				}
				return [][]float32{gradient}
			})
			if !slices.Equal(fused[0], apart[0]) {
				t.Errorf("%s of %s: the gradient is not that of two steps", name, tt.name)
			}
			if !slices.Contains(names, "MatMul+"+name+"Gradient") {
				t.Errorf("%s of %s: the steps are %v", name, tt.name, names)
			}
		}
	}
}
