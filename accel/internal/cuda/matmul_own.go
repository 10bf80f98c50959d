package cuda

import (
	"slices"

	"github.com/quernlab/quern/accel/internal/cuda/kernels"
	"github.com/quernlab/quern/accel/internal/ir"
)

func init() {
	register(matMul)
	register(linear)
}

// matmulKernels is a matrix multiplication of package kernels, on tensor cores or not.
type matmulKernels interface {
	Workspace() int
	Launches(y, a, b, bias, work kernels.Pointer) ([]kernels.Launch, error)
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

func matMul(p *program, _ ir.MatMul, s ir.Step) launcher {
	if s.In[0].DType.IsFP8() {
		return fp8MatMul(p, s)
	}
	a, b, y := s.In[0], s.In[1], s.Out[0]
	lead := y.Shape[:len(y.Shape)-2]
	o := p.device.multiply(kernels.MatMul{ReLU: endsWithReLU(s),
		A: a.BroadcastTo(append(slices.Clone(lead), a.Shape[len(a.Shape)-2:]...)),
		B: b.BroadcastTo(append(slices.Clone(lead), b.Shape[len(b.Shape)-2:]...))}, a.DType, y.DType)
	p.needWorkspace(o.Workspace())
	return func(a addresses) ([]kernels.Launch, error) { return o.Launches(a.out[0], a.in[0], a.in[1], 0, a.work) }
}

// linear computes x [N, In] · wᵀ [In, Out] + b [Out].
func linear(p *program, _ ir.Linear, s ir.Step) launcher {
	if s.In[0].DType.IsFP8() {
		return fp8MatMul(p, s)
	}
	x, w, y := s.In[0], s.In[1], s.Out[0]
	o := p.device.multiply(kernels.MatMul{A: x.Layout, B: transpose(w).Layout, Bias: true, ReLU: endsWithReLU(s)}, x.DType, y.DType)
	return p.withBias(s, o.Workspace(), func(a addresses) ([]kernels.Launch, error) {
		return o.Launches(a.out[0], a.in[0], a.in[1], a.in[2], a.work)
	})
}

// transpose swaps the dimensions of a matrix.
func transpose(w ir.Operand) ir.Operand {
	w.Layout = ir.Layout{Shape: []int{w.Shape[1], w.Shape[0]}, Stride: []int{w.Stride[1], w.Stride[0]}, Offset: w.Offset}
	return w
}
