package cells

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/quernlab/quern/accel/internal/cuda/library"
	"github.com/quernlab/quern/accel/kernel"
	"github.com/quernlab/quern/internal/testenv"
)

// TestCUDACells compiles cells in CUDA C++ with the NVRTC of this machine.
func TestCUDACells(t *testing.T) {
	if venv, err := filepath.Abs("../../../.venv"); err == nil && os.Getenv("VIRTUAL_ENV") == "" {
		t.Setenv("VIRTUAL_ENV", venv) // that of make kernelspec
	}
	if _, err := kernel.CompileCUDA("__global__ void k() {}", "k"); errors.As(err, new(*library.MissingError)) || errors.Is(err, library.ErrBuild) {
		testenv.Optional(t, "%v", err)
	}
	n := newNotebook(t)
	n.want(`%%cuda -DFACTOR=2
__device__ float scaled(float x) { return FACTOR * x; }

__global__ void saxpy(int n, float a, const float *x, float *y) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) y[i] += a * scaled(x[i]);
}

__global__ void hello(int n) {
	if (threadIdx.x < n) printf("thread %d\n", threadIdx.x);
}`, "")
	n.want(`x, y := tensor.New([]float32{0, 1, 2, 3, 4}, 5), tensor.Ones(5)
err := saxpy.Launch(kernel.Grid(5, 256), 5, float32(0.5), x, y)
fmt.Println(y.Data(), err)`, "[1 2 3 4 5] <nil>")
	n.want("report, err := kernel.Check(hello, kernel.Grid(32, 32), 2)\nfmt.Print(report.Output, err)", "thread 0\nthread 1\n<nil>")
	n.want("report, err = kernel.Check(saxpy, kernel.Grid(9, 256), 9, float32(0.5), x, y)\nerr",
		"kernel saxpy: cell[1]:6: index 5 is out of range of parameter 2 (const float *) with length 5, in thread [5 0 0] of block [0 0 0]")
	n.want("report", "cell[1]:6  if (i < n) y[i] += a * scaled(x[i]);")
	// Errors of the compiler are those of the cell.
	n.fails("z := 3\n%%cuda\n__global__ void k(float *x) {\n\tx[0] = y;\n\tx[1] = 2\n}", "compile error: cell[6]:4:9: identifier \"y\" is undefined\n     x[0] = y;\n            ^\ncell[6]:6:1: expected a \";\"")
	n.want("saxpy.Name()", "saxpy") // the kernels of the cells above remain
	n.fails("%%cuda --nonsense\n__global__ void k() {}", "cell[8]:1:1: kernel: NVRTC: nvrtcCompileProgram: NVRTC_ERROR_INVALID_OPTION")
	n.fails("%%cuda\nnamespace a { __global__ void k() {} }", "the kernel a::k cannot be a variable: it is in a namespace or of a template; use kernel.CompileCUDA")
	n.fails("%%cuda\n#if 0\n__global__ void k() {}\n#endif", "%%cuda needs a kernel in the lines below it: __global__ void name(…) { … }; the compiler has found none")
	// The kernels are those that the compiler has found.
	n.want(`%%cuda
#define KERNEL(name, v) __global__ void name(float *x) { x[threadIdx.x] = v; }
KERNEL(fives, 5)
#if 0
__global__ void ignored() {}
#endif
__global__ void rows(float (*x)[2]) { x[threadIdx.x][1] = 6; }`, "")
	n.want("z := tensor.Zeros(4)\nfmt.Println(fives.Launch(kernel.Grid(2, 2), z), rows.Launch(kernel.Grid(2, 2), z))\nz.Data()", "[5 6 0 6]")
	// A kernel replaces one with its name.
	n.want("%%cuda\n__global__ void hello(float *x) { x[threadIdx.x] = 7; }", "")
	n.want("err = hello.Launch(kernel.Grid(5, 5), y)\ny.Data()", "[7 7 7 7 7]")
}
