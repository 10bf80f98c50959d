package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/quernlab/quern/accel/kernel"
	"github.com/quernlab/quern/accel/tensor"
)

// file returns a file with a kernel k, of which body is the body, in line 10.
func file(body string) string {
	return `package main

import (
	"math"
	"strings"
	"github.com/quernlab/quern/accel/kernel"
)
var outside int
const two = 2; type number int; func (n *number) grow() {}; func f(x float32) float32 { return g(x) }; func g(x float32) float32 { return f(x) }
func k(t kernel.Thread, a float32, x []float32, n []int32) { ` + body + ` }
func large(v int) float32 { var z [4]float32; z[v] = 1; return z[v+1] }; func list(x ...int) int { return len(x) }
func part(x []float32) []float32 { return x[1:] }
type tiny struct{ n int }; func (t *tiny) grow() {}; type ring struct{ tiny }; func apply(f func(float32) float32, x float32) float32 { return f(x) }
func either(x []float32, a float32) []float32 { var z [4]float32; if a > 0 { return z[:] }; return x }
var _, _ = math.Pi, strings.ToUpper
`
}

// What a kernel cannot contain is an error at its line, with the reason.
func TestNotSupported(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ body, want string }{
		{"m := map[int]int{}; _ = m", "10:67: a literal of type map[int]int is not supported in a kernel: there are no maps on a GPU; use a slice or an array"},
		{"var m map[int]int; _ = m", "a variable of type map[int]int is not supported"},
		{`s := "text"; _ = s`, "there are no strings on a GPU"},
		{"go f(1)", "10:62: a kernel cannot start goroutines"},
		{"defer f(1)", "a kernel cannot defer calls"},
		{"x[0] = f(a)", "f calls itself: recursion is not supported in a kernel"},
		{"h := func() {}; h()", "function literals"},
		{"h := f; _ = h", "functions as values"},
		{"p := &x[0]; *p = 1", "a kernel can take an address only as an argument of kernel.Shared and of atomic functions"},
		{"y := make([]float32, 3); _ = y", "a kernel cannot allocate memory: make is not supported"},
		{"x = append(x, 1)", "append is not supported"},
		{"copy(x, x)", "write a loop"},
		{"y := []float32{1}; _ = y", "declare an array and slice it"},
		{"println(1)", "a kernel cannot print"},
		{"x[0] = float32(outside)", "undefined: outside: a kernel can use functions, types and constants that are declared outside of it, and the packages math and kernel; pass variables as arguments"},
		{"x[0] = float32(list(1, 2))", "variadic"},
		{"var z [4]float32; y := part(x); y = part(z[:]); _ = y", "refer to another array than before"},
		{"y := either(x, a); _ = y", "kernel.go:14:93: this assignment would let a slice variable refer to another array"},
		{"var y []float32; y[0] = 1", "the slice is nil"},
		{"if x == nil { return }", "nil is not supported"},
		{"for i := range func(func(int) bool) {} { x[i] = 1 }", "a range over func(func(int) bool) is not supported"},
		{"for i := range \"text\" { x[i] = 1 }", "a range over untyped string is not supported"},
		{"m := n[0]; var s [m]float32; _ = s", "invalid array length m"},
		{"f := t.Sync; f()", "functions as values"},
		{"x[0] = apply(f, a)", "functions as values"},
		{"var p *float32; _ = p", "a variable of type *float32 is not supported in a kernel: use a slice, or pass and return a value"},
		{"p := new(int); _ = p", "new is not supported"},
		{"recover()", "recover is not supported"},
		{"clear(x)", "clear is not supported"},
		{"fmt.Println(x)", "undefined: fmt"},
		{"x[0] = float32(math.Hypot(3, 4))", "undefined: math.Hypot: a kernel can call these functions of package math: Abs, Ceil"},
		{"var r ring; r.tiny.grow(); _ = r", "pointer as receiver"},
		{"var q kernel.Thread; _ = q", "a variable of type kernel.Thread is not supported"},
		{"var i any = 3; _ = i", "interfaces"},
		{"c := make(chan int); _ = c", "make is not supported"},
		{"c := 1i; _ = c", "complex128"},
		{"L: for { goto L }", "goto"},
		{"var m number; m.grow()", "pointer as receiver"},
		{"t.Missing()", "t.Missing undefined"},
		{"x[0] = 1.5 + n[0]", "truncated"},
		{"y := strings.ToUpper; _ = y", "undefined: strings: a kernel can use"},
		{"x[0] = float32(math.Gamma(2))", "undefined: math.Gamma"},
		{"missing()", "undefined: missing: a kernel can use functions, types and constants"},
		{"for range x { var s [3]float32; s[0] = 1; kernel.Shared(&s) }", "kernel.Shared must follow directly the declaration of s"},
		{"var v float32; kernel.Shared(&v)", "only an array can be shared"},
		{"kernel.Shared(x)", "kernel.Shared takes the address of an array"},
		{"y := kernel.AtomicAdd(&a, 1); _ = y", "an atomic operation takes the address of an element"},
		{"var l [2]int32; kernel.AtomicAdd(&l[0], 1)", "which belongs to one thread"},
		{"y := x; var z [4]float32; y = z[:]; _ = y", "refer to another array than before"},
		{"var s [13000]float32; kernel.Shared(&s); s[0] = 1", "the shared arrays of k have 52000 bytes, a block can have 49152"},
		{"var s [1 << 30]float32; s[0] = 1", "too large"},
		{"var s [1<<17 + 1]float32; s[n[0]] = 1", "10:62: the arrays of a thread of k have 524292 bytes, with those of the functions that it calls; a thread can have 524288"},
		{"var s, r [1 << 16]float32; s[n[0]] = large(1); r[n[0]] = 1", "kernel.go:11:29: the arrays of a thread of k have 524304 bytes"},
		{"panic(a)", "the argument of panic in a kernel is a constant string"},
		{"var b [2]struct{ x []int }; _ = b", "an array of []int is not supported"},
		{"var b [2]struct{ x string }; _ = b", "an array of string is not supported"},
		{"type node struct{ next *node }; var b node; _ = b", "a variable of type *main.node is not supported"},
		{"select {}", "channels"},
		{"switch any(a).(type) {}", "interfaces"},
		{"any(a).(float32)", "is not used"},
		{"x[0] = any(a).(float32)", "interfaces"},
		{"var e error; _ = e", "interfaces"},
		{"f := func(any) {}; f(a)", "function literals"},
	} {
		_, err := kernel.Compile(kernel.Source(file(c.body), "k"))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), ":10:") && !strings.Contains(err.Error(), "kernel.go:9:") && !strings.Contains(err.Error(), ":11:") && !strings.Contains(err.Error(), ":12:") && !strings.Contains(err.Error(), ":14:") {
			t.Errorf("%s\nwant %s\ngot  %v", c.body, c.want, err)
		}
	}
}

func TestSignatures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"func k() {}", "the first parameter of a kernel is a kernel.Thread"},
		{"func k(t kernel.Thread) int { return 1 }", "a kernel returns nothing"},
		{"func k(t kernel.Thread, x string) {}", "a parameter of type string is not supported"},
		{"func k(t kernel.Thread, x [][]int) {}", "a slice of []int is not supported"},
		{"func k(t kernel.Thread, x ...float32) {}", "variadic"},
		{"func k(t kernel.Thread, a int,\nx []int8) {}", "kernel.go:4:1: a slice of int8 is not supported: no tensor has such elements; take a []uint8, of which int8(x[i]) has the same bits"},
		{"func k(t kernel.Thread, x []int16) {}", "take a []int32"},
		{"type word uint32\nfunc k(t kernel.Thread, x []word) {}", "a slice of main.word is not supported: no tensor has such elements; take a []int32, of which uint32(x[i]) has the same bits"},
		{"func k(t kernel.Thread, x []uint) {}", "take a []int64, of which uint64(x[i]) has the same bits"},
		{"func k[T any](t kernel.Thread, x T) {}", "type parameters"},
		{"func other(t kernel.Thread) {}", "the source declares no function k"},
		{"func k(t kernel.Thread) {", "expected"},
	} {
		_, err := kernel.Compile(kernel.Source(fmt.Sprintf("package main\nimport %q\n%s", "github.com/quernlab/quern/accel/kernel", c.text), "k"))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\nwant %s\ngot  %v", c.text, c.want, err)
		}
	}
	if _, err := kernel.Compile(3); err == nil {
		t.Error("an int is no kernel")
	}
}

// Arguments are compared with the parameters.
func TestArguments(t *testing.T) {
	k := compile(t, file("x[0] = a + float32(n[0])"), "k")
	x, n := tensor.Zeros(4), tensor.Zeros(4).Cast(tensor.Int32)
	for _, c := range []struct {
		shape kernel.Shape
		args  []any
		want  string
	}{
		{kernel.Grid(4, 4), []any{float32(1), x}, "2 arguments for 3 parameters"},
		{kernel.Grid(4, 4), []any{1.0, x, n}, "the argument for a is a float64, not a float32"},
		{kernel.Grid(4, 4), []any{nil, x, n}, "the argument for a is a <nil>, not a float32"},
		{kernel.Grid(4, 4), []any{float32(1), n, n}, "the argument for x is a tensor of int32, not of float32"},
		{kernel.Grid(4, 4), []any{float32(1), []float32{1}, n}, "the argument for x is a []float32, not a tensor"},
		{kernel.Grid(4, 2048), []any{float32(1), x, n}, "blocks of 2048×1×1 threads are too large"},
		{kernel.Shape{Blocks: kernel.Dim{Y: 1 << 20}, Threads: kernel.Dim{X: 1}}, []any{float32(1), x, n}, "too large"},
		{kernel.Grid(-4, 4), []any{float32(1), x, n}, "a negative number"},
	} {
		if err := k.Launch(c.shape, c.args...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: want %s, got %v", c.args, c.want, err)
		}
	}
	twice := compile(t, kernels, "saxpy")
	if err := twice.Launch(kernel.Grid(4, 4), float32(1), x, x); err == nil || !strings.Contains(err.Error(), "two parameters") {
		t.Error(err)
	}
}

// A thread that does what Go forbids ends the kernel with an error that names the thread and the line.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		body   string
		thread int
		index  int
		want   string
	}{
		{"x[t.Global()+4] = 1", 4, 8, "index 8 is out of range of x with length 8"},
		{"x[t.Global()-3] = 1", 0, -3, "index -3 is out of range of x with length 8"},
		{"if t.ThreadX() == 5 { x[n[0]+100]++ }", 5, 103, "index 103 is out of range of x with length 8"},
		{"y := x[:6]; y[t.ThreadX()] = 2", 6, 6, "index 6 is out of range of x with length 6"},
		{"y := x[t.ThreadX():5]; _ = y", 6, 6, "slice bounds [6:5] are out of range of x"},
		{"y := x[:9]; _ = y", 0, 0, "slice bounds [0:9] are out of range of x"},
		{"n[0] = 7 / (3 - int32(t.ThreadX()))", 3, 0, "integer divide by zero"},
		{"n[0] %= int32(t.ThreadX())", 0, 0, "integer divide by zero"},
		{"n[0] = 1 << (2 - t.ThreadX())", 3, -1, "negative shift amount -1"},
		{"if t.ThreadX() == 7 { panic(\"seven\") }", 7, 0, "panic: seven"},
		{"var s [4]int32; s[t.ThreadX()] = 1; n[0] = s[0]", 4, 4, "index 4 is out of range of s with length 4"},
		{"var s [4]int32; kernel.Shared(&s); s[t.ThreadX()] = 1; t.Sync(); n[t.ThreadX()] = s[3-t.ThreadX()]", 4, 4, "index 4 is out of range of s with length 4"},
		{"v := kernel.ShuffleDown(t, x[t.ThreadX()*2], 1); x[0] = v", 4, 8, "index 8 is out of range of x with length 8"},
	} {
		k := compile(t, file(c.body), "k")
		for _, device := range devices {
			on(t, device, func() {
				err := k.Launch(kernel.Grid(8, 8), float32(1), tensor.Zeros(8), tensor.FromInts([]int{3, 4, 5, 6, 7, 8, 9, 10}, 8).Cast(tensor.Int32))
				var f *kernel.Fault
				if !errors.As(err, &f) || f.Reason != c.want || f.Thread[0] != c.thread || f.Index != c.index || f.Line != 10 || !strings.HasSuffix(f.File, "kernel.go") {
					t.Errorf("%s: %s\nwant thread %d: %s\ngot  %v %+v", device, c.body, c.thread, c.want, err, f)
				}
				// The device can be used again.
				if got := tensor.Ones(3).Sum().Item(); got != 3 {
					t.Errorf("%s: %s: the sum is %v", device, c.body, got)
				}
			})
		}
	}
}

// An endless kernel on the CPU or a simulated GPU ends with its context, and so does one with very many blocks on the CPU.
func TestEndless(t *testing.T) {
	for _, c := range []struct {
		body    string
		shape   kernel.Shape
		devices []string
	}{
		{"for x[0] == 0 { t.SyncWarp() }", kernel.Grid(8, 8), devices},
		{"_ = x[0]", kernel.Shape{Blocks: kernel.Dim{X: 1 << 20, Y: 1 << 15, Z: 1 << 15}, Threads: kernel.Dim{X: 1}}, devices[:1]},
	} {
		k := compile(t, file(c.body), "k")
		for _, device := range c.devices {
			on(t, device, func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
				defer cancel()
				err := k.LaunchContext(ctx, c.shape, float32(1), tensor.Zeros(8), tensor.Zeros(8).Cast(tensor.Int32))
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Error(device, c.body, err)
				}
			})
		}
	}
}

// Tensors may have different lengths; the first element that one does not contain is a fault.
func TestLengths(t *testing.T) {
	for _, device := range devices {
		on(t, device, func() {
			err := compile(t, kernels, "saxpy").Launch(kernel.Grid(100, 32), float32(1), tensor.Zeros(70), tensor.Zeros(100))
			var f *kernel.Fault
			if !errors.As(err, &f) || f.Index < 70 || f.Length != 70 || !strings.Contains(f.Reason, "is out of range of x with length 70") || f.Line != 11 {
				t.Error(device, err)
			}
		})
	}
}

// Barriers that not all threads reach, and shared memory that nobody has written, are errors on the CPU.
func TestWarpsAndBlocksOnHost(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{"if t.ThreadX() < 3 { t.Sync() }", "3 threads of the block are at this barrier, of 8 that have not returned"},
		{"if t.ThreadX() < 3 { x[0] = kernel.ShuffleDown(t, a, 1) }", "3 of the 8 threads of the warp are here"},
		{"if t.ThreadX() < 3 { t.SyncWarp() }", "3 of the 8 threads of the warp are here"},
		{"var s [8]float32; kernel.Shared(&s); x[0] = s[0]", "read of shared memory that no thread of the block has written"},
	} {
		err := compile(t, file(c.body), "k").Launch(kernel.Grid(8, 8), float32(1), tensor.Zeros(8), tensor.Zeros(8).Cast(tensor.Int32))
		var f *kernel.Fault
		if !errors.As(err, &f) || !strings.HasPrefix(f.Reason, c.want) || f.Line != 10 {
			t.Errorf("%s\nwant %s\ngot  %v", c.body, c.want, err)
		}
	}
	// Threads that have returned do not count.
	k := compile(t, file("if t.ThreadX() < 3 { return }; t.Sync(); x[t.ThreadX()] = a"), "k")
	for _, device := range devices {
		on(t, device, func() {
			x := tensor.Zeros(8)
			if err := k.Launch(kernel.Grid(8, 8), float32(1), x, tensor.Zeros(8).Cast(tensor.Int32)); err != nil || x.Sum().Item() != 5 {
				t.Error(device, err, x)
			}
		})
	}
}

// A kernel changes only the tensor that is its argument, not others that share its memory.
func TestViews(t *testing.T) {
	k := compile(t, file("i := t.Global(); x[i] += a"), "k")
	n := tensor.Zeros(1).Cast(tensor.Int32)
	for _, device := range devices {
		on(t, device, func() {
			x := tensor.New([]float32{0, 1, 2, 3, 4, 5}, 2, 3)
			row, turned := x.Slice(0, 1, 2), x.T()
			kept := x.Detach()
			sum := x.Sum() // not computed yet
			for _, a := range []*tensor.Tensor{row, turned, x} {
				if err := k.Launch(kernel.Grid(a.Numel(), a.Numel()), float32(10), a, n); err != nil {
					t.Fatal(err)
				}
			}
			got := fmt.Sprint(row.Data(), turned.Data(), x.Data(), kept.Data(), sum.Item())
			if want := "[13 14 15] [10 13 11 14 12 15] [10 11 12 13 14 15] [0 1 2 3 4 5] 15"; got != want {
				t.Errorf("%s: got  %s\nwant %s", device, got, want)
			}
			// A parameter stays one.
			p := tensor.Parameter(tensor.Ones(3))
			if err := k.Launch(kernel.Grid(3, 3), float32(1), p, n); err != nil {
				t.Fatal(err)
			}
			p.MulScalar(3).Sum().Backward()
			if got := fmt.Sprint(p.Data(), p.Grad().Data()); got != "[2 2 2] [3 3 3]" {
				t.Errorf("%s: %s", device, got)
			}
		})
	}
}

// Functions that call others twice would make a kernel of any size.
func TestManyCalls(t *testing.T) {
	text := "package main\nimport \"github.com/quernlab/quern/accel/kernel\"\nfunc f0(x float32) float32 { return x + 1 }\n"
	for i := 1; i <= 30; i++ {
		text += fmt.Sprintf("func f%d(x float32) float32 { return f%d(x) * f%d(x+1) }\n", i, i-1, i-1)
	}
	_, err := kernel.Compile(kernel.Source(text+"func k(t kernel.Thread, x []float32) { x[0] = f30(x[0]) }\n", "k"))
	if err == nil || !strings.Contains(err.Error(), "more than 10000 calls") {
		t.Error(err)
	}
}

// A kernel or an operation that is nil, because the error of the function that makes it was not checked, is an error and not a crash.
func TestNil(t *testing.T) {
	var k *kernel.Kernel
	var op *kernel.Operation
	const kernelIsNil, opIsNil = "the kernel is nil: check the error of the function that compiles it", "the operation is nil: check the error of kernel.Op"
	for name, c := range map[string]struct {
		call func() error
		want string
	}{
		"Launch":        {func() error { return k.Launch(kernel.Grid(1, 1)) }, "kernel: Launch: " + kernelIsNil},
		"LaunchContext": {func() error { return new(kernel.Kernel).LaunchContext(t.Context(), kernel.Grid(1, 1)) }, "kernel: Launch: " + kernelIsNil},
		"Check":         {func() error { _, err := kernel.Check(k, kernel.Grid(1, 1)); return err }, "kernel: Check: " + kernelIsNil},
		"Profile":       {func() error { _, err := kernel.Profile(k, kernel.Grid(1, 1)); return err }, "kernel: Profile: " + kernelIsNil},
		"Op":            {func() error { _, err := kernel.Op(k); return err }, "kernel: Op: " + kernelIsNil},
		"Name":          {func() error { return fmt.Errorf("%s", k.Name()) }, "kernel: Name: " + kernelIsNil},
		"PTX":           {func() error { return fmt.Errorf("%s", k.PTX()) }, "kernel: PTX: " + kernelIsNil},
		"Apply":         {func() error { op.Apply(tensor.Ones(1)); return nil }, opIsNil},
		"Forward":       {func() error { new(kernel.Operation).Forward(tensor.Ones(1)); return nil }, opIsNil},
		"Operation":     {func() error { return fmt.Errorf("%s", op.Name()) }, opIsNil},
	} {
		err := func() (err error) {
			defer func() {
				if p, ok := recover().(error); ok {
					err = p
				}
			}()
			return c.call()
		}()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}
