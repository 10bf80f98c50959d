package cpu

import (
	"math"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

var _ = implement[ir.Finite](newFinite)

// newFinite returns a step that copies a tensor and fails at the first element that is not finite.
func newFinite(_ *Device, s ir.Step) (step, error) {
	copied, what, out := copying(s), s.Op.(ir.Finite).What, s.Out[0]
	return stepFunc(func(p *program) error {
		if err := copied(p); err != nil {
			return err
		}
		if out.DType == ir.Float64 {
			return firstNotFinite(what, elements[float64](p, out))
		}
		return firstNotFinite(what, elements[float32](p, out))
	}), nil
}

func firstNotFinite[T float32 | float64](what string, x []T) error {
	for i, v := range x {
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return &ir.NonFiniteError{What: what, Element: i, Value: f}
		}
	}
	return nil
}
