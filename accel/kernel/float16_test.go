package kernel_test

import (
	_ "embed"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/kernel"
	"github.com/quernlab/quern/accel/tensor"
)

//go:embed testdata/float16.go
var float16Kernels string

// numbers16 returns float32 numbers of all kinds for conversions to 16 bits: those around each border of rounding, and random bits.
func numbers16() []float32 {
	r := rand.New(rand.NewPCG(1, 2))
	var all []float32
	add := func(bits uint32) {
		for _, b := range []uint32{bits - 1, bits, bits + 1} {
			all = append(all, math.Float32frombits(b), math.Float32frombits(b^1<<31))
		}
	}
	for _, v := range []float64{0, 0x1p-149, 0x1p-126, 0x1p-25, 0x1p-24, 3 * 0x1p-25, 0x1p-14, 0x1p-14 - 0x1p-25, 1, 1 + 0x1p-11, 1 + 3*0x1p-11, 1 + 0x1p-8, 1 + 3*0x1p-8,
		2048, 2049, 65504, 65519, 65520, 65536, 1e30, math.MaxFloat32, math.Inf(1), math.NaN()} {
		add(math.Float32bits(float32(v)))
	}
	for range 4000 {
		all = append(all, math.Float32frombits(r.Uint32()), float32(math.Ldexp(r.Float64(), r.IntN(40)-26)))
	}
	return all
}

// Conversions in kernels are those of Cast, for each of the 16-bit floats, and back for numbers of all kinds.
func TestFloat16(t *testing.T) {
	bits := make([]byte, 0, 2<<16)
	for b := range 1 << 16 {
		bits = binary.LittleEndian.AppendUint16(bits, uint16(b))
	}
	x := numbers16()
	for _, c := range []struct {
		d             tensor.DType
		widen, narrow string
	}{{tensor.Float16, "widen16", "narrow16"}, {tensor.BFloat16, "widenB16", "narrowB16"}} {
		for _, device := range devices {
			on(t, device, func() {
				all := tensor.FromRaw(c.d, bits, 1<<16)
				wide := tensor.Zeros(1 << 16)
				if err := compile(t, float16Kernels, c.widen).Launch(kernel.Grid(1<<16, 256), all, wide); err != nil {
					t.Fatal(err)
				}
				equal16(t, device+" "+c.widen, wide, all.Cast(tensor.Float32))
				from, to := tensor.New(x, len(x)), tensor.Zeros(len(x)).Cast(c.d)
				if err := compile(t, float16Kernels, c.narrow).Launch(kernel.Grid(len(x), 256), from, to); err != nil {
					t.Fatal(err)
				}
				equal16(t, device+" "+c.narrow, to, from.Cast(c.d))
			})
		}
	}
}

// equal16 compares elements, also signs of zeros.
func equal16(t *testing.T, name string, got, want *tensor.Tensor) {
	t.Helper()
	a, b := got.Float64s(), want.Float64s()
	for i := range b {
		if math.Float64bits(a[i]) != math.Float64bits(b[i]) && !(math.IsNaN(a[i]) && math.IsNaN(b[i])) {
			t.Fatalf("%s: element %d is %v, want %v", name, i, a[i], b[i])
		}
	}
}

func TestFloat16InMemory(t *testing.T) {
	for _, device := range devices {
		on(t, device, func() {
			x, y := tensor.New([]float32{1, 2.5, -3}, 3).Cast(tensor.BFloat16), tensor.Zeros(3).Cast(tensor.BFloat16)
			if err := compile(t, float16Kernels, "reversed16").Launch(kernel.Grid(64, 64), x, y); err != nil {
				t.Fatal(err)
			}
			if got := y.Float64s(); got[0] != -6 || got[1] != 5 || got[2] != 2 {
				t.Error(device, got)
			}
		})
	}
}

// An operation on 16-bit floats has results and gradients of 16 bits.
func TestOpOnFloat16(t *testing.T) {
	for _, device := range devices {
		on(t, device, func() {
			op, err := kernel.Op(compile(t, float16Kernels, "squareB16"), kernel.Gradient(compile(t, float16Kernels, "squareB16Gradient")))
			if err != nil {
				t.Fatal(err)
			}
			x := tensor.Parameter(tensor.New([]float32{1.1, -2.3, 0.7}, 3).Cast(tensor.BFloat16))
			other := tensor.Parameter(x.Detach())
			y, want := op.Apply(x), other.Square()
			y.Cast(tensor.Float32).Sum().Backward()
			want.Cast(tensor.Float32).Sum().Backward()
			if y.DType() != tensor.BFloat16 {
				t.Error(y.DType())
			}
			equal16(t, device, y, want)
			equal16(t, device+" gradient", x.Grad(), other.Grad())
		})
	}
}

func TestFloat16Errors(t *testing.T) {
	t.Parallel()
	source := func(body string) string {
		return "package main\n\nimport \"github.com/quernlab/quern/accel/kernel\"\n\nfunc k(t kernel.Thread, x, y []kernel.BFloat16, z []kernel.Float16) {\n" + body + "\n}\n"
	}
	for _, c := range []struct{ body, want string }{
		{"y[0] = x[0] + x[1]", "6:8: invalid operation: operator + not defined on x[0]"},
		{"if x[0] == y[0] { return }", "struct containing [0]func() cannot be compared"},
		{"y[0] = 1", "cannot use 1"},
		{"y[0] = kernel.BFloat16(z[0])", "cannot convert z[0]"},
		{"y[0] = kernel.ToBFloat16(z[0])", "cannot use z[0]"},
		{"y[0] = kernel.BFloat16{bfloat16: 3}", "bfloat16"},
		{"kernel.AtomicAdd(&y[0], y[1])", "BFloat16 does not satisfy"},
	} {
		if _, err := kernel.Compile(kernel.Source(source(c.body), "k")); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.body, err, c.want)
		}
	}
	_, err := kernel.Compile(kernel.Source("package main\n\nimport \"github.com/quernlab/quern/accel/kernel\"\n\nfunc k(t kernel.Thread, a kernel.BFloat16, y []float32) {}\n", "k"))
	if err == nil || !strings.Contains(err.Error(), "5:25: a parameter of type kernel.BFloat16 is not supported: pass a float32") {
		t.Error(err)
	}
	err = compile(t, float16Kernels, "widen16").Launch(kernel.Grid(1, 1), tensor.Ones(1).Cast(tensor.BFloat16), tensor.Ones(1))
	if err == nil || !strings.Contains(err.Error(), "the argument for x is a tensor of bfloat16, not of float16") {
		t.Error(err)
	}
}

// Outside of kernels the conversions are those of kernels.
func TestFloat16InGo(t *testing.T) {
	all := numbers16()
	x := tensor.New(all, len(all))
	halves, brains := x.Cast(tensor.Float16).Float64s(), x.Cast(tensor.BFloat16).Float64s()
	for i, x := range all {
		for _, c := range []struct{ got, want float64 }{{float64(kernel.ToFloat16(x).Float32()), halves[i]}, {float64(kernel.ToBFloat16(x).Float32()), brains[i]}} {
			if math.Float64bits(c.got) != math.Float64bits(c.want) && !(math.IsNaN(c.got) && math.IsNaN(c.want)) {
				t.Fatalf("%v: got %v, want %v", x, c.got, c.want)
			}
		}
	}
}
