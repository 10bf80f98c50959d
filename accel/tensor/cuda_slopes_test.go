//go:build !race

package tensor

import (
	"fmt"
	"math"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
)

// TestSlopesOnCUDA compares layers with activations and their gradients with the CPU's: on the GPU, products
// apply the activations and multiply with the slopes. With libraries, a kernel behind the product does.
func TestSlopesOnCUDA(t *testing.T) {
	for name, f := range map[string]func(*Tensor) *Tensor{"ReLU": (*Tensor).ReLU, "GELU": (*Tensor).GELU, "GELUTanh": (*Tensor).GELUTanh} {
		for d, near := range map[DType]float64{Float32: 1e-4, BFloat16: 0.06, Float16: 0.01} {
			for _, sizes := range [][2]int{{13, 21}, {16, 24}} {
				t.Run(fmt.Sprint(name, " ", d, " ", sizes), func(t *testing.T) {
					run := func() (got []float64, steps int) {
						g := NewGenerator(5)
						x := Parameter(Randn(g, 2, 3, sizes[0]))
						in := []*Tensor{x, Parameter(Randn(g, sizes[0], sizes[1]).MulScalar(.3)), Parameter(Randn(g, sizes[1], sizes[1]).MulScalar(.3)), Parameter(Randn(g, sizes[1], 5).MulScalar(.3))}
						Flush()
						tensors.ResetStats()
						got = gradients(&in, d, func() *Tensor {
							y := x
							for _, w := range in[1:] {
								y = f(y.MatMul(w))
							}
							return y
						})
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
						inProducts, onCPU := 2, 2 // slopes
						if name != "ReLU" {
							inProducts += 3 // activations
						}
						if name == "GELUTanh" {
							onCPU = 0
						}
						if d == Float32 && steps > separate+onCPU-inProducts {
							t.Errorf("%d steps, and %d on the CPU with %d slopes in products: products do not compute %d slopes and activations", steps, separate, onCPU, inProducts)
						}
					})
					if matmuls, _ := countLibraryCalls(func() {
						onCUDA(t, func() {
							got, _ := run()
							compare(got)
						})
					}); matmuls < 9 {
						t.Errorf("the library computed %d products", matmuls)
					}
				})
			}
		}
	}
}

// A NaN or an infinity in a product, or where its activation is computed, comes through as on the CPU.
func TestSlopesOfNaNOnCUDA(t *testing.T) {
	run := func() []float64 {
		x := Parameter(New([]float32{1, 2, float32(math.NaN()), 1, -1, 0}, 3, 2))
		w := New([]float32{1, float32(math.Inf(1)), -1, 2, 1, 1}, 2, 3)
		v := New([]float32{1, float32(math.Inf(1)), float32(math.NaN()), 1, 2, 3}, 3, 2)
		out := x.MatMul(w).GELU().Cast(Float64).Float64s()
		x.MatMul(w).ReLU().MatMul(v).Sum().Backward()
		return append(out, x.Grad().Cast(Float64).Float64s()...)
	}
	want := run()
	onCUDA(t, func() {
		for i, v := range run() {
			if v != want[i] && !(math.Abs(v-want[i]) <= 1e-6*math.Abs(want[i])) && !(math.IsNaN(v) && math.IsNaN(want[i])) {
				t.Errorf("number %d is %v, want %v", i, v, want[i])
			}
		}
	})
}
