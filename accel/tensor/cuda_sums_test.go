//go:build !race

package tensor

import (
	"fmt"
	"math"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
)

// TestSumsOnCUDA compares the gradients of layers with the CPU's: on the GPU, products sum the gradients of
// biases. With libraries, a kernel behind the product does.
func TestSumsOnCUDA(t *testing.T) {
	for name, linear := range map[string]func(x, w, b *Tensor) *Tensor{
		"Linear":               Linear,
		"activation":           func(x, w, b *Tensor) *Tensor { return Linear(x, w, b).GELUTanh() },
		"transposed weight":    func(x, w, b *Tensor) *Tensor { return Linear(x, w.Permute(1, 0).Clone().Permute(1, 0), b) },
		"weight in the layout": func(x, w, b *Tensor) *Tensor { return x.MatMul(w.Permute(1, 0)).Add(b) },
	} {
		for d, near := range map[DType]float64{Float32: 1e-4, BFloat16: 0.06, Float16: 0.01} {
			for _, sizes := range [][3]int{{7, 13, 21}, {16, 16, 24}, {600, 8, 1}, {1, 5, 3}} {
				t.Run(fmt.Sprint(name, " ", d, " ", sizes), func(t *testing.T) {
					run := func() (got []float64, steps int) {
						g := NewGenerator(6)
						in := []*Tensor{
							Parameter(Randn(g, sizes[0], sizes[1])), Parameter(Randn(g, sizes[2], sizes[1]).MulScalar(.3)), Parameter(Randn(g, sizes[2])),
							Parameter(Randn(g, 5, sizes[2]).MulScalar(.3)), Parameter(Randn(g, 5)),
						}
						Flush()
						tensors.ResetStats()
						got = gradients(&in, d, func() *Tensor { return linear(linear(in[0], in[1], in[2]).ReLU(), in[3], in[4]) })
						return got, tensors.Stats().Steps
					}
					want, separate := run()
					compare := func(got []float64) {
						t.Helper()
						if len(got) != len(want) {
							t.Fatalf("%d numbers, want %d", len(got), len(want))
						}
						for i, v := range got {
							if !(math.Abs(v-want[i]) <= near*(1+math.Abs(want[i]))) {
								t.Fatalf("number %d is %v, want %v", i, v, want[i])
							}
						}
					}
					onCUDA(t, func() {
						got, steps := run()
						compare(got)
						if d == Float32 && steps > separate-2 && name != "activation" {
							t.Errorf("%d steps, and %d on the CPU: no sum is in a product", steps, separate)
						}
					})
					countLibraryCalls(func() {
						onCUDA(t, func() {
							got, _ := run()
							compare(got)
						})
					})
				})
			}
		}
	}
}

// A NaN or an infinity in the gradient reaches its bias only, as on the CPU.
func TestSumsOfNaNOnCUDA(t *testing.T) {
	run := func() []float64 {
		x, w, b := New([]float32{1, 2, 3, 4, 5, 6}, 3, 2), Parameter(New([]float32{1, 2, 3, 4, 5, 6, 7, 8}, 4, 2)), Parameter(Zeros(4))
		inf := float32(math.Inf(1))
		Linear(x, w, b).Mul(New([]float32{1, inf, float32(math.NaN()), inf, 2, 1, 1, -inf, 3, 1, 1, 1}, 3, 4)).Sum().Backward()
		return append(w.Grad().Cast(Float64).Float64s(), b.Grad().Cast(Float64).Float64s()...)
	}
	want := run()
	onCUDA(t, func() {
		for i, v := range run() {
			if v != want[i] && !(math.IsNaN(v) && math.IsNaN(want[i])) {
				t.Errorf("number %d is %v, want %v", i, v, want[i])
			}
		}
	})
}
