package cublaslt

import (
	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

// Matrix is a batch of matrices in column-major order.
type Matrix struct {
	Type       tensortype.DType
	Rows, Cols int
	Lead       int // elements from one column to the next, at least Rows
	Stride     int // elements from one matrix of the batch to the next; 0 if all share one
	Align      int // alignment of addresses in bytes, a power of two
}

// Matmul is D = op(A)·op(B) + bias, which is added to each column, and then ReLU or what
// GELU says. Sums are float32, those of float64 factors float64. Each factor of 8-bit
// floats has a scale, with which the sums are multiplied.
type Matmul struct {
	A, B, D    Matrix
	TransA     bool // op(A) is Aᵀ
	TransB     bool
	Batch      int // number of matrices, at least 1
	TF32       bool
	Bias, ReLU bool // the bias has D's type and alignment, and D.Rows elements
	GELU       GELU
	Summed     Factor // is also summed along the depth, for the gradient of a bias
	Workspace  int    // maximum bytes that a plan may use
}

// GELU is what a multiplication computes with GELU, in the form with tanh, of sums that are
// not rounded yet.
type GELU int

// The argument of GELU is a matrix with D's type, layout and alignment.
const (
	NoGELU        GELU = iota
	ApplyGELU          // D is GELU of the sums
	KeepArgument       // likewise, and the sums are stored, too
	MultiplySlope      // D is the sums multiplied with the slope of GELU at an argument
)

// HasArgument reports whether the argument of GELU is written or read.
func (g GELU) HasArgument() bool { return g == KeepArgument || g == MultiplySlope }

// Factor is one of the factors of a multiplication. The sums of A have D.Rows elements,
// those of B D.Cols, of D's type and alignment.
type Factor int

// The factors, and none of them.
const (
	NoFactor Factor = iota
	FactorA
	FactorB
)

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
	return p.unsupportedEpilogue()
}

// unsupportedEpilogue is Unsupported for GELU and for sums of a factor.
func (p Matmul) unsupportedEpilogue() string {
	argument, summed := p.GELU.HasArgument(), p.Summed != NoFactor
	switch {
	case (p.GELU != NoGELU || summed) && p.D.Type != p.A.Type:
		return "GELU or sums of a factor of another type than the result"
	case p.A.Type == tensortype.Float64 && (p.GELU != NoGELU || summed):
		return "GELU or sums of float64"
	case p.GELU != NoGELU && p.ReLU, summed && (p.Bias || p.ReLU || p.GELU != NoGELU), p.GELU == MultiplySlope && p.Bias:
		return "more than one epilogue"
	case p.Batch > 1 && (argument || summed):
		return "an argument of GELU or sums of a batch"
	case argument && (p.D.Lead%8 != 0 || p.D.Align%16 != 0):
		return "an argument of GELU that is not aligned"
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
	case p.TF32 || p.Batch > 1 || p.GELU != NoGELU || p.Summed != NoFactor:
		return "TF32, a batch, GELU or sums of 8-bit floats"
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
type Addresses struct {
	D, A, B, Bias, Work, ScaleA, ScaleB driver.Pointer
	Argument                            driver.Pointer // of GELU
	Sums                                driver.Pointer // of a factor
}

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
