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
