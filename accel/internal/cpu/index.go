package cpu

import "github.com/quernlab/quern/accel/internal/engine/ir"

var _ = implement[ir.Index](newIndex)

// index converts int64 indices to int32 after checking their range.
type index struct {
	in, out ir.Operand
	op      ir.Index
}

func newIndex(_ *Device, s ir.Step) (step, error) {
	return &index{in: s.In[0], out: s.Out[0], op: s.Op.(ir.Index)}, nil
}

func (k *index) run(p *program) error {
	y := elements[int32](p, k.out)
	for i, v := range elements[int64](p, k.in) {
		if v < 0 || v >= int64(k.op.Size) {
			return k.op.Error(int(v), i)
		}
		y[i] = int32(v)
	}
	return nil
}
