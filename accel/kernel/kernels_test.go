package kernel_test

import (
	_ "embed"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/kernel"
	_ "github.com/quernlab/quern/accel/simulated"
	"github.com/quernlab/quern/accel/tensor"
)

//go:embed testdata/kernels.go
var kernels string

// devices are those on which tests run kernels.
var devices = []string{"cpu", "simulated"}

// on runs f with a device.
func on(t *testing.T, device string, f func()) {
	t.Helper()
	if err := accel.SetDevice(device); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := accel.SetDevice("cpu"); err != nil {
			t.Error(err)
		}
	}()
	f()
}

func compile(t *testing.T, text, name string, options ...kernel.Option) *kernel.Kernel {
	t.Helper()
	k, err := kernel.Compile(kernel.Source(text, name), options...)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// floats are random numbers.
func floats(n int) []float32 {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.IntN(64))/8 - 4 // sums are exact
	}
	return x
}

func integers(n, limit int) []int {
	r := rand.New(rand.NewPCG(2, uint64(n)))
	x := make([]int, n)
	for i := range x {
		x[i] = r.IntN(limit)
	}
	return x
}

// A launch is one row of TestKernels.
type launch struct {
	name  string
	shape kernel.Shape
	args  func() []any // the last argument is the result
	want  func(i int) float64
	near  float64 // allowed relative difference
}

func launches() []launch {
	x, y := floats(1000), floats(1000)
	bytes := integers(3000, 256)
	ints := integers(77, 1000)
	const m, n, k = 37, 29, 41
	a, b := floats(m*k), floats(k*n)
	product := func(i int) float64 {
		sum := 0.0
		for l := range k {
			sum += float64(a[i/n*k+l]) * float64(b[l*n+i%n])
		}
		return sum
	}
	transposed := func(i int) float64 { return float64(x[i%20*50+i/20]) }
	int32s := func(x []int) *tensor.Tensor { return tensor.FromInts(x, len(x)).Cast(tensor.Int32) }
	zeros := func(d tensor.DType, n int) *tensor.Tensor { return tensor.Zeros(n).Cast(d) }
	return []launch{
		{"saxpy", kernel.Grid(1000, 256), func() []any {
			return []any{float32(2), tensor.New(x, 1000), tensor.New(y, 1000)}
		}, func(i int) float64 { return float64(y[i] + 2*x[i]) }, 0},
		{"sum", kernel.Grid(600, 256), func() []any { return []any{tensor.New(x, 1000), tensor.Zeros(1)} }, func(int) float64 {
			sum := 0.0
			for _, v := range x {
				sum += float64(v)
			}
			return sum
		}, 0},
		{"warpSum", kernel.Grid(1000, 96), func() []any { return []any{tensor.New(x, 1000), tensor.Zeros(33)} }, func(i int) float64 {
			sum := 0.0
			for _, v := range x[min(32*i, 1000):min(32*i+32, 1000)] {
				sum += float64(v)
			}
			return sum
		}, 0},
		{"transpose", kernel.Grid2D(50, 20, 16, 16), func() []any { return []any{20, 50, tensor.New(x, 20, 50), tensor.Zeros(50, 20)} }, transposed, 0},
		{"padded", kernel.Grid2D(50, 20, 16, 16), func() []any { return []any{20, 50, tensor.New(x, 20, 50), tensor.Zeros(50, 20)} }, transposed, 0},
		{"matmul", kernel.Grid2D(n, m, 16, 8), func() []any { return []any{m, n, k, tensor.New(a, m, k), tensor.New(b, k, n), tensor.Zeros(m, n)} }, product, 0},
		{"tiled", kernel.Grid2D(n, m, 16, 16), func() []any { return []any{m, n, k, tensor.New(a, m, k), tensor.New(b, k, n), tensor.Zeros(m, n)} }, product, 0},
		{"softmax", kernel.Grid(10*32, 32), func() []any { return []any{100, tensor.New(x, 10, 100), tensor.Zeros(10, 100)} }, func(i int) float64 {
			sum := 0.0
			for _, v := range x[i/100*100:][:100] {
				sum += math.Exp(float64(v))
			}
			return math.Exp(float64(x[i])) / sum
		}, 1e-5},
		{"histogram", kernel.Grid(3000, 128), func() []any {
			return []any{tensor.FromInts(bytes, 3000).Cast(tensor.Uint8), zeros(tensor.Int32, 256)}
		}, func(i int) float64 {
			n := 0
			for _, v := range bytes {
				if v == i {
					n++
				}
			}
			return float64(n)
		}, 0},
		{"prefix", kernel.Grid(256, 256), func() []any {
			return []any{tensor.FromInts(ints, len(ints)).Cast(tensor.Int64), zeros(tensor.Int64, len(ints))}
		}, func(i int) float64 {
			n := 0
			for _, v := range ints[:i+1] {
				n += v
			}
			return float64(n)
		}, 0},
		{"mandelbrot", kernel.Grid(30*20, 64), func() []any { return []any{30, 20, zeros(tensor.Int32, 600)} }, nil, 0},
		{"collatz", kernel.Grid(77, 32), func() []any { return []any{int32s(ints), zeros(tensor.Int32, 77)} }, nil, 0},
		{"votes", kernel.Grid(77, 64), func() []any { return []any{int32s(ints), zeros(tensor.Int32, 77)} }, nil, 0},
		{"extremes", kernel.Grid(77, 32), func() []any { return []any{int32s(ints), int32s([]int{500, 500, 0})} }, func(i int) float64 {
			low, high, all := 500, 500, 0
			for _, v := range ints {
				low, high, all = min(low, v), max(high, v), all^v
			}
			return float64([]int{low, high, all}[i])
		}, 0},
	}
}

// Kernels compute the same on the CPU and on a simulated GPU, with and without checks.
func TestKernels(t *testing.T) {
	for _, l := range launches() {
		t.Run(l.name, func(t *testing.T) {
			var first []float64
			for _, device := range devices {
				for _, options := range [][]kernel.Option{nil, {kernel.Unchecked()}} {
					on(t, device, func() {
						args := l.args()
						if err := compile(t, kernels, l.name, options...).Launch(l.shape, args...); err != nil {
							t.Fatal(device, err)
						}
						got := args[len(args)-1].(*tensor.Tensor).Float64s()
						if first == nil {
							first = got
						}
						for i, v := range got {
							want := first[i]
							if l.want != nil {
								want = l.want(i)
							}
							if !(math.Abs(v-want) <= l.near*math.Abs(want)) {
								t.Fatalf("%s: element %d is %v, want %v", device, i, v, want)
							}
						}
					})
				}
			}
		})
	}
}
