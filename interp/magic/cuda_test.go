package magic

import (
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
	prepare := func(src string) (*CUDA, error) {
		l := lines(src, func(string) bool { return false })
		c, _, err := prepareCUDA(l[len(l)-1], src)
		return c, err
	}
	c, err := prepare("x := 1\n%%cuda -DN=2 -G\n__global__ void a() {}\n__global__ void b() {}")
	if err != nil || c.Line != 3 || strings.Join(c.Flags, " ") != "-DN=2 -G" || c.Source != "__global__ void a() {}\n__global__ void b() {}" {
		t.Fatalf("%+v, %v", c, err)
	}
	if declarations, arguments := c.declarations(); declarations != "var a, b *kernel.Kernel;" || arguments != ", &a, &b" {
		t.Errorf("%s %s", declarations, arguments)
	}
	for src, want := range map[string]string{
		"%%cuda":                                 "needs a kernel in the lines below it",
		"%%cuda\n__device__ void f() {}":         "needs a kernel in the lines below it",
		"%%cuda\n__global__ void range() {}":     "the kernel range cannot be a variable: its name is a keyword of Go",
		"%%cuda\n__global__ void kernel(int) {}": "the kernel kernel cannot be a variable",
	} {
		if _, err := prepare(src); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", src, err, want)
		}
	}
}
