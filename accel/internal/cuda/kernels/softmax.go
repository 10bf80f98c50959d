package kernels

import (
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

type softmaxParams struct {
	Y, X         Pointer
	Rows, N, Log uint32
	YKind, XKind uint32
}

var (
	softmaxRows = declareRows[softmaxParams]("softmax", "softmax")
)

// Softmax computes y = eˣ/Σeˣ of each row of x [Rows, N], or with Log its logarithm.
type Softmax struct {
	DType   tensortype.DType // of the computation
	Log     bool
	Rows, N int
	Y, X    tensortype.DType // DType, or 16-bit floats if that is float32
}

// Launches computes y from x.
func (o Softmax) Launches(y, x Pointer) []Launch {
	if o.Rows == 0 || o.N == 0 {
		return nil
	}
	return []Launch{softmaxRows.launch(real(o.DType), o.Rows, o.N, softmaxParams{y, x, uint32(o.Rows), uint32(o.N), flag(o.Log), kind(o.Y), kind(o.X)})}
}

func init() {
	register(planSoftmax[ir.LogSoftmax])
	register(planSoftmax[ir.Softmax])
}

func planSoftmax[O ir.Op](_ Planner, _ O, s ir.Step) Launcher {
	_, log := s.Op.(ir.LogSoftmax)
	o := Softmax{DType: computes(s.In[0].DType), Log: log, Y: s.Out[0].DType, X: s.In[0].DType}
	o.Rows, o.N = splitLast(s.In[0].Shape)
	return func(a Addresses) ([]Launch, error) { return o.Launches(a.Out[0], a.In[0]), nil }
}
