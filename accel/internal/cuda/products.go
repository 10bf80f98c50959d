package cuda

import (
	"slices"

	"github.com/quernlab/quern/accel/internal/cuda/kernels"
	"github.com/quernlab/quern/accel/internal/ir"
)

// MultipliesHalf tells whether tensor cores compute an op.
func (d *Device) MultipliesHalf(op ir.Op, t ir.DType, factors []ir.Layout) bool {
	switch op.(type) {
	case ir.MatMul, ir.Linear, ir.Conv2D, ir.Conv2DInputGradient, ir.Conv2DWeightGradient:
		return true
	case ir.Attention, ir.AttentionGradient:
		o := kernels.TensorAttention{Attention: kernels.Attention{DType: t, Q: factors[0], K: factors[1], V: factors[2]}}
		slopes := len(factors) == 4 && factors[3].Contiguous() && factors[3].Offset%8 != 0
		return !slopes && o.Fits([3]int{factors[0].Offset, factors[1].Offset, factors[2].Offset})
	}
	return false
}

// SetTF32 says whether products of float32 that are compiled from now on round
// their factors to TF32, for tensor cores.
func (d *Device) SetTF32(on bool) { d.tf32 = on }

// onTensorCores tells whether tensor cores multiply factors of a type.
func (d *Device) onTensorCores(factor ir.DType) bool {
	return factor.Half() || factor == ir.Float32 && d.tf32
}

// relu tells whether a step ends with ReLU.
func relu(s ir.Step) bool {
	_, ok := s.Epilogue.(ir.ReLU)
	return ok
}

// multiplier is a product of package kernels, on tensor cores or not.
type multiplier interface {
	Workspace() int
	Launches(y, a, b, bias, work kernels.Pointer) ([]kernels.Launch, error)
}

// hasWgmma tells whether the device has wgmma, which later ones have not, and the
// driver the PTX for it.
func (d *Device) hasWgmma() bool {
	i := d.ctx.Info()
	return i.Capability() == hopperOnly && i.CUDA >= 12000
}

// multiply is the kernels for factors of a type.
func (d *Device) multiply(o kernels.MatMul, factor, y ir.DType) multiplier {
	if o.DType = factor; !d.onTensorCores(factor) {
		return o
	}
	t := kernels.TensorMatMul{MatMul: o, Half: y.Half()}
	if h := (kernels.HopperMatMul{TensorMatMul: t}); factor.Half() && d.hasWgmma() && h.Pays() {
		return hopper{h}
	}
	return t
}

// hopper is a product for compute capability 9.0, or for any where the factors do
// not lie as that wants.
type hopper struct{ kernels.HopperMatMul }

func (h hopper) Workspace() int {
	return max(h.HopperMatMul.Workspace(), h.TensorMatMul.Workspace())
}

func (h hopper) Launches(y, a, b, bias, work kernels.Pointer) ([]kernels.Launch, error) {
	if h.Fits(a, b) {
		return h.HopperMatMul.Launches(y, a, b, bias, work)
	}
	return h.TensorMatMul.Launches(y, a, b, bias, work)
}

func matMul(p *program, s ir.Step) launcher {
	if s.In[0].DType.Eight() {
		return eightProduct(p, s)
	}
	a, b, y := s.In[0], s.In[1], s.Out[0]
	lead := y.Shape[:len(y.Shape)-2]
	o := p.device.multiply(kernels.MatMul{ReLU: relu(s),
		A: a.BroadcastTo(append(slices.Clone(lead), a.Shape[len(a.Shape)-2:]...)),
		B: b.BroadcastTo(append(slices.Clone(lead), b.Shape[len(b.Shape)-2:]...))}, a.DType, y.DType)
	p.room(o.Workspace())
	return func(p *program) ([]kernels.Launch, error) {
		return o.Launches(p.address(y), p.address(a), p.address(b), 0, p.work())
	}
}

// linear is x [N, In] by w [Out, In] transposed, plus b [Out].
func linear(p *program, s ir.Step) launcher {
	if s.In[0].DType.Eight() {
		return eightProduct(p, s)
	}
	x, w, y := s.In[0], s.In[1], s.Out[0]
	o := p.device.multiply(kernels.MatMul{A: x.Layout, B: turned(w).Layout, Bias: true, ReLU: relu(s)}, x.DType, y.DType)
	at := p.biasOf(s, o.Workspace())
	return func(p *program) ([]kernels.Launch, error) {
		bias, out, err := at(p)
		if err != nil {
			return nil, err
		}
		product, err := o.Launches(p.address(y), p.address(x), p.address(w), bias, p.work())
		return append(out, product...), err
	}
}

// biasOf gives the address of a step's third input, 0 where there is none, behind the
// workspace if it must be copied there for its elements to be neighbours.
func (p *program) biasOf(s ir.Step, workspace int) func(p *program) (at kernels.Pointer, copies []kernels.Launch, err error) {
	p.room(workspace)
	switch {
	case len(s.In) < 3:
		return func(*program) (kernels.Pointer, []kernels.Launch, error) { return 0, nil, nil }
	case s.In[2].Contiguous():
		return func(p *program) (kernels.Pointer, []kernels.Launch, error) { return p.address(s.In[2]), nil, nil }
	}
	bias := s.In[2]
	row := kernels.Copy{Size: bias.DType.Size(), Layout: bias.Layout}
	p.room(workspace + ir.Len(bias.Shape)*bias.DType.Size())
	return func(p *program) (kernels.Pointer, []kernels.Launch, error) {
		at := p.work() + kernels.Pointer(workspace)
		copies, err := row.Launches(at, p.address(bias))
		return at, copies, err
	}
}

// turned is a matrix transposed.
func turned(w ir.Operand) ir.Operand {
	w.Layout = ir.Layout{Shape: []int{w.Shape[1], w.Shape[0]}, Stride: []int{w.Stride[1], w.Stride[0]}, Offset: w.Offset}
	return w
}

// convolver is a convolution of package kernels, on tensor cores or not.
type convolver interface {
	Workspace() int
	InputWorkspace() int
	WeightWorkspace() int
	Launches(y, x, w, bias, work kernels.Pointer, relu bool) ([]kernels.Launch, error)
	InputGradient(dx, dy, w, work kernels.Pointer) ([]kernels.Launch, error)
	WeightGradient(dw, x, dy, work kernels.Pointer) ([]kernels.Launch, error)
}

// convolution is the kernels for factors and a result of some types.
func (d *Device) convolution(op ir.Conv2D, factor, result ir.DType, x, w, y []int) convolver {
	o := kernels.Conv2D{DType: factor, N: x[0], C: x[1], H: x[2], W: x[3], O: y[1], OH: y[2], OW: y[3], KH: w[2], KW: w[3],
		Groups: op.Groups, Stride: op.Stride, Padding: op.Padding, Dilation: op.Dilation}
	if d.onTensorCores(factor) {
		return kernels.TensorConv2D{Conv2D: o, Half: result.Half()}
	}
	return o
}

func conv2D(p *program, s ir.Step) launcher {
	x, w, y := s.In[0], s.In[1], s.Out[0]
	o := p.device.convolution(s.Op.(ir.Conv2D), x.DType, y.DType, x.Shape, w.Shape, y.Shape)
	p.room(o.Workspace())
	return func(p *program) ([]kernels.Launch, error) {
		var bias kernels.Pointer
		if len(s.In) == 3 {
			bias = p.address(s.In[2])
		}
		return o.Launches(p.address(y), p.address(x), p.address(w), bias, p.work(), relu(s))
	}
}

func conv2DInput(p *program, s ir.Step) launcher {
	dy, w, dx := s.In[0], s.In[1], s.Out[0]
	o := p.device.convolution(s.Op.(ir.Conv2DInputGradient).Conv2D, dy.DType, dx.DType, dx.Shape, w.Shape, dy.Shape)
	p.room(o.InputWorkspace())
	return func(p *program) ([]kernels.Launch, error) {
		return o.InputGradient(p.address(dx), p.address(dy), p.address(w), p.work())
	}
}

func conv2DWeight(p *program, s ir.Step) launcher {
	x, dy, dw := s.In[0], s.In[1], s.Out[0]
	o := p.device.convolution(s.Op.(ir.Conv2DWeightGradient).Conv2D, x.DType, dw.DType, x.Shape, dw.Shape, dy.Shape)
	p.room(o.WeightWorkspace())
	return func(p *program) ([]kernels.Launch, error) {
		return o.WeightGradient(p.address(dw), p.address(x), p.address(dy), p.work())
	}
}

// attender is attention of package kernels, on tensor cores or not.
type attender interface {
	Launches(y, q, k, v, added kernels.Pointer) ([]kernels.Launch, error)
	GradientWorkspace() int
	Gradient(dx, q, k, v, y, dy, added, work kernels.Pointer) ([]kernels.Launch, error)
}

// heads is the kernels for a step whose input with the number added, if there is
// one, is added to the scores.
func heads(op ir.Attention, s ir.Step, added int) attender {
	o := kernels.Attention{DType: s.In[0].DType, Causal: op.Causal, Scale: op.Scale, Q: s.In[0].Layout, K: s.In[1].Layout, V: s.In[2].Layout}
	half := false
	if len(s.In) > added {
		o.Added, half = s.In[added].Shape, s.In[added].DType.Half()
	}
	if o.DType.Half() {
		return kernels.TensorAttention{Attention: o, AddedHalf: half}
	}
	return o
}

// addedAt is where what is added to the scores is, 0 for nothing.
func (p *program) addedAt(s ir.Step, added int) kernels.Pointer {
	if len(s.In) <= added {
		return 0
	}
	return p.address(s.In[added])
}

func attention(_ *program, s ir.Step) launcher {
	o := heads(s.Op.(ir.Attention), s, 3)
	return func(p *program) ([]kernels.Launch, error) {
		return o.Launches(p.address(s.Out[0]), p.address(s.In[0]), p.address(s.In[1]), p.address(s.In[2]), p.addedAt(s, 3))
	}
}

func attentionGradient(p *program, s ir.Step) launcher {
	o := heads(s.Op.(ir.AttentionGradient).Attention, s, 5)
	p.room(o.GradientWorkspace())
	return func(p *program) ([]kernels.Launch, error) {
		return o.Gradient(p.address(s.Out[0]), p.address(s.In[0]), p.address(s.In[1]), p.address(s.In[2]), p.address(s.In[3]), p.address(s.In[4]), p.addedAt(s, 5), p.work())
	}
}

// LoopsRoundHalf tells that fused loops give 16-bit floats, too.
func (d *Device) LoopsRoundHalf() bool { return true }
