package tensor

import (
	"github.com/quernlab/quern/accel/internal/ir"
	"github.com/quernlab/quern/accel/internal/tensortype"
)

// The 8-bit floats that AutocastFP8 multiplies. No tensor has them; [Types] tells
// of them.
const (
	Float8E4M3 = tensortype.Float8E4M3
	Float8E5M2 = tensortype.Float8E5M2
)

// Computed is an op as [Types] tells of it.
type Computed struct {
	Op string
	// DType is the type that the op computes in, in the words of [Autocast]: that of
	// its inputs, or of the wider of two.
	DType DType
	// FLOPs are the multiplications and additions of a product: MatMul, Linear,
	// ByteLinear, Conv2D or Attention. 0 for other ops.
	FLOPs int
}

// Types runs f and lists what this goroutine's ops compute in meanwhile, in the order
// in which they are called. What only moves or compares elements is left out.
func Types(f func()) []Computed {
	var all []Computed
	within(func(s *scope) { s.computed = &all }, f)
	return all
}

// tell says that an op was recorded, which has the result y.
func (e *engine) tell(op string, in []*ir.Value, y *ir.Value) {
	if e.now.computed == nil {
		return
	}
	c := Computed{Op: op, DType: Float32}
	if half, d := has16Bit(in); half {
		c.DType = d
	} else if len(in) > 0 && in[0].DType() == Float64 {
		c.DType = Float64
	}
	c.FLOPs = multiplications(op, in, y)
	e.told(c)
}

func (e *engine) told(c Computed) {
	if e.now.computed != nil {
		*e.now.computed = append(*e.now.computed, c)
	}
}

// multiplications returns the FLOPs of a product, two for each product of numbers.
func multiplications(op string, in []*ir.Value, y *ir.Value) int {
	last := func(v *ir.Value) int { return v.Shape()[len(v.Shape())-1] }
	switch op {
	case "MatMul", "ByteLinear":
		return 2 * y.Len() * last(in[0])
	case "Linear":
		return 2 * y.Len() * last(in[1])
	case "Conv2D":
		return 2 * y.Len() * ir.Len(in[1].Shape()[1:])
	case "Attention":
		queries := in[0].Len() / max(1, last(in[0]))
		return 2 * queries * in[1].Shape()[len(in[1].Shape())-2] * (last(in[0]) + last(in[2]))
	}
	return 0
}
