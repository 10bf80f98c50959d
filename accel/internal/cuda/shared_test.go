package cuda

import (
	"testing"

	"github.com/quernlab/quern/accel/internal/cuda/fake"
	"github.com/quernlab/quern/accel/internal/cuda/kernels"
	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// TestSharedMemory launches kernels with 48 KiB of dynamic shared memory, which is as much as a kernel may use of both kinds
// by default: with their static shared memory, they need more.
func TestSharedMemory(t *testing.T) {
	gpu, err := fake.Open(fake.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := Open("cuda:0", gpu, 0, Libraries{})
	if err != nil {
		t.Fatal(err)
	}
	const operand = 1 << 19 // bytes
	s, err := d.Alloc(6 * operand)
	if err != nil {
		t.Fatal(err)
	}
	at := func(i int) kernels.Pointer { return s.(*storage).at + kernels.Pointer(i*operand) }
	if err := d.ctx.Fill(at(0), 0, 4, 6*operand/4, d.stream); err != nil {
		t.Fatal(err)
	}
	for _, o := range []kernels.Norm{{Centered: true, N: 768}, {Centered: true, N: 6144}, {N: 12288}} {
		o.DType, o.X, o.DY, o.Y, o.Rows = ir.Float32, ir.Float32, ir.Float32, ir.Float32, 8
		launches, err := d.code.launches(o.Gradients(kernels.NormOperands{X: at(0), W: at(1), DY: at(2), DX: at(3), DW: at(4), Work: at(5)}), "norm")
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range launches {
			if l.Shared != 48<<10 {
				t.Errorf("rows of %d elements: %d bytes of shared memory, want 48 KiB", o.N, l.Shared)
			}
			if err := d.launch(l); err != nil {
				t.Errorf("rows of %d elements: %v", o.N, err)
			}
		}
	}
	if err := d.Wait(); err != nil {
		t.Error(err)
	}
}
