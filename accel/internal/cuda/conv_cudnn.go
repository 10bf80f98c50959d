package cuda

import (
	"github.com/quernlab/quern/accel/internal/cuda/cudnn"
	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/engine/ir"
)

func init() {
	registerLibrary[ir.Conv2D](convCandidates)
	registerLibrary[ir.Conv2DInputGradient](convCandidates)
	registerLibrary[ir.Conv2DWeightGradient](convCandidates)
}

// The workspace that a plan of cuDNN may use, for transposed copies of the tensors.
const (
	maxConvWorkspace = 1 << 30
	workspaceShare   = 16 // the workspace is at most memory / workspaceShare
)

// convTensors are the tensors of a convolution or a gradient of one: cuDNN computes one
// of x, w and y from the others.
type convTensors struct {
	cudnn.Convolution
	x, w, y ir.Operand
	bias    []ir.Operand // one or none, for y
	end     ending
}

// convTensorsOf describes a step to cuDNN.
func convTensorsOf(s ir.Step) (c convTensors) {
	var op ir.Conv2D
	switch o := s.Op.(type) {
	case ir.Conv2D:
		op, c.Kind, c.x, c.w, c.y = o, cudnn.Forward, s.In[0], s.In[1], s.Out[0]
		c.bias, c.end = s.In[2:], endOf(s)
	case ir.Conv2DInputGradient:
		op, c.Kind, c.y, c.w, c.x = o.Conv2D, cudnn.InputGradient, s.In[0], s.In[1], s.Out[0]
	case ir.Conv2DWeightGradient:
		op, c.Kind, c.x, c.y, c.w = o.Conv2D, cudnn.WeightGradient, s.In[0], s.In[1], s.Out[0]
	}
	x, w, y := c.x.Shape, c.w.Shape, c.y.Shape
	c.N, c.C, c.H, c.W, c.O, c.OH, c.OW, c.KH, c.KW = x[0], x[1], x[2], x[3], y[1], y[2], y[3], w[2], w[3]
	c.ChannelsLast = c.x.ChannelsLast() || c.w.ChannelsLast() || c.y.ChannelsLast() // else all are in row-major order
	c.Groups, c.Stride, c.Padding, c.Dilation = op.Groups, op.Stride, op.Padding, op.Dilation
	return c
}

// convCuDNN is a step by a plan of cuDNN.
type convCuDNN struct {
	libraryStep
	convTensors
	plan cudnn.Plan
}

// convCandidates returns cuDNN's plans for a step, none if it cannot compute the step.
// All tensors of a plan have one type.
func convCandidates(p *program, s ir.Step, op string) (key any, algorithms []candidate) {
	d, c := p.device, convTensorsOf(s)
	t := c.x.DType
	if !cudnn.Supports(t) || c.w.DType != c.x.DType || c.y.DType != c.x.DType {
		return nil, nil
	}
	if ir.Len(c.y.Shape)*ir.Len(c.w.Shape) == 0 || ir.Len(c.x.Shape) == 0 {
		return nil, nil
	}
	c.Type, c.TF32 = t, t == ir.Float32 && d.tf32
	c.AlignX, c.AlignW, c.AlignY = p.alignment(c.x), p.alignment(c.w), p.alignment(c.y)
	c.Workspace = min(maxConvWorkspace, d.ctx.Info().Memory/workspaceShare)
	plans, after := plansFor(p, &d.libraries.dnn, c.Convolution, op, c.y, c.bias, c.end)
	for _, plan := range plans {
		algorithms = append(algorithms, &convCuDNN{libraryStep{plan, after, op}, c, plan})
	}
	return convKey{c.Convolution, len(c.bias) > 0, c.end.op != nil, d.libraries.dnn.version()}, algorithms
}

// convKey has the properties on which the time of a convolution depends.
type convKey struct {
	cudnn.Convolution
	bias, relu bool
	version    string // of cuDNN
}

func (w *convCuDNN) launches(p *program) ([]launch, error) {
	x, f, y, work := p.address(w.x), p.address(w.w), p.address(w.y), p.work()
	for _, a := range []alignedPointer{{x, w.AlignX}, {f, w.AlignW}, {y, w.AlignY}} {
		if !a.aligned() {
			return nil, &misalignedError{w.op, a.at}
		}
	}
	return w.then(p, []launch{w.call([]driver.Pointer{x, f, y, work}, func(s driver.Stream) error { return w.plan.Run(s, x, f, y, work) })})
}
