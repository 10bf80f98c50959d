package cublaslt

import (
	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/tensor"
)

// Matrix is a batch of matrices that lie column by column.
type Matrix struct {
	Type       tensor.DType
	Rows, Cols int
	Lead       int // elements from one column to the next, at least Rows
	Stride     int // elements from one matrix of the batch to the next; 0 for one that all share
	Align      int // bytes that addresses are multiples of, a power of two
}

// Product is D = op(A)·op(B) + bias, which is added to each column, and then ReLU.
// The products are added up in float32; of float64 in float64. 8-bit floats have a
// scale each, by which the sums are multiplied.
type Product struct {
	A, B, D    Matrix
	TurnA      bool // op(A) is A transposed
	TurnB      bool
	Batch      int // matrices, at least 1
	TF32       bool
	Bias, ReLU bool // the bias is of D's type, has D.Rows elements, and is aligned as D
	Workspace  int  // most bytes that a plan may use
}

// alignEight is what strides, rows, depths and addresses of products of 8-bit floats
// are multiples of.
const alignEight = 16

// Refusal says in words why cuBLASLt's documentation does not allow a product; it is
// empty for one that is allowed.
func (p Product) Refusal() string {
	a, d := p.A.Type, p.D.Type
	switch {
	case a.Eight() && p.B.Type.Eight():
		return p.refusalEight()
	case a != p.B.Type || a != tensor.Float32 && a != tensor.Float64 && !a.Half():
		return "factors of " + a.String() + " and " + p.B.Type.String()
	case d != a && (d != tensor.Float32 || !a.Half()):
		return "a result of " + d.String() + " from " + a.String()
	case a == tensor.Float64 && (p.Bias || p.ReLU):
		return "a bias or ReLU of float64"
	case p.TF32 && a != tensor.Float32:
		return "TF32 of " + a.String()
	}
	return ""
}

// refusalEight is Refusal for 8-bit floats, which GPUs before Blackwell multiply only
// with neighbours along the depth of both factors.
func (p Product) refusalEight() string {
	d := p.D.Type
	switch {
	case p.A.Type == tensor.Float8E5M2 && p.B.Type == tensor.Float8E5M2:
		return "two factors of " + p.A.Type.String()
	case d != tensor.Float32 && !d.Half():
		return "a result of " + d.String()
	case p.Bias && !d.Half():
		return "a bias of " + d.String()
	case !p.TurnA || p.TurnB:
		return "8-bit floats without neighbours along the depth"
	case p.TF32 || p.Batch > 1:
		return "TF32 or a batch of 8-bit floats"
	}
	for _, n := range []int{p.A.Rows, p.A.Cols, p.A.Lead, p.B.Rows, p.B.Lead, p.D.Lead, p.A.Align, p.B.Align, p.D.Align} {
		if n%alignEight != 0 {
			return "8-bit floats that are not aligned to 16 bytes"
		}
	}
	return ""
}

// Places are where a product's matrices are, 0 for what it does not have. work is
// aligned to 256 bytes; the scales of 8-bit floats are float32.
type Places struct{ D, A, B, Bias, Work, ScaleA, ScaleB driver.Pointer }

// Library chooses how to compute products.
type Library interface {
	// Plans are the ways that the library thinks fastest, the best first, at most n.
	// Their owner closes them.
	Plans(p Product, n int) ([]Plan, error)
	// Version is that of the library.
	Version() string
	// Close gives back what the library has on the device.
	Close() error
}

// Plan computes products of one kind.
type Plan interface {
	// Name tells the plan from others of the same product.
	Name() string
	// Workspace is how many bytes of device memory the plan uses besides.
	Workspace() int
	// Run asks a stream to compute a product.
	Run(s driver.Stream, at Places) error
	// Close gives the plan back. Work that it has asked for goes on.
	Close()
}

// WorkspaceBytes is what NVIDIA's guide recommends to allow plans: 32 MiB from
// compute capability 9.0 on, 4 MiB before.
func WorkspaceBytes(capability int) int {
	if capability >= 90 {
		return 32 << 20
	}
	return 4 << 20
}
