package kernel_test

import (
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/kernel"
	"github.com/quernlab/quern/accel/tensor"
)

// BenchmarkTiled multiplies matrices of 256×256.
func BenchmarkTiled(b *testing.B) {
	for _, device := range devices {
		b.Run(device, func(b *testing.B) {
			if err := accel.SetDevice(device); err != nil {
				b.Fatal(err)
			}
			const n = 256
			run(b, "tiled", kernel.Grid2D(n, n, 16, 16), n, n, n, tensor.Ones(n, n), tensor.Ones(n, n), tensor.Zeros(n, n))
		})
	}
	if err := accel.SetDevice("cpu"); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkCPU runs kernels on the CPU.
func BenchmarkCPU(b *testing.B) {
	const n, side = 1 << 20, 1024
	x, y := tensor.Ones(side, side), tensor.Ones(side, side)
	for _, c := range []struct {
		name  string
		shape kernel.Shape
		args  []any
	}{
		{"saxpy", kernel.Grid(n, 256), []any{float32(2), x, y}},
		{"sum", kernel.Grid(64*256, 256), []any{x, tensor.Zeros(1)}},
		{"softmax", kernel.Grid(256*32, 32), []any{1000, tensor.Ones(256, 1000), tensor.Zeros(256, 1000)}},
		{"stencil", kernel.Grid2D(side, side, 32, 8), []any{side, side, x, y}},
		{"mandelbrot", kernel.Grid(256*128, 256), []any{256, 128, tensor.Zeros(128, 256).Cast(tensor.Int32)}},
	} {
		b.Run(c.name, func(b *testing.B) { run(b, c.name, c.shape, c.args...) })
	}
}

// run launches a kernel of testdata.
func run(b *testing.B, name string, shape kernel.Shape, args ...any) {
	k, err := kernel.Compile(kernel.Source(kernels, name))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := k.Launch(shape, args...); err != nil {
			b.Fatal(err)
		}
	}
}
