package kernels

import (
	"math"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

type finiteParams struct {
	Y, X, Fault Pointer
	N           uint64
}

var (
	finite = declare[finiteParams]("finite", "finite", reals, 256)
)

func init() {
	register(planFinite)
}

// planFinite copies x and reports the first element that is NaN or infinite as a fault.
func planFinite(p Planner, op ir.Finite, s ir.Step) Launcher {
	x, y, what := s.In[0], s.Out[0], op.What
	n := ir.Len(x.Shape)
	row := Copy{Size: x.DType.Size(), Layout: x.Layout}
	p.Check(func(fault uint64, _ int64) error {
		element, kind, wrong := Fault(fault)
		if !wrong {
			return nil
		}
		return &ir.NonFiniteError{What: what, Element: element, Value: map[int32]float64{1: math.NaN(), 2: math.Inf(1), 3: math.Inf(-1)}[kind]}
	})
	return func(a Addresses) (out []Launch, err error) {
		if n == 0 {
			return nil, nil
		}
		from := a.In[0]
		if !x.Contiguous() {
			out, err = row.Launches(a.Out[0], from)
			from = a.Out[0]
		}
		return append(out, finite.launch(real(y.DType), linear(n), finiteParams{a.Out[0], from, a.Fault, uint64(n)})), err
	}
}
