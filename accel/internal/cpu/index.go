package cpu

import "github.com/quernlab/quern/accel/internal/engine/ir"

var _ = implement[ir.Index](newIndex)

// newIndex returns a step that converts int64 indices to int32 after checking their range.
func newIndex(_ *Device, s ir.Step) (step, error) {
	op := s.Op.(ir.Index)
	return stepFunc(func(p *program) error {
		y := elements[int32](p, s.Out[0])
		for i, v := range elements[int64](p, s.In[0]) {
			if v < 0 || v >= int64(op.Size) {
				return op.Error(int(v), i)
			}
			y[i] = int32(v)
		}
		return nil
	}), nil
}
