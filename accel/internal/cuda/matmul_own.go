package cuda

import (
	"slices"

	"github.com/quernlab/quern/accel/internal/cuda/kernels"
	"github.com/quernlab/quern/accel/internal/ir"
)

// Multiplies16Bit reports whether tensor cores compute an op.
func (d *Device) Multiplies16Bit(op ir.Op, t ir.DType, factors []ir.Layout) bool {
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

// SetTF32 sets whether float32 matrix multiplications and convolutions that are compiled
// from now on round their inputs to TF32, for tensor cores.
func (d *Device) SetTF32(on bool) { d.tf32 = on }

// onTensorCores reports whether tensor cores multiply elements of a type.
func (d *Device) onTensorCores(factor ir.DType) bool {
	return factor.Is16Bit() || factor == ir.Float32 && d.tf32
}

// endsWithReLU reports whether ReLU is fused to the end of a step.
func endsWithReLU(s ir.Step) bool {
	_, ok := s.Epilogue.(ir.ReLU)
	return ok
}

// matmulKernels is a matrix multiplication of package kernels, on tensor cores or not.
type matmulKernels interface {
	Workspace() int
	Launches(y, a, b, bias, work kernels.Pointer) ([]kernels.Launch, error)
}

// hasWgmma reports whether the device has the wgmma instructions, which only compute
// capability 9.0 has, and the driver accepts PTX with them.
func (d *Device) hasWgmma() bool {
	i := d.ctx.Info()
	return i.Capability() == hopperCapability && i.CUDA >= 12000
}

// multiply returns the kernels for a type of the factors.
func (d *Device) multiply(o kernels.MatMul, factor, y ir.DType) matmulKernels {
	if o.DType = factor; !d.onTensorCores(factor) {
		return o
	}
	t := kernels.TensorMatMul{MatMul: o, Output16: y.Is16Bit()}
	if h := (kernels.HopperMatMul{TensorMatMul: t}); factor.Is16Bit() && d.hasWgmma() && h.WorthIt() {
		return hopper{h}
	}
	return t
}

// hopper multiplies with wgmma, and with mma where the layouts of the factors do not fit
// wgmma.
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
	if s.In[0].DType.IsFP8() {
		return fp8MatMul(p, s)
	}
	a, b, y := s.In[0], s.In[1], s.Out[0]
	lead := y.Shape[:len(y.Shape)-2]
	o := p.device.multiply(kernels.MatMul{ReLU: endsWithReLU(s),
		A: a.BroadcastTo(append(slices.Clone(lead), a.Shape[len(a.Shape)-2:]...)),
		B: b.BroadcastTo(append(slices.Clone(lead), b.Shape[len(b.Shape)-2:]...))}, a.DType, y.DType)
	p.needWorkspace(o.Workspace())
	return func(p *program) ([]kernels.Launch, error) {
		return o.Launches(p.address(y), p.address(a), p.address(b), 0, p.work())
	}
}

// linear computes x [N, In] · wᵀ [In, Out] + b [Out].
func linear(p *program, s ir.Step) launcher {
	if s.In[0].DType.IsFP8() {
		return fp8MatMul(p, s)
	}
	x, w, y := s.In[0], s.In[1], s.Out[0]
	o := p.device.multiply(kernels.MatMul{A: x.Layout, B: transpose(w).Layout, Bias: true, ReLU: endsWithReLU(s)}, x.DType, y.DType)
	at := p.biasOf(s, o.Workspace())
	return func(p *program) ([]kernels.Launch, error) {
		bias, out, err := at(p)
		if err != nil {
			return nil, err
		}
		launches, err := o.Launches(p.address(y), p.address(x), p.address(w), bias, p.work())
		return append(out, launches...), err
	}
}

// biasOf returns a function that gives the address of a step's third input, 0 without
// one. An input that is not contiguous is copied behind the workspace.
func (p *program) biasOf(s ir.Step, workspace int) func(p *program) (at kernels.Pointer, copies []kernels.Launch, err error) {
	p.needWorkspace(workspace)
	switch {
	case len(s.In) < 3:
		return func(*program) (kernels.Pointer, []kernels.Launch, error) { return 0, nil, nil }
	case s.In[2].Contiguous():
		return func(p *program) (kernels.Pointer, []kernels.Launch, error) { return p.address(s.In[2]), nil, nil }
	}
	bias := s.In[2]
	row := kernels.Copy{Size: bias.DType.Size(), Layout: bias.Layout}
	p.needWorkspace(workspace + ir.Len(bias.Shape)*bias.DType.Size())
	return func(p *program) (kernels.Pointer, []kernels.Launch, error) {
		at := p.work() + kernels.Pointer(workspace)
		copies, err := row.Launches(at, p.address(bias))
		return at, copies, err
	}
}

// transpose swaps the dimensions of a matrix.
func transpose(w ir.Operand) ir.Operand {
	w.Layout = ir.Layout{Shape: []int{w.Shape[1], w.Shape[0]}, Stride: []int{w.Stride[1], w.Stride[0]}, Offset: w.Offset}
	return w
}
