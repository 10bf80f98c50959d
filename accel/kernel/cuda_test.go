package kernel_test

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	mathbits "math/bits"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/internal/cuda/library"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
	"github.com/quernlab/quern/accel/kernel"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/internal/golden"
	"github.com/quernlab/quern/internal/testenv"
)

// values returns the elements of a tensor.
func values(t *testing.T, x *tensor.Tensor) []float64 {
	t.Helper()
	raw, n := x.Raw(), x.DType().Size()
	out := make([]float64, len(raw)/n)
	for i := range out {
		b := raw[i*n:]
		switch x.DType() {
		case tensor.Float32:
			out[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
		case tensor.Float64:
			out[i] = math.Float64frombits(binary.LittleEndian.Uint64(b))
		case tensor.Int32:
			out[i] = float64(int32(binary.LittleEndian.Uint32(b)))
		case tensor.Int64:
			out[i] = float64(int64(binary.LittleEndian.Uint64(b)))
		case tensor.Uint8, tensor.Bool:
			out[i] = float64(b[0])
		case tensor.Float16:
			out[i] = float64(tensortype.Float16Value(binary.LittleEndian.Uint16(b)))
		case tensor.BFloat16:
			out[i] = float64(tensortype.BFloat16Value(binary.LittleEndian.Uint16(b)))
		default:
			t.Fatalf("a tensor of %s", x.DType())
		}
	}
	return out
}

// of returns a tensor of random numbers, and filled one of a number.
func of(d tensor.DType, n int) *tensor.Tensor {
	if d.IsFloat() {
		return tensor.New(floats(n), n).Cast(d)
	}
	return tensor.FromInts(integers(n, 1000), n).Cast(d)
}

func filled(d tensor.DType, n int, v float64) *tensor.Tensor { return tensor.Full(v, n).Cast(d) }

// each returns f of each element.
func each(x []float64, f func(i int, v float64) float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = f(i, v)
	}
	return out
}

// product returns the product of matrices [m, k] and [k, n], plus c.
func product(a, b []float64, m, n, k int, c float64) []float64 {
	out := make([]float64, m*n)
	for i := range out {
		out[i] = c
		for p := range k {
			out[i] += a[i/n*k+p] * b[p*n+i%n]
		}
	}
	return out
}

// turned returns the transposed matrix of one with some columns.
func turned(x []float64, columns int) []float64 {
	rows := len(x) / columns
	return each(x, func(i int, _ float64) float64 { return x[i%rows*columns+i/rows] })
}

// cudaCase is a launch of a kernel in CUDA C++, and what it must compute from the tensors among its arguments.
type cudaCase struct {
	file, name string
	shape      kernel.Shape
	args       func() []any
	out        int // the tensor with the result
	want       func(in [][]float64) []float64
	within     float64 // the largest difference
}

const half, bfloat = tensor.Float16, tensor.BFloat16

// affineStruct is the struct Affine of the kernels.
type affineStruct struct {
	Scale float32
	Shift float64
	Steps [2]int32
}

func grid(blocks, threads int) kernel.Shape {
	return kernel.Shape{Blocks: kernel.Dim{X: blocks}, Threads: kernel.Dim{X: threads}}
}

func withShared(s kernel.Shape, bytes int) kernel.Shape {
	s.SharedBytes = bytes
	return s
}

// some are numbers with both signs.
func some(d tensor.DType, n int) *tensor.Tensor {
	return tensor.FromInts(each2(integers(n, 41), func(v int) int { return v - 20 }), n).Cast(d)
}

func each2(x []int, f func(int) int) []int {
	for i, v := range x {
		x[i] = f(v)
	}
	return x
}

var cudaCases = []cudaCase{
	{"basic", "saxpy", kernel.Grid(100, 32), func() []any {
		return []any{100, float32(0.5), of(tensor.Float32, 100), filled(tensor.Float32, 100, 3)}
	}, 1, func(in [][]float64) []float64 {
		return each(in[0], func(_ int, v float64) float64 { return 3 + v/2 })
	}, 0},
	{"basic", "affine", grid(2, 32), func() []any {
		return []any{affineStruct{2, -0.5, [2]int32{3, -4}}, of(tensor.Float32, 150), int32(150)}
	}, 0, func(in [][]float64) []float64 {
		return each(in[0], func(i int, v float64) float64 { return 2*v - 0.5 + 3 - 7*float64(i%2) })
	}, 0},
	{"basic", "scale4", grid(1, 32), func() []any { return []any{of(tensor.Float32, 80), float32(3), 20} }, 0, func(in [][]float64) []float64 {
		return each(in[0], func(i int, v float64) float64 { return v * []float64{3, 1, 1, -1}[i%4] })
	}, 0},
	{"basic", "powers<double, 5>", grid(1, 32), func() []any { return []any{of(tensor.Float64, 30), of(tensor.Float64, 31), 30} }, 1, func(in [][]float64) []float64 {
		return append(each(in[0], func(_ int, v float64) float64 { return v * v * v * v * v }), in[1][30])
	}, 0},
	{"basic", "powers<int, 3>", grid(1, 32), func() []any { return []any{of(tensor.Int32, 32), of(tensor.Int32, 32), 32} }, 1, func(in [][]float64) []float64 {
		return each(in[0], func(_ int, v float64) float64 { return v * v * v })
	}, 0},
	{"basic", "bitsOf", grid(1, 32), func() []any { return []any{some(tensor.Int32, 20), filled(tensor.Int32, 160, 0), 20} }, 1, func(in [][]float64) (out []float64) {
		for _, v := range in[0] {
			u := uint32(int32(v))
			permuted := u&0xff | (0x01020304&0xff)<<8 | u>>8&0xff<<16 | 0x03<<24 // selectors 0, 4, 1, 5
			high, _ := mathbits.Mul32(u, u)
			out = append(out, float64(mathbits.OnesCount32(u)), float64(mathbits.LeadingZeros32(u)), float64((mathbits.TrailingZeros32(u)+1)%33),
				float64(int32(mathbits.Reverse32(u))), float64(int32(permuted)), float64(int32(u)/7), float64(int32(u)%7), float64(int32(high)))
		}
		return out
	}, 0},
	{"basic", "functions", grid(1, 32), func() []any { return []any{of(tensor.Float32, 30), filled(tensor.Float32, 360, 0), 30} }, 1, func(in [][]float64) (out []float64) {
		for _, v := range in[0] {
			out = append(out, math.Sin(v), math.Cos(v), math.Exp(v), math.Log(math.Abs(v)+1), math.Tanh(v), math.Erf(v), math.Pow(math.Abs(v), 1.5),
				1/math.Sqrt(v*v+1), math.Atan2(v, 2), math.Mod(v, float64(float32(0.7))), math.Cbrt(v), math.RoundToEven(v))
		}
		return out
	}, 1e-5},
	{"basic", "doubles", grid(1, 32), func() []any { return []any{of(tensor.Float64, 30), filled(tensor.Float64, 180, 0), 30} }, 1, func(in [][]float64) (out []float64) {
		for _, v := range in[0] {
			out = append(out, math.Sin(v), math.Exp(v), math.Log1p(math.Abs(v)), math.Sqrt(math.Abs(v)), v/3, math.Floor(v*10))
		}
		return out
	}, 1e-14},
	{"basic", "collatz", grid(1, 64), func() []any { return []any{filled(tensor.Int32, 50, 0), 50} }, 0, func(in [][]float64) []float64 {
		return each(in[0], func(i int, _ float64) (steps float64) {
			for v := i + 1; v != 1; steps++ {
				if v%2 == 0 {
					v /= 2
				} else {
					v = 3*v + 1
				}
			}
			return steps
		})
	}, 0},
	{"basic", "polynomial", grid(1, 32), func() []any {
		return []any{tensor.New([]float32{1, -2, 0.5, 0.25}, 4), 4, of(tensor.Float32, 32)}
	}, 1, func(in [][]float64) []float64 {
		return each(in[1], func(_ int, v float64) float64 { return 1 - 2*v + 0.5*v*v + 0.25*v*v*v })
	}, 1e-5},
	{"basic", "sortedEight", grid(1, 32), func() []any { return []any{of(tensor.Int32, 256)} }, 0, func(in [][]float64) []float64 {
		out := slices.Clone(in[0])
		for eight := range slices.Chunk(out, 8) {
			slices.Sort(eight)
		}
		return out
	}, 0},
	{"basic", "blur", grid(1, 64), func() []any { return []any{of(tensor.Float32, 60), filled(tensor.Float32, 60, 0), 60} }, 1, func(in [][]float64) []float64 {
		at := func(i int) float64 { return in[0][min(max(i, 0), 59)] }
		return each(in[0], func(i int, v float64) float64 { return (at(i-2) + 4*at(i-1) + 6*v + 4*at(i+1) + at(i+2)) / 16 })
	}, 0},
	{"basic", "plain", grid(1, 32), func() []any { return []any{of(tensor.Float32, 32), int64(20), uint8(200)} }, 0, func(in [][]float64) []float64 {
		return each(in[0], func(i int, v float64) float64 {
			if i < 20 {
				v += 200
			}
			return v
		})
	}, 0},

	{"blocks", "sum", grid(3, 64), func() []any { return []any{of(tensor.Float32, 1000), filled(tensor.Float32, 1, 0), 1000} }, 1, func(in [][]float64) []float64 {
		total := 0.0
		for _, v := range in[0] {
			total += v
		}
		return []float64{total}
	}, 0},
	{"blocks", "argmax", kernel.Grid(300, 64), func() []any { return []any{of(tensor.Int32, 300), filled(tensor.Int64, 1, 0), 300} }, 1, func(in [][]float64) []float64 {
		best := 0
		for i, v := range in[0] {
			if v >= in[0][best] {
				best = i
			}
		}
		return []float64{in[0][best]*(1<<32) + float64(best)}
	}, 0},
	{"blocks", "histogram", grid(2, 64), func() []any {
		return []any{tensor.FromInts(integers(500, 256), 500).Cast(tensor.Uint8), filled(tensor.Int32, 16, 0), 500}
	}, 1, func(in [][]float64) []float64 {
		out := make([]float64, 16)
		for _, v := range in[0] {
			out[int(v)/16]++
		}
		return out
	}, 0},
	{"blocks", "scan", grid(1, 256), func() []any { return []any{of(tensor.Int32, 256)} }, 0, sums, 0},
	{"blocks", "scanWarp", grid(1, 32), func() []any { return []any{of(tensor.Int32, 32)} }, 0, sums, 0},
	{"blocks", "butterfly", grid(1, 32), func() []any { return []any{of(tensor.Float32, 32)} }, 0, func(in [][]float64) []float64 {
		return each(in[0], func(int, float64) float64 { return slices.Max(in[0]) - in[0][3] })
	}, 0},
	{"blocks", "votes", grid(1, 32), func() []any { return []any{some(tensor.Int32, 32), filled(tensor.Int32, 128, 0)} }, 1, func(in [][]float64) (out []float64) {
		var positive uint32
		for i, v := range in[0] {
			if v > 0 {
				positive |= 1 << i
			}
		}
		for _, v := range in[0] {
			var same uint32
			for j, w := range in[0] {
				if v == w {
					same |= 1 << j
				}
			}
			out = append(out, float64(int32(positive)), 0, 1, float64(int32(same)))
		}
		return out
	}, 0},
	{"blocks", "compact", grid(1, 64), func() []any {
		return []any{some(tensor.Int32, 50), filled(tensor.Int32, 64, 0), filled(tensor.Int32, 1, 0), 50}
	}, 1, func(in [][]float64) []float64 {
		// The warps append in any order, and the simulator runs them in theirs.
		out := make([]float64, 0, 64)
		for _, v := range in[0] {
			if v > 0 {
				out = append(out, v)
			}
		}
		return out[:64]
	}, 0},
	{"blocks", "exchange", grid(1, 32), func() []any { return []any{of(tensor.Float32, 32)} }, 0, func(in [][]float64) []float64 {
		return each(in[0], func(i int, _ float64) float64 { return in[0][31-i] })
	}, 0},
	{"blocks", "softmax", withShared(grid(3, 32), 4*70), func() []any { return []any{of(tensor.Float32, 210), filled(tensor.Float32, 210, 0), 70} }, 1, func(in [][]float64) (out []float64) {
		for row := range slices.Chunk(in[0], 70) {
			total := 0.0
			for _, v := range row {
				total += math.Exp(v)
			}
			out = append(out, each(row, func(_ int, v float64) float64 { return math.Exp(v) / total })...)
		}
		return out
	}, 1e-7},
	{"blocks", "layerNorm", grid(3, 32), func() []any {
		return []any{of(tensor.Float32, 210), of(tensor.Float32, 70), filled(tensor.Float32, 210, 0), 70, float32(0.25)}
	}, 2, func(in [][]float64) (out []float64) {
		for row := range slices.Chunk(in[0], 70) {
			mean, variance := 0.0, 0.0
			for _, v := range row {
				mean += v / 70
			}
			for _, v := range row {
				variance += (v - mean) * (v - mean) / 70
			}
			out = append(out, each(row, func(i int, v float64) float64 { return (v - mean) / math.Sqrt(variance+0.25) * in[1][i] })...)
		}
		return out
	}, 1e-5},
	{"blocks", "lastBlock", grid(5, 32), func() []any {
		return []any{of(tensor.Float32, 160), filled(tensor.Float32, 5, 0), filled(tensor.Int32, 1, 0), filled(tensor.Float32, 1, 0)}
	}, 3, func(in [][]float64) []float64 { return sums(in)[159:] }, 0},
	{"blocks", "spread", grid(1, 64), func() []any { return []any{filled(tensor.Int32, 33, 0)} }, 0, func(in [][]float64) []float64 {
		out := make([]float64, 33)
		for i := range 64 {
			out[i%4] = max(out[i%4], float64(i*37%101+1))
		}
		return out
	}, 0},

	{"tiles", "transpose", kernel.Shape{Blocks: kernel.Dim{X: 3, Y: 2}, Threads: kernel.Dim{X: 16, Y: 16}}, func() []any {
		return []any{of(tensor.Float32, 20*37), filled(tensor.Float32, 37*20, 0), 20, 37}
	}, 1, func(in [][]float64) []float64 { return turned(in[0], 37) }, 0},
	{"tiles", "matmul", kernel.Shape{Blocks: kernel.Dim{X: 3, Y: 2}, Threads: kernel.Dim{X: 16, Y: 16}}, func() []any {
		return []any{of(tensor.Float32, 20*18), of(tensor.Float32, 18*35), filled(tensor.Float32, 20*35, 0), 20, 35, 18}
	}, 2, func(in [][]float64) []float64 { return product(in[0], in[1], 20, 35, 18, 0) }, 0},
	{"tiles", "stencil", kernel.Shape{Blocks: kernel.Dim{X: 2, Y: 2}, Threads: kernel.Dim{X: 16, Y: 16}}, func() []any {
		return []any{of(tensor.Float32, 20*27), filled(tensor.Float32, 20*27, 0), 20, 27}
	}, 1, func(in [][]float64) []float64 {
		at := func(row, column int) float64 {
			if row < 0 || row >= 20 || column < 0 || column >= 27 {
				return 0
			}
			return in[0][row*27+column]
		}
		return each(in[0], func(i int, v float64) float64 {
			return at(i/27-1, i%27) + at(i/27+1, i%27) + at(i/27, i%27-1) + at(i/27, i%27+1) - 4*v
		})
	}, 0},

	{"matrix", "halfSaxpy", grid(1, 64), func() []any { return []any{50, float32(0.5), of(half, 50), filled(half, 50, 3)} }, 1, func(in [][]float64) []float64 {
		return each(in[0], func(_ int, v float64) float64 { return 3 + v/2 })
	}, 0},
	{"matrix", "half2Scale", grid(1, 32), func() []any { return []any{of(half, 40), 20} }, 0, func(in [][]float64) []float64 {
		return each(in[0], func(i int, v float64) float64 { return (v + 1) * []float64{2, -0.5}[i%2] })
	}, 0},
	{"matrix", "bfloatGelu", grid(1, 64), func() []any { return []any{of(bfloat, 50), filled(bfloat, 50, 0), 50} }, 1, func(in [][]float64) []float64 {
		return each(in[0], func(_ int, v float64) float64 { return v / (1 + math.Exp(-1.702*v)) })
	}, 1.0 / 64},
	{"matrix", "wmmaHalf", kernel.Shape{Blocks: kernel.Dim{X: 3, Y: 2}, Threads: kernel.Dim{X: 32}}, func() []any {
		return []any{of(half, 32*80), of(half, 48*80), filled(tensor.Float32, 32*48, 0), 48, 80}
	}, 2, func(in [][]float64) []float64 {
		return each(product(in[0], turned(in[1], 80), 32, 48, 80, 0), func(_ int, v float64) float64 { return v / 2 })
	}, 0},
	{"matrix", "wmmaTF32", grid(1, 32), func() []any {
		return []any{of(tensor.Float32, 128), of(tensor.Float32, 128).MulScalar(0.25), of(tensor.Float32, 256)}
	}, 2, func(in [][]float64) []float64 {
		p := product(in[0], in[1], 16, 16, 8, 0)
		return turned(each(p, func(i int, v float64) float64 { return v + in[2][i] }), 16)
	}, 0},
	{"matrix", "wmmaBytes", grid(1, 32), func() []any {
		bytes := func() *tensor.Tensor { return tensor.FromInts(integers(256, 256), 256).Cast(tensor.Uint8) }
		return []any{bytes(), bytes(), filled(tensor.Int32, 256, 0)}
	}, 2, func(in [][]float64) []float64 { return product(in[0], in[1], 16, 16, 16, 7) }, 0},
	{"matrix", "mmaHalf", grid(1, 32), func() []any {
		// Two elements are an integer of 32 bits.
		words := func(n int) *tensor.Tensor { return asWords(of(half, n)) }
		return []any{words(256), words(128), filled(tensor.Float32, 128, 0)}
	}, 2, func([][]float64) []float64 {
		widened := func(n int) []float64 {
			return each(make([]float64, n), func(i int, _ float64) float64 { return float64(floats(n)[i]) })
		}
		return product(widened(256), turned(widened(128), 16), 16, 8, 16, 1)
	}, 0},

	{"groups", "groupSums", grid(1, 64), func() []any { return []any{of(tensor.Float32, 64), filled(tensor.Float32, 4, 0)} }, 1, func(in [][]float64) []float64 {
		out := make([]float64, 4)
		for i, v := range in[0] {
			out[i/16] += v
		}
		out[0] *= 2
		return out
	}, 0},
	{"groups", "groupMax", grid(1, 32), func() []any { return []any{of(tensor.Int32, 32), filled(tensor.Int32, 1, 0)} }, 1, func(in [][]float64) []float64 {
		return []float64{slices.Max(in[0]) + 32}
	}, 0},
}

// sums are those of the elements up to each.
func sums(in [][]float64) []float64 {
	total := 0.0
	return each(in[0], func(_ int, v float64) float64 {
		total += v
		return total
	})
}

// asWords returns the bits of a tensor as integers of 32 bits.
func asWords(x *tensor.Tensor) *tensor.Tensor {
	raw := x.Raw()
	return tensor.FromRaw(tensor.Int32, raw, len(raw)/4)
}

// run runs the cases on a device, or without a name with Check, and compares the results.
func (c *cudaCase) run(t *testing.T, k *kernel.Kernel, device string) {
	t.Helper()
	args := c.args()
	var tensors []*tensor.Tensor
	var in [][]float64
	for _, a := range args {
		if x, ok := a.(*tensor.Tensor); ok {
			tensors, in = append(tensors, x), append(in, values(t, x))
		}
	}
	if device == "" {
		report, err := kernel.Check(k, c.shape, args...)
		if err != nil {
			t.Errorf("%s: Check: %v", c.name, err)
		} else if len(report.Lines) == 0 && !strings.HasPrefix(c.name, "wmma") { // whose loads are not counted
			t.Errorf("%s: no lines: %+v", c.name, report.Lines)
		}
		if got := values(t, tensors[c.out]); !slices.Equal(got, in[c.out]) {
			t.Errorf("%s: Check has changed a tensor", c.name)
		}
		return
	}
	if err := k.Launch(c.shape, args...); err != nil {
		t.Errorf("%s on %s: %v", c.name, device, err)
		return
	}
	got, want := values(t, tensors[c.out]), c.want(in)
	for i := range want {
		if math.Abs(got[i]-want[i]) > c.within*max(1, math.Abs(want[i])) || math.IsNaN(got[i]) || len(got) != len(want) {
			t.Errorf("%s on %s: element %d of %d is %v, want %v (%d elements)", c.name, device, i, len(got), got[i], want[i], len(want))
			return
		}
	}
}

// Kernels in CUDA C++ compute what Go does: on the CPU, on a simulated GPU, and Check finds no fault.
func TestCUDAKernels(t *testing.T) {
	runCUDA(t, fromPTX)
}

// The same with the NVRTC that is installed.
func TestCUDAKernelsOfNVRTC(t *testing.T) {
	installedNVRTC(t)
	runCUDA(t, fromNVRTC)
}

func runCUDA(t *testing.T, from func(t *testing.T, file string) map[string]*kernel.Kernel) {
	kernels := map[string]map[string]*kernel.Kernel{}
	for _, file := range cudaFiles {
		kernels[file] = from(t, file)
	}
	for _, device := range append([]string{""}, devices...) {
		on(t, cmp.Or(device, "cpu"), func() {
			for _, c := range cudaCases {
				k := kernels[c.file][c.name]
				if k == nil {
					t.Fatalf("there is no kernel %s, but %v", c.name, kernels[c.file])
				}
				c.run(t, k, device)
			}
		})
	}
}

// cudaFiles are the files of testdata/cuda without their ending: the sources, and the PTX that NVRTC has made of them.
var cudaFiles = []string{"basic", "blocks", "tiles", "matrix", "groups", "print"}

// fromNVRTC compiles the sources with NVRTC.
func fromNVRTC(t *testing.T, file string) map[string]*kernel.Kernel {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "cuda", file+".cu"))
	if err != nil {
		t.Fatal(err)
	}
	all, err := kernel.CompileCUDAAll("#line 1 \"" + file + ".cu\"\n" + string(text))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// fromPTX reads the PTX of the sources.
func fromPTX(t *testing.T, file string) map[string]*kernel.Kernel {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "cuda", file+".ptx"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*kernel.Kernel{}
	for line := range strings.Lines(string(text)) {
		if _, rest, ok := strings.Cut(line, ".entry "); ok {
			k, err := kernel.CompilePTX(string(text), strings.TrimRight(rest, "(\n"))
			if err != nil {
				t.Fatal(err)
			}
			all[k.Name()] = k
		}
	}
	return all
}

// installedNVRTC skips the test without NVRTC.
func installedNVRTC(t *testing.T) {
	t.Helper()
	if venv, err := filepath.Abs("../../.venv"); err == nil && os.Getenv("VIRTUAL_ENV") == "" {
		t.Setenv("VIRTUAL_ENV", venv) // that of make kernelspec
	}
	if _, err := kernel.CompileCUDA("__global__ void k() {}", "k"); errors.As(err, new(*library.MissingError)) || errors.Is(err, library.ErrBuild) {
		testenv.Optional(t, "%v", err)
	}
}

// What the simulator does not read of the PTX, and what depends on the machine.
var (
	headerFolder = regexp.MustCompile(`(\.file\s+\d+ ")/.*/include/`)
	debugSection = regexp.MustCompile(`(?s)\s*\.section\s+\.debug.*?\n\s*\}\n`)
	functionName = regexp.MustCompile(`, function_name [^,\n]*`)
)

// With -update, NVRTC writes the PTX of the sources. The files depend on its version.
func TestUpdatePTX(t *testing.T) {
	if !golden.Update() {
		testenv.Optional(t, "only with -update")
	}
	installedNVRTC(t)
	for _, file := range cudaFiles {
		for _, k := range fromNVRTC(t, file) {
			text := headerFolder.ReplaceAllString(k.PTX(), "${1}/cuda/include/")
			text = functionName.ReplaceAllString(debugSection.ReplaceAllString(text, ""), "")
			if err := os.WriteFile(filepath.Join("testdata", "cuda", file+".ptx"), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			break // all have the same text
		}
	}
}

// A write out of range of an unchecked kernel is an error on the CPU. A GPU loses its memory; the error says what to do. It is in a process of its own, as
// the simulated GPU cannot be used again, either.
func TestUncheckedWrite(t *testing.T) {
	device := os.Getenv("DEVICE_TO_LOSE")
	if device != "" {
		if err := accel.SetDevice(device); err != nil {
			t.Fatal(err)
		}
		x := tensor.Zeros(8)
		t.Log(compile(t, file("x[1<<40+t.Global()] = 1"), "k", kernel.Unchecked()).Launch(kernel.Grid(8, 8), float32(1), x, tensor.Zeros(1).Cast(tensor.Int32)))
		return
	}
	for device, want := range map[string]string{
		"cpu":       "kernel k: kernel.go:10: element 1099511627776 of x, which contains 8, in thread [0 0 0] of block [0 0 0]",
		"simulated": "CUDA_ERROR_ILLEGAL_ADDRESS",
	} {
		c := exec.Command(os.Args[0], "-test.run=^TestUncheckedWrite$", "-test.v")
		c.Env = append(os.Environ(), "DEVICE_TO_LOSE="+device)
		out, err := c.CombinedOutput()
		if err != nil || !strings.Contains(string(out), want) || device == "simulated" && !strings.Contains(string(out), "the contents of GPU memory are lost; restart the session to use the GPU again") {
			t.Errorf("%s: %v\n%s", device, err, out)
		}
	}
}
