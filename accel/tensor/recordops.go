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
	Op string
	// DType is the type that the op computes in, as in [Autocast]: that of its inputs, or the wider
	// of two.
	DType DType
	// FLOPs is the number of multiplications and additions of a MatMul, Linear, Int8Linear, Conv2D
	// or Attention, 0 for other ops.
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
func (e *engine) recordOp(op string, in []*ir.Value, y *ir.Value) {
	if e.current.recordedOps == nil {
		return
	}
	c := RecordedOp{Op: op, DType: Float32}
	if found, d := has16Bit(in); found {
		c.DType = d
	} else if len(in) > 0 && in[0].DType() == Float64 {
		c.DType = Float64
	}
	c.FLOPs = flops(op, in, y)
	e.appendOp(c)
}

func (e *engine) appendOp(c RecordedOp) {
	if e.current.recordedOps != nil {
		*e.current.recordedOps = append(*e.current.recordedOps, c)
	}
}

// flops returns the FLOPs of an op, two for each multiply-add.
func flops(op string, in []*ir.Value, y *ir.Value) int {
	last := func(v *ir.Value) int { return v.Shape()[len(v.Shape())-1] }
	switch op {
	case "MatMul", "Int8Linear":
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
