package tensor

import (
	"github.com/quernlab/quern/accel/internal/ir"
	"github.com/quernlab/quern/accel/internal/tensortype"
)

// The 8-bit floats in which AutocastFP8 multiplies. No tensor has them; only [RecordOps] reports them.
const (
	Float8E4M3 = tensortype.Float8E4M3
	Float8E5M2 = tensortype.Float8E5M2
)

// RecordedOp describes an op recorded by [RecordOps].
type RecordedOp struct {
	Op string // name, such as "MatMul"
	// DType is the type that the op computes in, as in [Autocast]: that of its inputs, or the wider
	// of two.
	DType DType
	// FLOPs is the number of multiplications and additions of a MatMul, Linear, Int8Linear, Conv2D,
	// ConvTranspose2D or Attention, 0 for other ops.
	FLOPs int
}

// RecordOps runs f and returns the ops that this goroutine calls in it, in order, with the types that
// they compute in. Ops that only move or compare elements are left out.
func RecordOps(f func()) []RecordedOp {
	var all []RecordedOp
	withScope(func(s *scope) { s.recordedOps = &all }, f)
	return all
}

// recordOp appends an op with the result y to the list of RecordOps.
func (e *engine) recordOp(op named, in []*ir.Value, y *ir.Value) {
	if e.current.recordedOps == nil {
		return
	}
	if o, ok := op.(ir.Op); ok {
		if from, to := ir.TypedBy(op, len(in)); ir.Moves(o) || from == to {
			return
		}
	}
	c := RecordedOp{Op: op.Name(), DType: Float32, FLOPs: flops(op, in, y)}
	if found, d := narrowest(in); found {
		c.DType = d
	} else if len(in) > 0 && in[0].DType() == Float64 {
		c.DType = Float64
	}
	e.appendOp(c)
}

func (e *engine) appendOp(c RecordedOp) {
	if e.current.recordedOps != nil {
		*e.current.recordedOps = append(*e.current.recordedOps, c)
	}
}

// flops returns the FLOPs of an op that multiplies matrices, two for each multiply-add.
func flops(op named, in []*ir.Value, y *ir.Value) int {
	if c, ok := op.(composite); ok && c.of != nil {
		op = c.of
	}
	shapes := make([][]int, len(in))
	for i, v := range in {
		shapes[i] = v.Shape()
	}
	return 2 * ir.MultiplyAdds(op, shapes, y.Shape())
}
