package cublaslt

import (
	"fmt"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
)

// Type is the type of a matrix's elements, as cudaDataType numbers it.
type Type int32

// The types.
const (
	Float32  Type = 0
	Float16  Type = 2
	BFloat16 Type = 14
)

func (t Type) String() string {
	switch t {
	case Float32:
		return "float32"
	case Float16:
		return "float16"
	case BFloat16:
		return "bfloat16"
	}
	return fmt.Sprintf("type %d", int32(t))
}

// Bytes is the size of an element.
func (t Type) Bytes() int {
	if t == Float32 {
		return 4
	}
	return 2
}

// Matrix is a batch of matrices that lie column by column.
type Matrix struct {
	Type       Type
	Rows, Cols int
	Lead       int // elements from one column to the next, at least Rows
	Stride     int // elements from one matrix of the batch to the next; 0 for one that all share
	Align      int // bytes that addresses are multiples of, a power of two
}

// Product is D = op(A)·op(B) + bias, which is added to each column, and then ReLU.
// The products are added up in float32.
type Product struct {
	A, B, D    Matrix
	TurnA      bool // op(A) is A transposed
	TurnB      bool
	Batch      int // matrices, at least 1
	TF32       bool
	Bias, ReLU bool // the bias is of D's type and has D.Rows elements
	Workspace  int  // most bytes that a plan may use
}

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
	// Run asks a stream to compute a product. work is aligned to 256 bytes; bias is 0
	// where the product has none.
	Run(s driver.Stream, d, a, b, bias, work driver.Pointer) error
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
