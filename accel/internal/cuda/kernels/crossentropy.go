package kernels

import (
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

type lossParams struct {
	Y, Losses, X, Label, Fault Pointer
	Rows, N, XKind             uint32
}

type lossGradientParams struct {
	DX, X, Label, DY, Fault, Y, Losses Pointer
	Rows, N, DXKind, XKind, Constant   uint32
}

// Kernels with a mask have the ignored label as one more parameter. Embedded, the others would be padded.
type (
	maskedLossParams struct {
		Y, Losses, X, Label, Fault Pointer
		Rows, N, XKind             uint32
		Ignored                    int32
	}
	maskedLossGradientParams struct {
		DX, X, Label, DY, Fault, Y, Losses Pointer
		Rows, N, DXKind, XKind, Constant   uint32
		Ignored                            int32
	}
)

var (
	crossEntropyRows               = declareRows[lossParams]("crossentropy", "crossentropy")
	crossEntropyGradientRows       = declareRows[lossGradientParams]("crossentropy", "crossentropy_gradient")
	maskedCrossEntropyRows         = declareRows[maskedLossParams]("crossentropy", "crossentropy_masked")
	maskedCrossEntropyGradientRows = declareRows[maskedLossGradientParams]("crossentropy", "crossentropy_masked_gradient")
)

// CrossEntropy computes the mean of -ln softmax(x)[label] over the rows of x [Rows, N], for
// int32 labels [Rows]. A label that is out of range is reported as a fault, unless Mask leaves out its row.
type CrossEntropy struct {
	DType   tensortype.DType // of the computation, and of y and dy
	Rows, N int
	X, DX   tensortype.DType // DType, or 16-bit floats if that is float32
	Mask    ir.CrossEntropy  // which rows are left out
}

// Workspace returns the size of the workspace, which holds the loss of each row.
func (o CrossEntropy) Workspace() int { return o.Rows * o.DType.Size() }

// Launches computes the scalar y.
func (o CrossEntropy) Launches(y, x, label, fault, work Pointer) []Launch {
	params := lossParams{y, work, x, label, fault, uint32(o.Rows), uint32(o.N), kind(o.X)}
	if o.Mask.Masked {
		return []Launch{maskedCrossEntropyRows.launch(real(o.DType), max(1, o.Rows), o.N, maskedLossParams{y, work, x, label, fault, params.Rows, params.N, params.XKind, o.Mask.Ignored})}
	}
	return []Launch{crossEntropyRows.launch(real(o.DType), max(1, o.Rows), o.N, params)}
}

// Gradient computes dx = (softmax(x) - one-hot(label))·dy/Rows for a scalar dy, which is a float64 if it is constant, and the
// loss y as well if its address is not 0.
func (o CrossEntropy) Gradient(dx, y, x, label, dy Pointer, constant bool, fault, work Pointer) []Launch {
	if y == 0 {
		work = 0
	}
	params := lossGradientParams{dx, x, label, dy, fault, y, work, uint32(o.Rows), uint32(o.N), kind(o.DX), kind(o.X), flag(constant)}
	if o.Mask.Masked {
		masked := maskedLossGradientParams{dx, x, label, dy, fault, y, work, params.Rows, params.N, params.DXKind, params.XKind, params.Constant, o.Mask.Ignored}
		return []Launch{maskedCrossEntropyGradientRows.launch(real(o.DType), max(1, o.Rows), o.N, masked)}
	}
	return []Launch{crossEntropyGradientRows.launch(real(o.DType), max(1, o.Rows), o.N, params)}
}

func init() {
	register(planCrossEntropy)
	register(planCrossEntropyGradient)
}

func planCrossEntropy(p Planner, op ir.CrossEntropy, s ir.Step) Launcher {
	o := CrossEntropy{DType: s.Out[0].DType, Rows: s.In[0].Shape[0], N: s.In[0].Shape[1], X: s.In[0].DType, Mask: op}
	p.NeedWorkspace(o.Workspace())
	p.Check(indices("CrossEntropy", o.N))
	return func(a Addresses) ([]Launch, error) {
		return o.Launches(a.Out[0], a.In[0], a.In[1], a.Fault, a.Work), nil
	}
}

func planCrossEntropyGradient(p Planner, op ir.CrossEntropyGradient, s ir.Step) Launcher {
	o := CrossEntropy{DType: computes(s.In[0].DType), Rows: s.In[0].Shape[0], N: s.In[0].Shape[1], X: s.In[0].DType, DX: s.Out[0].DType, Mask: op.CrossEntropy}
	if len(s.Out) == 2 {
		p.NeedWorkspace(o.Workspace())
	}
	p.Check(indices("CrossEntropy", o.N))
	return func(a Addresses) ([]Launch, error) {
		var loss Pointer
		if len(a.Out) == 2 {
			loss = a.Out[1]
		}
		dy, constant := a.Word, len(a.In) == 2
		if !constant {
			dy = a.In[2]
		}
		return o.Gradient(a.Out[0], loss, a.In[0], a.In[1], dy, constant, a.Fault, a.Work), nil
	}
}
