package kernels

import (
	"github.com/quernlab/quern/accel/internal/ir"
	"github.com/quernlab/quern/accel/internal/tensortype"
)

type lossParams struct {
	Losses, X, Label, Fault Pointer
	Rows, N                 uint32
}

type meanParams struct {
	Y, Losses Pointer
	Rows      uint32
}

type lossGradientParams struct {
	DX, X, Label, DY, Fault Pointer
	Rows, N                 uint32
}

var (
	crossEntropyWarp          = declare[lossParams]("crossentropy", "crossentropy_warp", reals, 256)
	crossEntropyBlock         = declare[lossParams]("crossentropy", "crossentropy_block", reals, 256)
	crossEntropyMean          = declare[meanParams]("crossentropy", "crossentropy_mean", reals, 256)
	crossEntropyGradientWarp  = declare[lossGradientParams]("crossentropy", "crossentropy_gradient_warp", reals, 256)
	crossEntropyGradientBlock = declare[lossGradientParams]("crossentropy", "crossentropy_gradient_block", reals, 256)
)

// CrossEntropy computes the mean of -ln softmax(x)[label] over the rows of x [Rows, N], for
// int32 labels [Rows]. A label that is out of range is reported as a fault.
type CrossEntropy struct {
	DType   tensortype.DType
	Rows, N int
}

// Workspace returns the size of the workspace, which holds the loss of each row.
func (o CrossEntropy) Workspace() int { return o.Rows * o.DType.Size() }

// Launches computes the scalar y.
func (o CrossEntropy) Launches(y, x, label, fault, work Pointer) []Launch {
	k, v := crossEntropyBlock, real(o.DType)
	blocks, warp := teams(o.Rows, o.N)
	if warp {
		k = crossEntropyWarp
	}
	return []Launch{
		k.launch(v, blocks, lossParams{work, x, label, fault, uint32(o.Rows), uint32(o.N)}),
		crossEntropyMean.launch(v, 1, meanParams{y, work, uint32(o.Rows)}),
	}
}

// Gradient computes dx = (softmax(x) - one-hot(label))·dy/Rows for a scalar dy.
func (o CrossEntropy) Gradient(dx, x, label, dy, fault Pointer) []Launch {
	k := crossEntropyGradientBlock
	blocks, warp := teams(o.Rows, o.N)
	if warp {
		k = crossEntropyGradientWarp
	}
	return []Launch{k.launch(real(o.DType), blocks, lossGradientParams{dx, x, label, dy, fault, uint32(o.Rows), uint32(o.N)})}
}

func init() {
	register(planCrossEntropy)
	register(planCrossEntropyGradient)
}

func planCrossEntropy(p Planner, _ ir.CrossEntropy, s ir.Step) Launcher {
	o := CrossEntropy{DType: s.Out[0].DType, Rows: s.In[0].Shape[0], N: s.In[0].Shape[1]}
	p.NeedWorkspace(o.Workspace())
	p.Check(indices("CrossEntropy", o.N))
	return func(a Addresses) ([]Launch, error) {
		return o.Launches(a.Out[0], a.In[0], a.In[1], a.Fault, a.Work), nil
	}
}

func planCrossEntropyGradient(p Planner, _ ir.CrossEntropyGradient, s ir.Step) Launcher {
	o := CrossEntropy{DType: s.Out[0].DType, Rows: s.In[0].Shape[0], N: s.In[0].Shape[1]}
	p.Check(indices("CrossEntropy", o.N))
	return func(a Addresses) ([]Launch, error) {
		return o.Gradient(a.Out[0], a.In[0], a.In[1], a.In[2], a.Fault), nil
	}
}
