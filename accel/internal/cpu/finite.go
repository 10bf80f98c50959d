package cpu

import (
	"math"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

var _ = implement[ir.Finite](newFinite)

// finite copies a tensor and fails at the first element that is not finite.
type finite struct {
	copyStep
	what string
}

func newFinite(_ *Device, s ir.Step) (step, error) {
	return &finite{newCopyStep(s), s.Op.(ir.Finite).What}, nil
}

func (k *finite) run(p *program) error {
	if err := k.copyStep.run(p); err != nil {
		return err
	}
	if k.out.DType == ir.Float64 {
		return firstNotFinite(k.what, elements[float64](p, k.out))
	}
	return firstNotFinite(k.what, elements[float32](p, k.out))
}

func firstNotFinite[T float32 | float64](what string, x []T) error {
	for i, v := range x {
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return &ir.NonFiniteError{What: what, Element: i, Value: f}
		}
	}
	return nil
}
