package tensor

import (
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
)

// recordOp appends an op with the result y to the list of RecordOps.
func (e *engine) recordOp(op named, in []*ir.Value, y *ir.Value) {
	if !e.current.RecordsOps() {
		return
	}
	if o, ok := op.(ir.Op); ok {
		if from, to := ir.TypedBy(op, len(in)); ir.Moves(o) || from == to {
			return
		}
	}
	c := tensors.RecordedOp{Op: op.Name(), DType: Float32, FLOPs: flops(op, in, y)}
	if found, d := narrowest(in); found {
		c.DType = d
	} else if len(in) > 0 && in[0].DType() == Float64 {
		c.DType = Float64
	}
	e.current.RecordOp(c)
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
