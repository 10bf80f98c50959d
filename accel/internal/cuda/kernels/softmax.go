package kernels

import "github.com/quernlab/quern/accel/internal/engine/ir"

type softmaxParams struct {
	Y, X         Pointer
	Rows, N, Log uint32
	YKind, XKind uint32
}

var (
	softmaxRows = declareRows[softmaxParams]("softmax", "softmax")
)

func init() {
	register(func(_ Planner, _ ir.Softmax, s ir.Step) Launcher { return planSoftmax(s, false) })
	register(func(_ Planner, _ ir.LogSoftmax, s ir.Step) Launcher { return planSoftmax(s, true) })
}

// planSoftmax computes y = eˣ/Σeˣ of each row of x, or its logarithm.
func planSoftmax(s ir.Step, log bool) Launcher {
	x, y := s.In[0].DType, s.Out[0].DType
	rows, n := splitLast(s.In[0].Shape)
	return func(a Addresses) ([]Launch, error) {
		if rows == 0 || n == 0 {
			return nil, nil
		}
		return []Launch{softmaxRows.launch(real(computes(x)), rows, n, softmaxParams{a.Out[0], a.In[0], uint32(rows), uint32(n), flag(log), kind(y), kind(x)})}, nil
	}
}
