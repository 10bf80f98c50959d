package cublaslt

import (
	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/tensortype"
)

// Matrix is a batch of matrices in column-major order.
type Matrix struct {
	Type       tensortype.DType
	Rows, Cols int
	Lead       int // elements from one column to the next, at least Rows
	Stride     int // elements from one matrix of the batch to the next; 0 if all share one
	Align      int // alignment of addresses in bytes, a power of two
}

// Matmul is D = op(A)·op(B) + bias, which is added to each column, and then ReLU. Sums
// are float32, those of float64 factors float64. Each factor of 8-bit floats has a scale,
// with which the sums are multiplied.
type Matmul struct {
	A, B, D    Matrix
	TransA     bool // op(A) is Aᵀ
	TransB     bool
	Batch      int // number of matrices, at least 1
	TF32       bool
	Bias, ReLU bool // the bias has D's type and alignment, and D.Rows elements
	Workspace  int  // maximum bytes that a plan may use
}

// alignFP8 is the alignment in bytes of strides, rows, inner dimensions and addresses of
// 8-bit floats.
const alignFP8 = 16

// Unsupported returns why cuBLASLt does not support the multiplication according to its
// documentation, and an empty string if it does.
func (p Matmul) Unsupported() string {
	a, d := p.A.Type, p.D.Type
	switch {
	case a.IsFP8() && p.B.Type.IsFP8():
		return p.unsupportedFP8()
	case a != p.B.Type || a != tensortype.Float32 && a != tensortype.Float64 && !a.Is16Bit():
		return "operands of " + a.String() + " and " + p.B.Type.String()
	case d != a && (d != tensortype.Float32 || !a.Is16Bit()):
		return "a result of " + d.String() + " from " + a.String()
	case a == tensortype.Float64 && (p.Bias || p.ReLU):
		return "a bias or ReLU of float64"
	case p.TF32 && a != tensortype.Float32:
		return "TF32 of " + a.String()
	}
	return ""
}

// unsupportedFP8 is Unsupported for 8-bit floats. GPUs before Blackwell multiply them only
// if the inner dimension of both factors is contiguous.
func (p Matmul) unsupportedFP8() string {
	d := p.D.Type
	switch {
	case p.A.Type == tensortype.Float8E5M2 && p.B.Type == tensortype.Float8E5M2:
		return "two operands of " + p.A.Type.String()
	case d != tensortype.Float32 && !d.Is16Bit():
		return "a result of " + d.String()
	case p.Bias && !d.Is16Bit():
		return "a bias of " + d.String()
	case !p.TransA || p.TransB:
		return "8-bit floats whose inner dimension is not contiguous"
	case p.TF32 || p.Batch > 1:
		return "TF32 or a batch of 8-bit floats"
	}
	for _, n := range []int{p.A.Rows, p.A.Cols, p.A.Lead, p.B.Rows, p.B.Lead, p.D.Lead, p.A.Align, p.B.Align, p.D.Align} {
		if n%alignFP8 != 0 {
			return "8-bit floats that are not aligned to 16 bytes"
		}
	}
	return ""
}

// Addresses are the device addresses of a multiplication's matrices, 0 for those that it
// does not have. Work is aligned to 256 bytes; the scales of 8-bit floats are float32.
type Addresses struct{ D, A, B, Bias, Work, ScaleA, ScaleB driver.Pointer }

// Library selects algorithms.
type Library interface {
	// Plans returns at most n plans, the one estimated to be the fastest first. The caller
	// closes them.
	Plans(p Matmul, n int) ([]Plan, error)
	// Version is the version of the library, 12.9.1 for instance.
	Version() string
	// Close releases what the library holds on the device.
	Close() error
}

// Plan is an algorithm for one Matmul.
type Plan interface {
	// Name differs from those of other plans for the same Matmul.
	Name() string
	// Workspace is how many bytes of device memory the plan needs besides.
	Workspace() int
	// Run puts the multiplication into a stream.
	Run(s driver.Stream, at Addresses) error
	// Close releases the plan. Work in a stream continues.
	Close()
}

// WorkspaceBytes returns the workspace that NVIDIA's guide recommends: 32 MiB from
// compute capability 9.0 on, 4 MiB before.
func WorkspaceBytes(capability int) int {
	if capability >= 90 {
		return 32 << 20
	}
	return 4 << 20
}
