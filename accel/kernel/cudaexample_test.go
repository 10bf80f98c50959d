package kernel_test

import (
	"fmt"
	"os"

	"github.com/quernlab/quern/accel/kernel"
	"github.com/quernlab/quern/accel/tensor"
)

// CUDA C++ needs NVRTC, but no GPU: Check runs the kernel on a simulated one.
func ExampleCompileCUDA() {
	const source = `
__global__ void reverse(float *x, int n) {
	int i = threadIdx.x;
	float v = x[n - 1 - i];
	x[i] = v; // another thread may not have read it yet
}`
	k, err := kernel.CompileCUDA(source, "reverse", kernel.CompilerFlags("--use_fast_math"))
	if err != nil {
		fmt.Println(err)
		return
	}
	x := tensor.New([]float32{1, 2, 3}, 3)
	_, err = kernel.Check(k, kernel.Grid(3, 3), x, 3)
	fmt.Println(err) // a race, with the lines of both threads
}

// All kernels of a file.
func ExampleCompileCUDAAll() {
	source, err := os.ReadFile("kernels.cu")
	if err != nil {
		fmt.Println(err)
		return
	}
	kernels, err := kernel.CompileCUDAAll(string(source))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(kernels["saxpy"].Launch(kernel.Grid(3, 256), 3, float32(2), tensor.Ones(3), tensor.Zeros(3)))
}

// PTX runs on each device, without a compiler.
func ExampleCompilePTX() {
	const text = `.version 7.0
.target sm_80
.address_size 64
.visible .entry negate(.param .u64 x)
{
	.reg .b32 %r<2>;
	.reg .f32 %f<3>;
	.reg .b64 %d<4>;
	ld.param.u64 %d1, [x];
	mov.u32 %r1, %tid.x;
	mad.wide.u32 %d2, %r1, 4, %d1;
	ld.global.f32 %f1, [%d2];
	neg.f32 %f2, %f1;
	st.global.f32 [%d2], %f2;
	ret;
}`
	k, err := kernel.CompilePTX(text, "negate")
	if err != nil {
		fmt.Println(err)
		return
	}
	x := tensor.New([]float32{1, 2, 3}, 3)
	err = k.Launch(kernel.Grid(3, 3), x)
	fmt.Println(x.Data(), err)
	// Output: [-1 -2 -3] <nil>
}
