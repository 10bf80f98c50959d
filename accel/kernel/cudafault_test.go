package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"go/scanner"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quernlab/quern/accel/internal/cuda/library"
	"github.com/quernlab/quern/accel/kernel"
	"github.com/quernlab/quern/accel/tensor"
)

// stdout returns what f writes to the standard output.
func stdout(t *testing.T, f func()) string {
	t.Helper()
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	old := os.Stdout
	os.Stdout = out
	read := make(chan string)
	go func() {
		text, err := io.ReadAll(in)
		if err != nil {
			t.Error(err)
		}
		read <- string(text)
	}()
	f()
	os.Stdout = old
	out.Close()
	return <-read
}

const hello = `thread 0 of block 0:  1.50|0     |+1.5e+00|0.5|a|even|%|ff|-5000000000|00000
thread 1 of block 0: -2.25|100   |-2.2e+00|-0.75|b|odd|%|100|-5000000000|-0001
thread 0 of block 1:  1.50|0     |+1.5e+00|0.5|a|even|%|ff|-5000000000|00000
thread 1 of block 1: -2.25|100   |-2.2e+00|-0.75|b|odd|%|100|-5000000000|-0001
`

// printf of a kernel writes to the standard output, in the order of the blocks, and to the report of Check.
func TestPrintf(t *testing.T) {
	k := fromPTX(t, "print")["hello"]
	x := tensor.New([]float32{1.5, -2.25}, 2)
	for _, device := range devices {
		on(t, device, func() {
			var err error
			text := stdout(t, func() { err = k.Launch(grid(2, 32), 2, x) })
			if err != nil || text != hello {
				t.Errorf("%s: %v\n%s", device, err, text)
			}
		})
	}
	var report *kernel.Report
	var err error
	if text := stdout(t, func() { report, err = kernel.Check(k, grid(2, 32), 2, x) }); err != nil || text != "" || report.Output != hello || !strings.Contains(report.String(), hello[:80]) {
		t.Errorf("%v, %q, %+v", err, text, report)
	}
}

// A fault of a kernel in CUDA C++ is a Fault at a line of the source.
func TestCUDAFaults(t *testing.T) {
	ones, words := tensor.Ones(40), filled(tensor.Int32, 40, 1)
	basic, blocks, print := fromPTX(t, "basic"), fromPTX(t, "blocks"), fromPTX(t, "print")
	for _, c := range []struct {
		k     *kernel.Kernel
		shape kernel.Shape
		args  []any
		line  int
		want  string
	}{
		{basic["saxpy"], grid(2, 32), []any{50, float32(1), ones, tensor.Ones(60)}, 5, "index 40 is out of range of parameter 2 (const float *) with length 40"},
		{basic["sortedEight"], grid(1, 8), []any{words}, 91, "index 44 is out of range of parameter 0 (int *) with length 40"},
		{basic["scale4"], grid(1, 32), []any{ones.Slice(0, 1, 40), float32(1), 9}, 0, ""},
		{print["positive"], grid(1, 32), []any{tensor.New(floats(32), 32)}, 12, "trap: assertion x[threadIdx.x] > 0 failed"},
		{blocks["scan"], grid(1, 512), []any{filled(tensor.Int32, 512, 1)}, 40, "race for an element of a shared array"},
	} {
		for _, launch := range []func() error{
			func() error { return c.k.Launch(c.shape, c.args...) },
			func() error { _, err := kernel.Check(c.k, c.shape, c.args...); return err },
		} {
			err := launch()
			var f *kernel.Fault
			if c.want == "" {
				if err != nil {
					t.Errorf("%s: %v", c.k.Name(), err)
				}
			} else if !errors.As(err, &f) || !strings.HasPrefix(f.Reason, c.want) || f.Line != c.line {
				t.Errorf("%s: want line %d: %s, got %v", c.k.Name(), c.line, c.want, err)
			}
		}
	}
	// A race, which only Check finds.
	x := filled(tensor.Int32, 40, 1)
	_, err := kernel.Check(basic["count"], grid(1, 32), x)
	var f *kernel.Fault
	if !errors.As(err, &f) || f.Line != 111 || !strings.HasPrefix(f.Reason, "race for an element of a slice: thread [1 0 0] of block [0 0 0] reads it at basic.cu:111") {
		t.Errorf("race: %v", err)
	}
}

// The arguments are compared with the types of the parameters.
func TestCUDAArguments(t *testing.T) {
	basic, matrix := fromPTX(t, "basic"), fromPTX(t, "matrix")
	x, n := tensor.Ones(4), filled(tensor.Int32, 4, 1)
	type affine struct {
		Scale float32
		Shift float64
		Steps [2]int
	}
	for _, c := range []struct {
		k    *kernel.Kernel
		args []any
		want string
	}{
		{basic["saxpy"], []any{4, float32(1), x}, "3 arguments for 4 parameters"},
		{basic["saxpy"], []any{4, 1.0, x, tensor.Ones(4)}, "the argument for parameter 1 (float) is a float64, not a float32"},
		{basic["saxpy"], []any{4, 1, x, tensor.Ones(4)}, "the argument for parameter 1 (float) is a int, not a float32"},
		{basic["saxpy"], []any{int64(4), float32(1), x, tensor.Ones(4)}, "the argument for parameter 0 (int) is a int64, not a int32"},
		{basic["saxpy"], []any{1 << 31, float32(1), x, tensor.Ones(4)}, "the argument for parameter 0 (int) is 2147483648, which does not fit"},
		{basic["saxpy"], []any{x, float32(1), x, tensor.Ones(4)}, "the argument for parameter 0 (int) is a *tensor.Tensor"},
		{basic["saxpy"], []any{4, float32(1), n, tensor.Ones(4)}, "the argument for parameter 2 (const float *) is a tensor of int32, not of float32"},
		{basic["saxpy"], []any{4, float32(1), []float32{1}, tensor.Ones(4)}, "the argument for parameter 2 (const float *) is a []float32, not a tensor"},
		{basic["saxpy"], []any{4, float32(1), x, x}, "a tensor is the argument of two parameters, and the kernel writes to parameter 3 (float *)"},
		{basic["affine"], []any{affine{}, x, 4}, "the argument for parameter 0 (Affine) is a kernel_test.affine of 32 bytes, not of 24"},
		{basic["affine"], []any{"text", x, 4}, "the argument for parameter 0 (Affine) is a string, not a struct"},
		{basic["plain"], []any{x, 4, 256}, "the argument for parameter 2 (u8) is 256, which does not fit"},
		{basic["plain"], []any{float32(1), 4, 5}, "the argument for parameter 0 (u64) is a float32"},
		{matrix["halfSaxpy"], []any{4, float32(1), x, x.Cast(half)}, "the argument for parameter 2 (const __half *) is a tensor of float32, not of float16"},
	} {
		if err := c.k.Launch(grid(1, 32), c.args...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("want %s, got %v", c.want, err)
		}
	}
	if err := basic["saxpy"].Launch(withShared(grid(1, 32), 16), 4, float32(1), x, tensor.Ones(4)); err == nil || !strings.Contains(err.Error(), "no extern __shared__") {
		t.Error(err)
	}
	if err := compile(t, kernels, "saxpy").Launch(withShared(grid(1, 32), 16), float32(1), x, tensor.Ones(4)); err == nil || !strings.Contains(err.Error(), "Shape.SharedBytes") {
		t.Error(err)
	}
	if _, err := kernel.Op(basic["saxpy"]); err == nil || !strings.Contains(err.Error(), "in CUDA C++") {
		t.Error(err)
	}
}

// A variable of a module keeps its value from launch to launch, on each device; Check begins with its initial value.
func TestDeviceVariables(t *testing.T) {
	k := fromPTX(t, "basic")["count"]
	for _, device := range devices {
		on(t, device, func() {
			x := filled(tensor.Int32, 1, 0)
			for want := 1; want <= 2; want++ {
				if err := k.Launch(grid(1, 1), x); err != nil || x.Ints()[0] != want {
					t.Errorf("%s: launch %d: %v, %v", device, want, x.Ints(), err)
				}
			}
			if _, err := kernel.Check(k, grid(1, 1), x); err != nil {
				t.Error(err)
			}
		})
	}
}

// An endless kernel on the CPU ends with its context.
func TestEndlessCUDA(t *testing.T) {
	k, err := kernel.CompilePTX(".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\nL:\nbra L;\n}\n", "k")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := k.LaunchContext(ctx, grid(1, 32)); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func TestCompilePTX(t *testing.T) {
	const text = ".version 7.0\n.target sm_80\n.address_size 64\n.file 1 \"cell[3]\"\n.visible .entry k()\n{\n\t.loc 1 7 2\n\ttex.1d.v4.f32.s32 {%r1}, [x];\n}\n"
	for _, c := range []struct{ text, name, want string }{
		{text, "other", "the PTX contains no kernel other, but k"},
		{"int x;", "k", "PTX"},
	} {
		if _, err := kernel.CompilePTX(c.text, c.name); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("want %s, got %v", c.want, err)
		}
	}
	// What the simulator does not run may run on a GPU.
	k, err := kernel.CompilePTX(text, "k")
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Launch(grid(1, 32)); err == nil || !strings.Contains(err.Error(), "instruction tex is not supported") || !strings.Contains(err.Error(), "line 8") ||
		!strings.Contains(err.Error(), "from cell[3]:7") {
		t.Error(err)
	}
}

// Errors of the compiler have the lines of the source and carets.
func TestCompileCUDA(t *testing.T) {
	installedNVRTC(t)
	_, err := kernel.CompileCUDA("#line 2 \"cell[3]\"\n__global__ void k(float *x) {\n\tx[0] = y;\n\treturn 1\n}\n", "k")
	var list scanner.ErrorList
	if !errors.As(err, &list) || len(list) < 2 || list[0].Pos.String() != "cell[3]:3:9" ||
		!strings.HasPrefix(err.Error(), "kernel: cell[3]:3:9: identifier \"y\" is undefined\n\tx[0] = y;\n\t       ^\ncell[3]:4:") {
		t.Errorf("%v", err)
	}
	for _, c := range []struct {
		source, name string
		options      []kernel.Option
		want         string
	}{
		{"__global__ void k() {}", "other", nil, "other"},
		{"__device__ void f() {} __global__ void k() {}", "f", nil, "f"},
		{"__global__ void k() {}", "k", []kernel.Option{kernel.Unchecked()}, "does not take Unchecked"},
		{"__global__ void k() {}", "k", []kernel.Option{kernel.CompilerFlags("--nonsense")}, "--nonsense"},
		{"__global__ void k() {}", "k", []kernel.Option{kernel.CompilerFlags("--gpu-architecture=compute_1")}, "--gpu-architecture"},
		{"#include <nothing.h>\n__global__ void k() {}", "k", nil, "open source file \"nothing.h\""},
	} {
		if _, err := kernel.CompileCUDA(c.source, c.name, c.options...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("want %s, got %v", c.want, err)
		}
	}
	if _, err := kernel.CompileCUDAAll("__global__ void k() {}\n__global__ void k(int) {}"); err == nil || !strings.Contains(err.Error(), "several kernels k") {
		t.Error(err)
	}
	if _, err := kernel.Compile(kernel.Source(kernels, "saxpy"), kernel.CompilerFlags("-G")); err == nil || !strings.Contains(err.Error(), "CompilerFlags") {
		t.Error(err)
	}
	// Templates, flags, other architectures and headers of the C library.
	k, err := kernel.CompileCUDA(`#include <stdint.h>
#include <math.h>
#include <stdio.h>
template <typename T> __global__ void add(T *x, int32_t n) { if (threadIdx.x < n) x[threadIdx.x] += FACTOR + (INFINITY > 0); }`,
		"add<float>", kernel.CompilerFlags("-DFACTOR=2", "--gpu-architecture=compute_90"))
	if err != nil {
		t.Fatal(err)
	}
	x := tensor.Zeros(2)
	if err := k.Launch(grid(1, 32), x, 2); err != nil || x.Data()[1] != 3 || k.Name() != "add<float>" || !strings.Contains(k.PTX(), ".target sm_90") {
		t.Errorf("%s: %v, %v", k.Name(), x.Data(), err)
	}
}

// Kernels that macros make, parameters that names of C++ contain rarely, and the fields of structs.
func TestCUDATypes(t *testing.T) {
	installedNVRTC(t)
	all, err := kernel.CompileCUDAAll(`#define KERNEL(name) __global__ void name(float *x) { x[threadIdx.x] = 7; }
KERNEL(made)
#if 0
__global__ void ignored() {}
#endif
struct Pair { float a; int n; };
enum Color { red, green };
__global__ void array(float (*x)[4], void (*f)(), Color c) { x[1][c] = 5; }
extern "C" __global__ void plain(Pair p, float *x, unsigned long long n) { x[0] = p.a * p.n + n; }
namespace n { __global__ void inner(Pair p, float *x) { x[0] = p.a; } }
__global__ void __launch_bounds__(64) small(float *x) {}`)
	if err != nil || all["made"] == nil || all["array"] == nil || all["ignored"] != nil || all["n::inner"] == nil {
		t.Fatal(all, err)
	}
	type pair struct {
		A float32
		N int32
	}
	x := tensor.Zeros(8)
	for _, c := range []struct {
		name string
		args []any
		want string
	}{
		{"made", []any{x}, "[7 0 0 0 0 0 0 0]"},
		{"array", []any{x, 0, 1}, "the argument for parameter 1 (func() void *) is a int, not a tensor"},
		{"plain", []any{pair{2, 3}, x, 1}, "[7 0 0 0 0 0 0 0]"},
		{"plain", []any{pair{2, 3}, x, x}, "the argument for parameter 2 (unsigned long long) is a *tensor.Tensor"},
		{"plain", []any{pair{2, 3}, uint64(1), 1}, "the argument for parameter 1 (float *) is a uint64, not a tensor"},
		{"plain", []any{pair{2, 3}, x.Cast(tensor.Int32), 1}, "the argument for parameter 1 (float *) is a tensor of int32, not of float32"},
		{"plain", []any{[2]float32{}, x, 1}, "the argument for parameter 0 (Pair) is a [2]float32 with other fields: [1] float32 at byte 4 is not the n int at byte 4"},
		{"n::inner", []any{struct{ N, A int32 }{}, x}, "the argument for parameter 0 (Pair) is a struct { N int32; A int32 } with other fields: N int32 at byte 0 is not the a float at byte 0"},
	} {
		err := all[c.name].Launch(grid(1, 1), c.args...)
		if err == nil {
			err = fmt.Errorf("%v", x.Data())
		}
		if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
	if err := all["small"].Launch(grid(1, 65), x); err == nil || !strings.Contains(err.Error(), "kernel small: blocks of 65×1×1 threads are too large: the source limits them to 64 threads, by __launch_bounds__") {
		t.Error(err)
	}
}

// Without the library the error says how to install it.
func TestNoNVRTC(t *testing.T) {
	if os.Getenv(library.Variable) == "" { // another test may have loaded it into this process
		c := exec.Command(os.Args[0], "-test.run=^TestNoNVRTC$")
		c.Env = append(os.Environ(), library.Variable+"="+t.TempDir())
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	_, err := kernel.CompileCUDA("__global__ void k() {}", "k")
	if !errors.As(err, new(*library.MissingError)) && !errors.Is(err, library.ErrBuild) || !strings.Contains(err.Error(), "needs NVRTC") {
		t.Errorf("%v", err)
	}
}

// Shared memory of which a launch determines the size may exceed 48 KiB together with arrays that have one. More than the GPU has is an
// error with the sizes, after which the kernel can be launched again.
func TestLargeSharedMemory(t *testing.T) {
	const static = 40 << 10
	text := fmt.Sprintf(`.version 7.0
.target sm_80
.address_size 64
.shared .align 4 .b8 fixed[%d];
.extern .shared .align 4 .b8 dynamic[];
.visible .entry reverse(.param .u64 .ptr .global x, .param .u32 last)
{
	.reg .b32 %%r<5>;
	.reg .b64 %%l<4>;
	ld.param.u64 %%l0, [x];
	ld.param.u32 %%r0, [last];
	mov.u32 %%r1, %%tid.x;
	mul.wide.u32 %%l1, %%r1, 4;
	add.u64 %%l1, %%l0, %%l1;
	ld.global.u32 %%r2, [%%l1];
	mov.u32 %%r3, fixed;
	setp.ne.u32 %%p0, %%r1, 0;
	@!%%p0 st.shared.u32 [%%r3], 0;
	mov.u32 %%r3, dynamic;
	add.u32 %%r3, %%r3, %%r0;
	mul.lo.u32 %%r4, %%r1, 4;
	sub.u32 %%r4, %%r3, %%r4;
	st.shared.u32 [%%r4], %%r2;
	bar.sync 0;
	sub.u32 %%r3, %%r3, 124;
	mul.lo.u32 %%r4, %%r1, 4;
	add.u32 %%r4, %%r3, %%r4;
	ld.shared.u32 %%r2, [%%r4];
	st.global.u32 [%%l1], %%r2;
	ret;
}
`, static)
	text = strings.Replace(text, ".reg .b64", ".reg .pred %p<1>;\n\t.reg .b64", 1)
	k, err := kernel.CompilePTX(text, "reverse")
	if err != nil {
		t.Fatal(err)
	}
	for device, most := range map[string]int{"cpu": 227 << 10, "simulated:8.9": 99 << 10, "simulated:9.0": 227 << 10} {
		on(t, device, func() {
			x := tensor.FromInts(make([]int, 32), 32)
			for _, bytes := range []int{128, 8 << 10, 8<<10 + 4, 48 << 10, most - static} {
				in := make([]int, 32)
				for i := range in {
					in[i] = i*i + bytes
				}
				x.Assign(tensor.FromInts(in, 32))
				if err := k.Launch(withShared(grid(1, 32), bytes), x, bytes-4); err != nil {
					t.Errorf("%s: %d bytes: %v", device, bytes, err)
					continue
				}
				slices.Reverse(in)
				if got := x.Ints(); !slices.Equal(got, in) {
					t.Errorf("%s: %d bytes: got %v, want %v", device, bytes, got, in)
				}
				if _, err := kernel.Profile(k, withShared(grid(1, 32), bytes), x, bytes-4); err != nil {
					t.Errorf("%s: a profile with %d bytes: %v", device, bytes, err)
				}
			}
			want := fmt.Sprintf("a block needs %d bytes of shared memory, %d of them of SharedBytes and %d of arrays with a size", most+4, most-static+4, static)
			if err := k.Launch(withShared(grid(1, 32), most-static+4), x, 124); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: want %q, got %v", device, want, err)
			}
			if err := k.Launch(withShared(grid(1, 32), 128), x, 124); err != nil {
				t.Errorf("%s: after the error: %v", device, err)
			}
		})
	}
	x := tensor.FromInts(make([]int, 32), 32)
	if _, err := kernel.Check(k, withShared(grid(1, 32), 60<<10), x, 60<<10-4); err != nil {
		t.Errorf("a check: %v", err)
	}
	if err := k.Launch(withShared(grid(1, 32), -4), x, 124); err == nil || !strings.Contains(err.Error(), "at least 0") {
		t.Errorf("a negative size: %v", err)
	}
}
