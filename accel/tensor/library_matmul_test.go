//go:build !race

package tensor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/quernlab/quern/accel/internal/cuda"
	"github.com/quernlab/quern/accel/internal/cuda/cublaslt"
	"github.com/quernlab/quern/accel/internal/cuda/cudnn"
	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/fake"
	"github.com/quernlab/quern/accel/internal/cuda/fakelib"
	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// countLibraryCalls runs f with fake libraries and returns how many matrix multiplications and convolutions
// they computed.
func countLibraryCalls(f func()) (matmuls, convolutions int) {
	var blas []*fakelib.CuBLASLt
	var dnn []*fakelib.CuDNN
	libraries = cuda.Libraries{
		CuBLASLt: func(ctx driver.Context) (cublaslt.Library, error) {
			blas = append(blas, &fakelib.CuBLASLt{Context: ctx.(fake.FuncLauncher)})
			return blas[len(blas)-1], nil
		},
		CuDNN: func(ctx driver.Context) (cudnn.Library, error) {
			dnn = append(dnn, &fakelib.CuDNN{Context: ctx.(fake.FuncLauncher)})
			return dnn[len(dnn)-1], nil
		},
	}
	defer func() { libraries = cuda.Libraries{} }()
	f()
	for _, l := range blas {
		matmuls += l.Runs
	}
	for _, l := range dnn {
		convolutions += l.Runs
	}
	return matmuls, convolutions
}

// anyLayout returns a random tensor with a random memory layout: contiguous, transposed, a slice of
// a larger tensor, or expanded.
func anyLayout(r *rand.Rand, g *Generator, shape []int) *Tensor {
	switch n := len(shape); r.IntN(5) {
	case 1: // last two dimensions transposed
		turned := append([]int(nil), shape...)
		turned[n-1], turned[n-2] = turned[n-2], turned[n-1]
		order := make([]int, n)
		for i := range order {
			order[i] = i
		}
		order[n-1], order[n-2] = n-2, n-1
		return Randn(g, turned...).Permute(order...)
	case 2: // a slice with a random start
		d := r.IntN(n)
		larger := append([]int(nil), shape...)
		larger[d] += 1 + r.IntN(4)
		return Randn(g, larger...).Slice(d, larger[d]-shape[d], larger[d])
	case 3: // expanded
		one := append([]int(nil), shape...)
		one[r.IntN(n)] = 1
		return Randn(g, one...).Expand(shape...)
	case 4: // first two dimensions transposed
		if n < 3 {
			break
		}
		turned := append([]int(nil), shape...)
		turned[0], turned[1] = turned[1], turned[0]
		order := make([]int, n)
		for i := range order {
			order[i] = i
		}
		order[0], order[1] = 1, 0
		return Randn(g, turned...).Permute(order...)
	}
	return Randn(g, shape...)
}

// randomMatMul returns a random matrix multiplication and its gradients.
func randomMatMul(seed uint64, dtype DType) []float64 {
	r := rand.New(rand.NewPCG(seed, 1))
	g := NewGenerator(seed)
	lead := make([]int, r.IntN(4))
	for i := range lead {
		lead[i] = 1 + r.IntN(3)
	}
	m, n, k := 1+r.IntN(9), 1+r.IntN(9), 1+r.IntN(9)
	var in []*Tensor
	factor := func(shape ...int) *Tensor {
		p := Parameter(anyLayout(r, g, shape))
		in = append(in, p)
		return p
	}
	some := func(lead []int) []int { // leading dimensions that broadcast
		var out []int
		for i := r.IntN(len(lead) + 1); i < len(lead); i++ {
			if r.IntN(4) == 0 {
				out = append(out, 1)
			} else {
				out = append(out, lead[i])
			}
		}
		return out
	}
	compute := func() *Tensor {
		switch r.IntN(3) {
		case 0:
			y := Linear(factor(m, k), factor(n, k), factor(n))
			if r.IntN(2) == 0 {
				y = y.ReLU()
			}
			return y
		case 1:
			y := factor(append(some(lead), m, k)...).MatMul(factor(append(some(lead), k, n)...))
			if r.IntN(2) == 0 {
				y = y.ReLU()
			}
			return y
		}
		// A parameter is contiguous; other tensors keep their layout.
		return anyLayout(r, g, append(append([]int(nil), lead...), m, k)).MatMul(anyLayout(r, g, append(append([]int(nil), lead...), k, n)))
	}
	return gradients(&in, dtype, compute)
}

// gradients returns the result of compute and the gradients of the tensors that compute appends to
// in, rounded if dtype is a 16-bit type.
func gradients(in *[]*Tensor, dtype DType, compute func() *Tensor) []float64 {
	var y *Tensor
	if dtype == Float32 {
		y = compute()
	} else {
		Autocast(dtype, func() { y = compute() })
	}
	out := y.Cast(Float64).Float64s()
	if len(*in) > 0 {
		y.Cast(Float32).Square().Sum().Backward()
		for _, p := range *in {
			if p.Grad() != nil {
				out = append(out, p.Grad().Cast(Float64).Float64s()...)
			}
		}
	}
	return out
}

// randomConv returns a random convolution and its gradients.
func randomConv(seed uint64, dtype DType) []float64 {
	r := rand.New(rand.NewPCG(seed, 2))
	g := NewGenerator(seed)
	groups := 1 + r.IntN(3)
	per, out := 1+r.IntN(3), groups*(1+r.IntN(3))
	kh, kw := 1+r.IntN(3), 1+r.IntN(3)
	w := Window{Stride: [2]int{1 + r.IntN(2), 1 + r.IntN(2)}, Padding: [2]int{r.IntN(3), r.IntN(3)}, Dilation: [2]int{1 + r.IntN(2), 1 + r.IntN(2)}, Groups: groups}
	x := Parameter(anyLayout(r, g, []int{1 + r.IntN(3), groups * per, 5 + r.IntN(4), 5 + r.IntN(4)}))
	f, b := Parameter(anyLayout(r, g, []int{out, per, kh, kw})), Parameter(Randn(g, out))
	in := []*Tensor{x, f, b}
	return gradients(&in, dtype, func() *Tensor {
		bias := b
		if r.IntN(2) == 0 {
			bias = nil
		}
		y := Conv2D(x, f, bias, w)
		if r.IntN(2) == 0 {
			y = y.ReLU()
		}
		return y
	})
}

// TestLibraryMatMulsOnCUDA compares matrix multiplications and convolutions of random shapes and
// layouts, computed by libraries, with the CPU's.
func TestLibraryMatMulsOnCUDA(t *testing.T) {
	for name, some := range map[string]func(seed uint64, dtype DType) []float64{"matmul": randomMatMul, "convolutions": randomConv} {
		for dtype, close := range map[DType]float64{Float32: 1e-4, BFloat16: 0.06, Float16: 0.01} {
			t.Run(fmt.Sprint(name, " ", dtype), func(t *testing.T) {
				const trials = 24
				matmuls, convolutions := countLibraryCalls(func() {
					for seed := range uint64(trials) {
						want := some(seed, dtype)
						onCUDA(t, func() {
							got := some(seed, dtype)
							if len(got) != len(want) {
								t.Fatalf("seed %d: %d numbers, want %d", seed, len(got), len(want))
							}
							for i, g := range got {
								if w := want[i]; !(math.Abs(g-w) <= close*(1+math.Abs(w))) {
									t.Fatalf("seed %d: number %d is %v, want %v", seed, i, g, w)
								}
							}
						})
					}
				})
				if n := map[string]int{"matmul": matmuls, "convolutions": convolutions}[name]; n < trials {
					t.Errorf("the library was called %d times in %d trials", n, trials)
				}
				t.Logf("the libraries computed %d matrix multiplications and %d convolutions", matmuls, convolutions)
			})
		}
	}
}

// TestLibraryMatMulsOfOtherTypesOnCUDA compares FP8 (forward and backward) and float64
// multiplications by cuBLASLt with the CPU's.
func TestLibraryMatMulsOfOtherTypesOnCUDA(t *testing.T) {
	fp8 := func(seed uint64) []float64 {
		r, g := rand.New(rand.NewPCG(seed, 3)), NewGenerator(seed)
		m, n, k := 16*(1+r.IntN(2)), 16*(1+r.IntN(3)), 16*(1+r.IntN(3))
		in := []*Tensor{Parameter(Randn(g, m, k)), Parameter(Randn(g, n, k)), Parameter(Randn(g, n))}
		return gradients(&in, Float32, func() (y *Tensor) {
			AutocastFP8(func() { y = Linear(in[0], in[1], in[2]) })
			if r.IntN(2) == 0 {
				y = y.ReLU()
			}
			return y.Cast(Float32)
		})
	}
	float64s := func(seed uint64) []float64 {
		r, g := rand.New(rand.NewPCG(seed, 4)), NewGenerator(seed)
		m, n, k := 1+r.IntN(9), 1+r.IntN(9), 1+r.IntN(9)
		x, w, b := anyLayout(r, g, []int{m, k}).Cast(Float64), anyLayout(r, g, []int{n, k}).Cast(Float64), Randn(g, n).Cast(Float64)
		return append(Linear(x, w, b).ReLU().Float64s(), x.MatMul(w.Permute(1, 0)).Float64s()...)
	}
	for name, row := range map[string]struct {
		some  func(seed uint64) []float64
		close float64
	}{"8 bits": {fp8, 0.02}, "float64": {float64s, 1e-13}} {
		t.Run(name, func(t *testing.T) {
			const trials = 12
			matmuls, _ := countLibraryCalls(func() {
				for seed := range uint64(trials) {
					want := row.some(seed)
					device := simulate(t, fake.Options{Seed: seed + 1, Capability: 89})
					withRecorder(ir.NewRecorder(device), func() {
						for i, g := range row.some(seed) {
							if w := want[i]; !(math.Abs(g-w) <= row.close*(1+math.Abs(w))) {
								t.Fatalf("seed %d: number %d is %v, want %v", seed, i, g, w)
							}
						}
					})
					if err := device.Close(); err != nil {
						t.Error(err)
					}
				}
			})
			if matmuls < trials {
				t.Errorf("the library was called %d times in %d trials", matmuls, trials)
			}
			t.Logf("the library computed %d matrix multiplications", matmuls)
		})
	}
}
