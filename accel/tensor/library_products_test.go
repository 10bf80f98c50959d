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
	"github.com/quernlab/quern/accel/internal/ir"
)

// counted has f run with played libraries and gives how often they were asked for
// products and convolutions.
func counted(f func()) (products, convolutions int) {
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
		products += l.Runs
	}
	for _, l := range dnn {
		convolutions += l.Runs
	}
	return products, convolutions
}

// anyLayout returns a tensor of a shape that lies in some way: as it is made, turned, a
// part of a larger one, or repeated along dimensions.
func anyLayout(r *rand.Rand, g *Generator, shape []int) *Tensor {
	switch n := len(shape); r.IntN(5) {
	case 1: // the last two turned
		turned := append([]int(nil), shape...)
		turned[n-1], turned[n-2] = turned[n-2], turned[n-1]
		order := make([]int, n)
		for i := range order {
			order[i] = i
		}
		order[n-1], order[n-2] = n-2, n-1
		return Randn(g, turned...).Permute(order...)
	case 2: // a part, which begins anywhere
		d := r.IntN(n)
		larger := append([]int(nil), shape...)
		larger[d] += 1 + r.IntN(4)
		return Randn(g, larger...).Slice(d, larger[d]-shape[d], larger[d])
	case 3: // repeated
		one := append([]int(nil), shape...)
		one[r.IntN(n)] = 1
		return Randn(g, one...).Expand(shape...)
	case 4: // the first two turned
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

// someProduct returns a product of random factors with its gradients.
func someProduct(seed uint64, half DType) []float64 {
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
		// A parameter is made contiguous; what is not one keeps its layout.
		return anyLayout(r, g, append(append([]int(nil), lead...), m, k)).MatMul(anyLayout(r, g, append(append([]int(nil), lead...), k, n)))
	}
	return gradients(&in, half, compute)
}

// gradients returns a result and the gradients of what computing it has put into a list,
// rounded where half
// is a type of 16 bits.
func gradients(in *[]*Tensor, half DType, compute func() *Tensor) []float64 {
	var y *Tensor
	if half == Float32 {
		y = compute()
	} else {
		Autocast(half, func() { y = compute() })
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

// someConvolution returns a convolution of random tensors with its gradients.
func someConvolution(seed uint64, half DType) []float64 {
	r := rand.New(rand.NewPCG(seed, 2))
	g := NewGenerator(seed)
	groups := 1 + r.IntN(3)
	per, out := 1+r.IntN(3), groups*(1+r.IntN(3))
	kh, kw := 1+r.IntN(3), 1+r.IntN(3)
	w := Window{Stride: [2]int{1 + r.IntN(2), 1 + r.IntN(2)}, Padding: [2]int{r.IntN(3), r.IntN(3)}, Dilation: [2]int{1 + r.IntN(2), 1 + r.IntN(2)}, Groups: groups}
	x := Parameter(anyLayout(r, g, []int{1 + r.IntN(3), groups * per, 5 + r.IntN(4), 5 + r.IntN(4)}))
	f, b := Parameter(anyLayout(r, g, []int{out, per, kh, kw})), Parameter(Randn(g, out))
	in := []*Tensor{x, f, b}
	return gradients(&in, half, func() *Tensor {
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

// TestLibraryProductsOnCUDA has libraries compute products and convolutions of any
// shape and layout, and compares with the processor.
func TestLibraryProductsOnCUDA(t *testing.T) {
	for name, some := range map[string]func(seed uint64, half DType) []float64{"products": someProduct, "convolutions": someConvolution} {
		for half, close := range map[DType]float64{Float32: 1e-4, BFloat16: 0.06, Float16: 0.01} {
			t.Run(fmt.Sprint(name, " ", half), func(t *testing.T) {
				const trials = 24
				products, convolutions := counted(func() {
					for seed := range uint64(trials) {
						want := some(seed, half)
						onCUDA(t, func() {
							got := some(seed, half)
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
				if n := map[string]int{"products": products, "convolutions": convolutions}[name]; n < trials {
					t.Errorf("the library was asked %d times in %d trials", n, trials)
				}
				t.Logf("%d products, %d convolutions by libraries", products, convolutions)
			})
		}
	}
}

// TestLibraryProductsOfOtherTypesOnCUDA has cuBLASLt multiply 8-bit floats, forward and
// backward, and float64, and compares with the processor.
func TestLibraryProductsOfOtherTypesOnCUDA(t *testing.T) {
	eight := func(seed uint64) []float64 {
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
	double := func(seed uint64) []float64 {
		r, g := rand.New(rand.NewPCG(seed, 4)), NewGenerator(seed)
		m, n, k := 1+r.IntN(9), 1+r.IntN(9), 1+r.IntN(9)
		x, w, b := anyLayout(r, g, []int{m, k}).Cast(Float64), anyLayout(r, g, []int{n, k}).Cast(Float64), Randn(g, n).Cast(Float64)
		return append(Linear(x, w, b).ReLU().Float64s(), x.MatMul(w.Permute(1, 0)).Float64s()...)
	}
	for name, row := range map[string]struct {
		some  func(seed uint64) []float64
		close float64
	}{"8 bits": {eight, 0.02}, "float64": {double, 1e-13}} {
		t.Run(name, func(t *testing.T) {
			const trials = 12
			products, _ := counted(func() {
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
			if products < trials {
				t.Errorf("the library was asked %d times in %d trials", products, trials)
			}
			t.Logf("%d products by the library", products)
		})
	}
}
