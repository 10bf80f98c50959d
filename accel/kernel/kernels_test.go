package kernel_test

import (
	_ "embed"
	"math"
	"math/big"
	mathbits "math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/kernel"
	_ "github.com/quernlab/quern/accel/simulated"
	"github.com/quernlab/quern/accel/tensor"
)

//go:embed testdata/kernels.go
var kernels string

//go:embed testdata/students.go
var students string

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
	text  string // of the file
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
		{"saxpy", kernels, kernel.Grid(1000, 256), func() []any {
			return []any{float32(2), tensor.New(x, 1000), tensor.New(y, 1000)}
		}, func(i int) float64 { return float64(y[i] + 2*x[i]) }, 0},
		{"sum", kernels, kernel.Grid(600, 256), func() []any { return []any{tensor.New(x, 1000), tensor.Zeros(1)} }, func(int) float64 {
			sum := 0.0
			for _, v := range x {
				sum += float64(v)
			}
			return sum
		}, 0},
		{"warpSum", kernels, kernel.Grid(1000, 96), func() []any { return []any{tensor.New(x, 1000), tensor.Zeros(33)} }, func(i int) float64 {
			sum := 0.0
			for _, v := range x[min(32*i, 1000):min(32*i+32, 1000)] {
				sum += float64(v)
			}
			return sum
		}, 0},
		{"transpose", kernels, kernel.Grid2D(50, 20, 16, 16), func() []any { return []any{20, 50, tensor.New(x, 20, 50), tensor.Zeros(50, 20)} }, transposed, 0},
		{"padded", kernels, kernel.Grid2D(50, 20, 16, 16), func() []any { return []any{20, 50, tensor.New(x, 20, 50), tensor.Zeros(50, 20)} }, transposed, 0},
		{"matmul", kernels, kernel.Grid2D(n, m, 16, 8), func() []any { return []any{m, n, k, tensor.New(a, m, k), tensor.New(b, k, n), tensor.Zeros(m, n)} }, product, 0},
		{"tiled", kernels, kernel.Grid2D(n, m, 16, 16), func() []any { return []any{m, n, k, tensor.New(a, m, k), tensor.New(b, k, n), tensor.Zeros(m, n)} }, product, 0},
		{"softmax", kernels, kernel.Grid(10*32, 32), func() []any { return []any{100, tensor.New(x, 10, 100), tensor.Zeros(10, 100)} }, func(i int) float64 {
			sum := 0.0
			for _, v := range x[i/100*100:][:100] {
				sum += math.Exp(float64(v))
			}
			return math.Exp(float64(x[i])) / sum
		}, 1e-5},
		{"histogram", kernels, kernel.Grid(3000, 128), func() []any {
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
		{"prefix", kernels, kernel.Grid(256, 256), func() []any {
			return []any{tensor.FromInts(ints, len(ints)).Cast(tensor.Int64), zeros(tensor.Int64, len(ints))}
		}, func(i int) float64 {
			n := 0
			for _, v := range ints[:i+1] {
				n += v
			}
			return float64(n)
		}, 0},
		{"mandelbrot", kernels, kernel.Grid(30*20, 64), func() []any { return []any{30, 20, zeros(tensor.Int32, 600)} }, nil, 0},
		{"collatz", kernels, kernel.Grid(77, 32), func() []any { return []any{int32s(ints), zeros(tensor.Int32, 77)} }, nil, 0},
		{"votes", kernels, kernel.Grid(77, 64), func() []any { return []any{int32s(ints), zeros(tensor.Int32, 77)} }, nil, 0},
		{"extremes", kernels, kernel.Grid(77, 32), func() []any { return []any{int32s(ints), int32s([]int{500, 500, 0})} }, func(i int) float64 {
			low, high, all := 500, 500, 0
			for _, v := range ints {
				low, high, all = min(low, v), max(high, v), all^v
			}
			return float64([]int{low, high, all}[i])
		}, 0},
		{"stencil", kernels, kernel.Grid2D(50, 20, 16, 8), func() []any { return []any{20, 50, tensor.New(x, 20, 50), tensor.Zeros(20, 50)} }, func(i int) float64 {
			if i < 50 || i >= 950 || i%50 == 0 || i%50 == 49 {
				return 0
			}
			return float64(0.25 * (x[i-1] + x[i+1] + x[i-50] + x[i+50]))
		}, 0},
	}
}

// launchesOfStudents are those of testdata/students.go.
func launchesOfStudents() []launch {
	x, bytes, ints := floats(1000), integers(1024, 256), integers(128, 1000)
	zeros := func(d tensor.DType, n int) *tensor.Tensor { return tensor.Zeros(n).Cast(d) }
	of := func(d tensor.DType, x []int) *tensor.Tensor { return tensor.FromInts(x, len(x)).Cast(d) }
	text := make([]int, 1024)
	for i, b := range bytes {
		text[i] = int("ab c12 de 3x 45 fg"[b%18])
	}
	return []launch{
		{"nbody", students, kernel.Grid(64, 64), func() []any { return []any{tensor.New(x[:150], 150), tensor.Zeros(150)} }, nil, 0},
		{"gemv", students, kernel.Grid(40, 32), func() []any { return []any{25, tensor.New(x, 40, 25), tensor.New(x[:25], 25), tensor.Zeros(40)} }, func(i int) float64 {
			sum := 0.0
			for j := range 25 {
				sum += float64(x[i*25+j]) * float64(x[j])
			}
			return sum
		}, 0},
		{"life", students, kernel.Grid2D(32, 32, 16, 8), func() []any {
			return []any{32, 32, of(tensor.Uint8, bytes).Greater(zeros(tensor.Uint8, 1024).AddScalar(128)).Cast(tensor.Uint8), zeros(tensor.Uint8, 1024)}
		}, nil, 0},
		{"bitonic", students, kernel.Grid(128, 128), func() []any { return []any{of(tensor.Int32, ints)} }, func(i int) float64 { return float64(slices.Sorted(slices.Values(ints))[i]) }, 0},
		{"gray", students, kernel.Grid(300, 128), func() []any { return []any{of(tensor.Uint8, bytes[:900]), zeros(tensor.Uint8, 300)} }, nil, 0},
		{"primes", students, kernel.Grid(120, 64), func() []any { return []any{zeros(tensor.Bool, 120)} }, func(i int) float64 {
			if big.NewInt(int64(i)).ProbablyPrime(9) {
				return 1
			}
			return 0
		}, 0},
		{"scan", students, kernel.Grid(128, 128), func() []any { return []any{tensor.New(x[:128], 128), tensor.Zeros(128)} }, func(i int) float64 {
			sum := 0.0
			for _, v := range x[:i+1] {
				sum += float64(v)
			}
			return sum
		}, 0},
		{"rowArgMax", students, kernel.Grid(20*32, 32), func() []any { return []any{50, tensor.New(x, 20, 50), zeros(tensor.Int32, 20)} }, func(i int) float64 {
			row := x[i*50:][:50]
			return float64(slices.Index(row, slices.Max(row)))
		}, 0},
		{"pi", students, kernel.Grid(128, 64), func() []any { return []any{40, zeros(tensor.Int32, 128)} }, nil, 0},
		{"tokens", students, kernel.Grid(64, 32), func() []any { return []any{of(tensor.Uint8, text), zeros(tensor.Int32, 128)} }, nil, 0},
		{"median", students, kernel.Grid(200, 64), func() []any { return []any{tensor.New(x[:200], 200), tensor.Zeros(200)} }, func(i int) float64 {
			var window []float32
			for k := i - 2; k <= i+2; k++ {
				window = append(window, x[min(max(k, 0), 199)])
			}
			slices.Sort(window)
			return float64(window[2])
		}, 0},
		{"blur", students, kernel.Grid2D(20, 13, 8, 8), func() []any { return []any{20, 13, tensor.New(x[:260], 13, 20), tensor.Zeros(13, 20)} }, nil, 0},
		{"bins", students, kernel.Grid(128, 64), func() []any { return []any{of(tensor.Int32, ints), zeros(tensor.Int32, 8)} }, func(i int) float64 {
			count, sum := 0, 0
			for _, v := range ints {
				if v%4 == i/2 {
					count, sum = count+1, sum+v
				}
			}
			return float64([]int{count, sum}[i%2])
		}, 0},
		{"popcount", students, kernel.Grid(128, 64), func() []any { return []any{of(tensor.Int64, ints), zeros(tensor.Int64, 128)} }, func(i int) float64 { return float64(mathbits.OnesCount(uint(ints[i]))) }, 0},
		{"heat", students, kernel.Shape{Blocks: kernel.Dim{X: 3, Y: 3, Z: 3}, Threads: kernel.Dim{X: 4, Y: 4, Z: 4}}, func() []any { return []any{9, tensor.New(x[:729], 729), tensor.Zeros(729)} }, nil, 0},
		{"horner", students, kernel.Grid(100, 32), func() []any { return []any{tensor.New(x[:100], 100).Cast(tensor.Float64), zeros(tensor.Float64, 100)} }, nil, 0},
		{"particles", students, kernel.Grid(50, 32), func() []any { return []any{3, tensor.New(x[:150], 150), tensor.Zeros(50)} }, nil, 0},
	}
}

// Kernels compute the same on the CPU and on a simulated GPU, with and without checks.
func TestKernels(t *testing.T) {
	for _, l := range slices.Concat(launches(), launchesOfStudents()) {
		t.Run(l.name, func(t *testing.T) {
			var first []float64
			for _, device := range devices {
				for _, options := range [][]kernel.Option{nil, {kernel.Unchecked()}} {
					on(t, device, func() {
						args := l.args()
						if err := compile(t, l.text, l.name, options...).Launch(l.shape, args...); err != nil {
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
