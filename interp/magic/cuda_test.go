package magic

import (
	"reflect"
	"strings"
	"testing"
)

func TestGlobalFunctions(t *testing.T) {
	for _, row := range []struct{ text, want string }{
		{"__global__ void saxpy(int n) {}", "saxpy"},
		{"extern \"C\" __global__ void a(int n) {}\nstatic __global__ void\nb(float *x) { a(3); }", "a b"},
		{"__global__ void __launch_bounds__(256, 2) tiled(float *x) {}", "tiled"},
		{"__global__ __launch_bounds__(MAX(1, 2)) void tiled (float *x) {}", "tiled"},
		{"__launch_bounds__(256) __global__ void tiled(float *x) {}", "tiled"},
		{"__global__ void f(int);\n__global__ void f(int n) {}", "f"},
		{"template <typename T> __global__ void add(T *x) {}\n__global__ void k() { g<<<1, 2>>>(); }", "k"},
		{"template <typename T> __device__ T twice(T x) { return 2 * x; }\n__global__ void k() {}", "k"},
		{"template <typename T> __global__ void add(T *x) {}\ntemplate __global__ void add<float>(float *);", ""},
		{"// __global__ void no()\n/* __global__ void no() */ __global__ void yes() { printf(\"__global__ void no()\"); char c = '\"'; }\n__global__ void also() {}", "yes also"},
		{"__device__ void f() {}", ""},
		{"__global__", ""},
		{"__global__ void __launch_bounds__(", ""},
	} {
		if got := strings.Join(globalFunctions(row.text), " "); got != row.want {
			t.Errorf("%s: got %q, want %q", row.text, got, row.want)
		}
	}
}

func TestPrepareCUDA(t *testing.T) {
	parse := func(src string) (*Cell, error) { return Parse(src, &session{}) }
	const src = "x := 1\n%%cuda -DN=2 -G\n__global__ void a() {}\n__global__ void b() {}\n__global__ void range() {}"
	cell, err := parse(src)
	if err != nil || cell.CUDA.Line != 3 || strings.Join(cell.CUDA.Flags, " ") != "-DN=2 -G" || !strings.HasSuffix(src, "\n"+cell.CUDA.Source) ||
		cell.Source != "x := 1\nvar a, b *kernel.Kernel;ʹ(0, &a, &b)" {
		t.Fatalf("%+v, %v", cell, err)
	}
	if _, err := parse("%%cuda\n \n"); err == nil || !strings.Contains(err.Error(), "needs a kernel in the lines below it") {
		t.Error(err)
	}
	// The variables are those of the kernels that the compiler has found.
	for _, row := range []struct{ src, kernels, source, want string }{
		{"%%cuda\n#if 0\n__global__ void a() {}\n#endif\nKERNEL(b)", "b", "var b *kernel.Kernel;ʹ(0, &b)", ""},
		{"!ls\n%%cuda\nKERNEL(b) KERNEL(a)", "b a add<float> n::c", "ʹ(0)\nvar a, b *kernel.Kernel;ʹ(1, &a, &b)", ""},
		{"%%cuda\n__device__ void f() {}", "", "", "needs a kernel in the lines below it: __global__ void name(…) { … }; the compiler has found none"},
		{"%%cuda\n__global__ void range() {}", "range", "", "the kernel range cannot be a variable: its name is a keyword of Go"},
		{"%%cuda\n__global__ void kernel(int) {}", "kernel", "", "the kernel kernel cannot be a variable: the name is that of a package"},
		{"%%cuda\n__global__ void init(int) {}", "init", "", "the kernel init cannot be a variable: the name has a meaning of its own"},
		{"%%cuda\nnamespace n { __global__ void a() {} }", "n::a", "", "the kernel n::a cannot be a variable: it is in a namespace or of a template; use kernel.CompileCUDA"},
	} {
		cell, err := parse(row.src)
		if err != nil {
			t.Fatal(row.src, err)
		}
		kernels := map[string]reflect.Value{}
		for _, name := range strings.Fields(row.kernels) {
			kernels[name] = reflect.ValueOf(&name)
		}
		switch err := cell.SetKernels(kernels); {
		case row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)):
			t.Errorf("%s: got %v, want %s", row.src, err, row.want)
		case row.want == "" && (err != nil || cell.Source != row.source):
			t.Errorf("%s: got %s, %v, want %s", row.src, cell.Source, err, row.source)
		}
	}
}
