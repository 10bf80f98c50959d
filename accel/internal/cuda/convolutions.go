package cuda

import (
	"github.com/quernlab/quern/accel/internal/cuda/cudnn"
	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/ir"
)

// Room that a plan of cuDNN may use, which is for its turned copies of the tensors.
const (
	mostConvolutionRoom = 1 << 30
	memoryShare         = 16 // and at most this part of the device's memory
)

// convolved is a convolution or a gradient of one: cuDNN computes one of x, w and y
// from the others.
type convolved struct {
	cudnn.Convolution
	x, w, y ir.Operand
	bias    []ir.Operand // one or none, for y
	relu    bool
}

// convolutionOf is what cuDNN is asked for a step.
func convolutionOf(s ir.Step) (c convolved) {
	var op ir.Conv2D
	switch o := s.Op.(type) {
	case ir.Conv2D:
		op, c.Kind, c.x, c.w, c.y = o, cudnn.Forward, s.In[0], s.In[1], s.Out[0]
		c.bias, c.relu = s.In[2:], relu(s)
	case ir.Conv2DInputGradient:
		op, c.Kind, c.y, c.w, c.x = o.Conv2D, cudnn.InputGradient, s.In[0], s.In[1], s.Out[0]
	case ir.Conv2DWeightGradient:
		op, c.Kind, c.x, c.y, c.w = o.Conv2D, cudnn.WeightGradient, s.In[0], s.In[1], s.Out[0]
	}
	x, w, y := c.x.Shape, c.w.Shape, c.y.Shape
	c.N, c.C, c.H, c.W, c.O, c.OH, c.OW, c.KH, c.KW = x[0], x[1], x[2], x[3], y[1], y[2], y[3], w[2], w[3]
	c.Groups, c.Stride, c.Padding, c.Dilation = op.Groups, op.Stride, op.Padding, op.Dilation
	return c
}

// convolution is a way to convolve: a plan of cuDNN, and a loop behind it that adds
// the bias.
type convolution struct {
	convolved
	plan  cudnn.Plan
	after *loop // nil for none
	op    string
}

// convolutions are the ways in which cuDNN computes a step; none where it does not.
// All its tensors are of one type.
func (p *program) convolutions(s ir.Step, op string) (kind any, ways []step) {
	d, c := p.device, convolutionOf(s)
	t := c.x.DType
	if !cudnn.Takes(t) || c.w.DType != c.x.DType || c.y.DType != c.x.DType || !c.x.Contiguous() || !c.w.Contiguous() || !c.y.Contiguous() {
		return nil, nil
	}
	if ir.Len(c.y.Shape)*ir.Len(c.w.Shape) == 0 || ir.Len(c.x.Shape) == 0 {
		return nil, nil
	}
	c.Type, c.TF32 = t, t == ir.Float32 && d.tf32
	c.AlignX, c.AlignW, c.AlignY = p.alignment(c.x), p.alignment(c.w), p.alignment(c.y)
	c.Workspace = min(mostConvolutionRoom, d.ctx.Info().Memory/memoryShare)
	plans := d.dnn.ways(d, c.Convolution, op)
	if len(plans) == 0 {
		return nil, nil
	}
	var biases []ir.Operand
	for _, b := range c.bias {
		b.Layout = ir.Layout{Shape: c.y.Shape, Stride: []int{0, b.Stride[0], 0, 0}, Offset: b.Offset}
		biases = append(biases, b)
	}
	after, err := p.addition(c.y, biases, c.relu)
	if err != nil {
		unused(d, d.dnn.name, err)
		return nil, nil
	}
	for _, plan := range plans {
		ways = append(ways, &convolution{c, plan, after, op})
	}
	return convolutionKind{c.Convolution, len(c.bias) > 0, c.relu, d.dnn.it.Version()}, ways
}

// convolutionKind is what the time of a convolution depends on.
type convolutionKind struct {
	cudnn.Convolution
	bias, relu bool
	version    string // of cuDNN
}

func (w *convolution) name() string { return w.plan.Name() }

func (w *convolution) room() int { return w.plan.Workspace() }

// addition is a loop that adds to y what lies as y does, one bias or none, and applies
// ReLU; nil for neither.
func (p *program) addition(y ir.Operand, bias []ir.Operand, relu bool) (*loop, error) {
	s := ir.Step{Shape: y.Shape, In: append([]ir.Operand{y}, bias...), Out: []ir.Operand{y}}
	last := 0 // argument that holds the result so far
	if len(bias) > 0 {
		s.Loop = append(s.Loop, ir.Instr{Op: ir.Add{}, Args: []int{0, 1}, Out: -1})
		last = 2
	}
	if relu {
		s.Loop = append(s.Loop, ir.Instr{Op: ir.ReLU{}, Args: []int{last}, Out: -1})
	}
	if len(s.Loop) == 0 {
		return nil, nil
	}
	s.Loop[len(s.Loop)-1].Out = 0
	l := &loop{}
	return l, p.compile(l, s)
}

func (w *convolution) launches(p *program) ([]launch, error) {
	x, f, y, work := p.address(w.x), p.address(w.w), p.address(w.y), p.work()
	for _, a := range []placed{{x, w.AlignX}, {f, w.AlignW}, {y, w.AlignY}} {
		if !a.fits() {
			return nil, &misplacedError{w.op, a.at}
		}
	}
	out := []launch{{call: &call{name: w.plan.Name(), op: w.op, plan: w.plan, at: []driver.Pointer{x, f, y, work},
		run: func(s driver.Stream) error { return w.plan.Run(s, x, f, y, work) }}}}
	if w.after == nil {
		return out, nil
	}
	after, err := w.after.launches(p)
	return append(out, after...), err
}
