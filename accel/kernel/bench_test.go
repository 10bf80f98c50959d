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
			k, err := kernel.Compile(kernel.Source(kernels, "tiled"))
			if err != nil {
				b.Fatal(err)
			}
			const n = 256
			x, y, z := tensor.Ones(n, n), tensor.Ones(n, n), tensor.Zeros(n, n)
			for b.Loop() {
				if err := k.Launch(kernel.Grid2D(n, n, 16, 16), n, n, n, x, y, z); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	if err := accel.SetDevice("cpu"); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkSaxpy has a million elements.
func BenchmarkSaxpy(b *testing.B) {
	k, err := kernel.Compile(kernel.Source(kernels, "saxpy"))
	if err != nil {
		b.Fatal(err)
	}
	const n = 1 << 20
	x, y := tensor.Ones(n), tensor.Ones(n)
	for b.Loop() {
		if err := k.Launch(kernel.Grid(n, 256), float32(2), x, y); err != nil {
			b.Fatal(err)
		}
	}
}
