package kernel_test

import (
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/kernel"
	"github.com/quernlab/quern/accel/tensor"
)

//go:embed functions_test.go
var functions string

//go:embed oddities_test.go
var odd string

// edges are operands at which arithmetic has special cases.
func edges(kind int) []int64 {
	switch kind {
	case 10:
		var all []int64
		for _, f := range []float64{0, math.Copysign(0, -1), 1, -1, 1.5, 2.5, -0.5, 1e-40, 3e38, -3e38, 1.0 / 3, 16777217, math.Inf(1), math.Inf(-1), math.NaN()} {
			all = append(all, int64(math.Float32bits(float32(f))))
		}
		return all
	case 11:
		var all []int64
		for _, f := range []float64{0, math.Copysign(0, -1), 1, -1, 1.5, 2.5, -0.5, 5e-324, 1e308, -1e308, 1.0 / 3, 1e16 + 1, math.Inf(1), math.Inf(-1), math.NaN()} {
			all = append(all, int64(math.Float64bits(f)))
		}
		return all
	}
	all := []int64{0, 1, -1, 2, 3, 5, 7, 31, 32, 63, 64, 100, math.MaxInt64, math.MinInt64}
	for _, n := range []uint{7, 8, 15, 16, 31, 32} {
		all = append(all, 1<<n, 1<<n-1, -1<<n, -1<<n-1)
	}
	return all
}

// sameFloat reports whether results are equal, or NaN of the same size: the bits of NaN are not defined.
func sameFloat(a, b int64, kind int) bool {
	nan32 := func(x int64) bool { f := math.Float32frombits(uint32(x)); return uint64(x)>>32 == 0 && f != f }
	nan64 := func(x int64) bool { return math.IsNaN(math.Float64frombits(uint64(x))) }
	return a == b || (kind == 10 || kind == 11) && (nan32(a) && nan32(b) || nan64(a) && nan64(b))
}

// What a kernel computes is what the Go compiler's code computes.
func TestArithmetic(t *testing.T) {
	k := compile(t, functions, "evaluate")
	r := rand.New(rand.NewPCG(3, 4))
	for kind := range kindsOfFunctions {
		var a, b []int64
		for _, x := range edges(kind) {
			for _, y := range edges(kind) {
				a, b = append(a, x), append(b, y)
			}
		}
		for range 50 {
			a, b = append(a, int64(r.Uint64()>>r.IntN(64))), append(b, int64(r.Uint64()>>r.IntN(64)))
		}
		want := make([]int64, results*len(a))
		for i := range a {
			evaluateOne(kind, a[i], b[i], want[i*results:][:results])
		}
		for _, device := range devices {
			on(t, device, func() {
				out := tensor.Zeros(len(want)).Cast(tensor.Int64)
				if err := k.Launch(kernel.Grid(len(a), 128), kind, int64s(a), int64s(b), out); err != nil {
					t.Fatal(err)
				}
				raw := out.Raw()
				for i, w := range want {
					got := int64(binary.LittleEndian.Uint64(raw[8*i:]))
					if !sameFloat(got, w, kind) {
						t.Fatalf("%s: function %d of %#x and %#x: result %d is %#x, want %#x", device, kind, a[i/results], b[i/results], i%results, got, w)
					}
				}
			})
		}
	}
}

func int64s(x []int64) *tensor.Tensor {
	var raw []byte
	for _, v := range x {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(v))
	}
	return tensor.FromRaw(tensor.Int64, raw, len(x))
}

// The functions of oddities_test.go return on all devices what they return in Go.
func TestOddities(t *testing.T) {
	k := compile(t, odd+helpers(t), "oddities")
	var a, b []int64
	r := rand.New(rand.NewPCG(5, 6))
	numbers := []int64{0, 1, -1, 2, 3, 5, 7, 31, 32, 63, 64, 100, 127, 128, 255, 1 << 15, 1<<31 - 1, 1 << 31, -1 << 31, 1 << 32, math.MaxInt64, math.MinInt64}
	for _, x := range numbers {
		for range 7 {
			a, b = append(a, x, int64(r.Uint64()>>r.IntN(64))), append(b, numbers[r.IntN(len(numbers))], x)
		}
	}
	want := make([]int64, kindsOfOddities*len(a))
	for i := range want {
		var scratch [8]int64
		want[i] = oddity(i%kindsOfOddities, a[i/kindsOfOddities], b[i/kindsOfOddities], scratch[:])
	}
	for _, device := range devices {
		on(t, device, func() {
			out := tensor.Zeros(len(want)).Cast(tensor.Int64)
			if err := k.Launch(kernel.Grid(len(a), 64), kindsOfOddities, int64s(a), int64s(b), out); err != nil {
				t.Fatal(device, err)
			}
			raw := out.Raw()
			for i, w := range want {
				if got := int64(binary.LittleEndian.Uint64(raw[8*i:])); got != w {
					t.Errorf("%s: function %d of %d and %d is %#x, want %#x", device, i%kindsOfOddities, a[i/kindsOfOddities], b[i/kindsOfOddities], got, w)
				}
			}
		})
	}
}

// helpers returns the functions that both files use.
func helpers(t *testing.T) (text string) {
	t.Helper()
	for _, name := range []string{"truth", "bits", "bits64"} {
		_, rest, ok := strings.Cut(functions, "\nfunc "+name+"(")
		if !ok {
			t.Fatal(name)
		}
		body, _, _ := strings.Cut(rest, "\n}\n")
		if one, _, ok := strings.Cut(rest, " }\n"); ok && !strings.Contains(one, "\n") {
			body = one
			text += "\nfunc " + name + "(" + body + " }\n"
			continue
		}
		text += "\nfunc " + name + "(" + body + "\n}\n"
	}
	return text
}

// Short loops are unrolled, and arrays whose indices are then constant are in registers. That changes no result.
func TestUnrolled(t *testing.T) {
	for _, c := range []struct {
		body string
		want string // of n
		in   bool   // whether an array remains in memory
	}{
		{"var v [4]int32; for i := range v { v[i] = int32(i * i) }; for i := range 4 { n[i] = v[3-i] }", "[9 4 1 0]", false},
		{"var v [4]int32; for i := range v { v[i] = int32(i * i) }; n[0], n[1], n[2], n[3] = v[3], v[2], v[1], v[0]", "[9 4 1 0]", false},
		{"v := [4]int32{1, 2, 3, 4}; w := v; w[0] = 9; v, w = w, v; for i := range 4 { n[i] = v[i] - w[i] }", "[8 0 0 0]", false},
		{"for i := range 4 { if i == 1 { continue }; if i == 3 { break }; n[i] = int32(i + 1) }", "[1 0 3 0]", false},
		{"for i, v := range [4]int32{5, 6, 7, 8} { v += int32(i); n[i] = v }", "[5 7 9 11]", false},
		{"for i := range 4 { j := i; j++; for k := range 3 { n[i] += int32(j * k) } }", "[3 6 9 12]", false},
		{"for i := range 4 { i *= 2; if i < 4 { n[i] = 1 } }", "[1 0 1 0]", false},
		{"var v [4]int32; for i := range 3 { for j := range 4 { v[j] += int32(i + j) } }; for i := range 4 { n[i] = v[i] }", "[3 6 9 12]", false},
		{"for i := range int32(3) { n[i+1] = i }", "[0 0 1 2]", false},
		{"var v [4][2]int32; for i := range 4 { v[i][i%2] = int32(i) }; for i, w := range v { n[i] = w[0]*10 + w[1] }", "[0 1 20 3]", false},
		{"var v [4]int32; for i := range v { v[(i*3+int(a))%4] = int32(i) }; for i := range 4 { n[i] = v[i] }", "[1 0 3 2]", true},
		{"for i := range 4 { n[i] = int32(i/2*10 - i%2) }", "[0 -1 10 9]", false},
		{"for range 3 { n[0]++ }", "[3 0 0 0]", false},
		{"for i := range 4 { switch i { case 1: n[i] = 5; case 2: break; default: n[i] = 7 } }", "[7 5 0 7]", false},
	} {
		k := compile(t, file(c.body), "k")
		if in := strings.Contains(k.PTX(), ".local"); in != c.in {
			t.Errorf("%s: an array is in memory: %v", c.body, in)
		}
		for _, device := range devices {
			on(t, device, func() {
				n := filled(tensor.Int32, 4, 0)
				if err := k.Launch(kernel.Grid(1, 1), float32(1), tensor.Zeros(8), n); err != nil || fmt.Sprint(n.Ints()) != c.want {
					t.Errorf("%s on %s: %v, %v, want %s", c.body, device, n.Ints(), err, c.want)
				}
			})
		}
	}
	// What is an error in a loop is one in an unrolled one.
	for body, want := range map[string]string{
		"var v [3]int32; for i := range 4 { v[i] = 1 }; n[0] = v[0]": "index 3 is out of range of v with length 3",
		"for i := range 3 { n[0] = 7 / (int32(i) - 1) }":             "integer divide by zero",
		"for i := range 3 { n[0] = int32(6 / i) }":                   "integer divide by zero",
		"for i := range 3 { n[0] = 1 << (1 - i) }":                   "negative shift amount -1",
		"var v [3]int32; for i := range 3 { n[0] = v[i-1] }":         "index -1 is out of range of v with length 3",
	} {
		k := compile(t, file(body), "k")
		for _, device := range devices {
			on(t, device, func() {
				err := k.Launch(kernel.Grid(1, 1), float32(1), tensor.Zeros(8), filled(tensor.Int32, 4, 0))
				var f *kernel.Fault
				if !errors.As(err, &f) || f.Reason != want {
					t.Errorf("%s on %s: %v, want %s", body, device, err, want)
				}
			})
		}
	}
}

// A shared array that a function declares stays one in a loop.
func TestUnrolledShared(t *testing.T) {
	const text = `package main

import "github.com/quernlab/quern/accel/kernel"

func turned(t kernel.Thread, v int32) int32 {
	var s [2048]int32
	kernel.Shared(&s)
	s[t.ThreadX()] = v
	t.Sync()
	v = s[31-t.ThreadX()]
	t.Sync()
	return v
}

func k(t kernel.Thread, n []int32) {
	for range 7 {
		n[t.ThreadX()] = turned(t, n[t.ThreadX()])
	}
}`
	n := of(tensor.Int32, 32)
	want := turned(values(t, n), 1)
	if err := compile(t, text, "k").Launch(kernel.Grid(32, 32), n); err != nil {
		t.Fatal(err)
	}
	for i, got := range values(t, n) {
		if got != want[31-i] {
			t.Fatalf("element %d is %v, want %v", i, got, want[31-i])
		}
	}
}

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
