package kernels

import (
	"math"

	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

type finiteParams struct {
	Y, X, Fault Pointer
	N           uint64
}

var (
	finite = declare[finiteParams]("finite", "finite", reals, 256)
)

// Finite copies N elements of x to y and reports the first one that is NaN or infinite as a
// fault.
type Finite struct {
	DType tensortype.DType
	N     int
}

// Launches copies and checks; y may be x.
func (o Finite) Launches(y, x, fault Pointer) []Launch {
	if o.N == 0 {
		return nil
	}
	return []Launch{finite.launch(real(o.DType), linear(o.N), finiteParams{y, x, fault, uint64(o.N)})}
}

func init() {
	register(planFinite)
}

func planFinite(p Planner, op ir.Finite, s ir.Step) Launcher {
	x, y, what := s.In[0], s.Out[0], op.What
	o := Finite{DType: y.DType, N: ir.Len(x.Shape)}
	row := Copy{Size: x.DType.Size(), Layout: x.Layout}
	p.Check(func(fault uint64, _ int64) error {
		element, kind, wrong := Fault(fault)
		if !wrong {
			return nil
		}
		return &ir.NonFiniteError{What: what, Element: element, Value: map[int32]float64{1: math.NaN(), 2: math.Inf(1), 3: math.Inf(-1)}[kind]}
	})
	return func(a Addresses) ([]Launch, error) {
		if x.Contiguous() {
			return o.Launches(a.Out[0], a.In[0], a.Fault), nil
		}
		out, err := row.Launches(a.Out[0], a.In[0])
		return append(out, o.Launches(a.Out[0], a.Out[0], a.Fault)...), err
	}
}
