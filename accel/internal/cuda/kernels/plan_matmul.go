package kernels

import (
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

func init() {
	register(planMatMul)
	register(planLinear)
}

// matmulKernels is a matrix multiplication on tensor cores or not.
type matmulKernels interface {
	Workspace() int
	Launches(Addresses) ([]Launch, error)
}

// multiply returns the kernels for a type of the factors.
func multiply(p Planner, o MatMul, factor, y tensortype.DType) matmulKernels {
	if o.DType = factor; !onTensorCores(p, factor) {
		return o
	}
	t := TensorMatMul{MatMul: o, Output16: y.Is16Bit()}
	if h := (HopperMatMul{TensorMatMul: t}); factor.Is16Bit() && p.Wgmma() && h.WorthIt() {
		return hopper{h}
	}
	return t
}

// hopper multiplies with wgmma, and with mma where the layouts of the factors do not fit
// wgmma.
type hopper struct{ HopperMatMul }

func (h hopper) Workspace() int {
	return max(h.HopperMatMul.Workspace(), h.TensorMatMul.Workspace())
}

func (h hopper) Launches(a Addresses) ([]Launch, error) {
	if h.Fits(a.In[0], a.In[1]) {
		return h.HopperMatMul.Launches(a)
	}
	return h.TensorMatMul.Launches(a)
}

func planMatMul(p Planner, _ ir.MatMul, s ir.Step) Launcher {
	if s.In[0].DType.IsFP8() {
		return planMatMul8(p, s)
	}
	a, b, y := s.In[0], s.In[1], s.Out[0]
	lead := y.Shape[:len(y.Shape)-2]
	o := multiply(p, MatMul{ReLU: EndsWithReLU(s), End: s.Epilogue, Keeps: s.Keeps, Sums: s.Summed, Sums16: s.Summed > 0 && s.Out[len(s.Out)-1].DType.Is16Bit(),
		A: a.BroadcastTo(append(slices.Clone(lead), a.Shape[len(a.Shape)-2:]...)),
		B: b.BroadcastTo(append(slices.Clone(lead), b.Shape[len(b.Shape)-2:]...))}, a.DType, y.DType)
	p.NeedWorkspace(o.Workspace())
	return o.Launches
}

// planLinear computes x [N, In] · wᵀ [In, Out] + b [Out].
func planLinear(p Planner, _ ir.Linear, s ir.Step) Launcher {
	if s.In[0].DType.IsFP8() {
		return planMatMul8(p, s)
	}
	x, w, y := s.In[0], s.In[1], s.Out[0]
	o := multiply(p, MatMul{A: x.Layout, B: Transpose(w).Layout, Bias: true, ReLU: EndsWithReLU(s), End: s.Epilogue, Keeps: s.Keeps}, x.DType, y.DType)
	return withBias(p, s, o.Workspace(), o.Launches)
}

// planMatMul8 multiplies packed factors: a [M, K] · bᵀ [K, N].
func planMatMul8(p Planner, s ir.Step) Launcher {
	a, b, y := s.In[0], s.In[1], s.Out[0]
	o := MatMul8{A: a.DType, M: a.Shape[0], N: b.Shape[0], K: a.Shape[1], Bias: len(s.In) == 3, ReLU: EndsWithReLU(s),
		Output16: y.DType.Is16Bit(), Hopper: p.Wgmma()}
	return withBias(p, s, o.Workspace(), func(at Addresses) ([]Launch, error) {
		return o.Launches(at.Out[0], packed8(a, at.In[0], a.Stride[0]), packed8(b, at.In[1], b.Stride[0]), at.Optional(2), at.Work)
	})
}

// withBias makes the third input of a step contiguous, if there is one, by a copy behind
// the workspace.
func withBias(p Planner, s ir.Step, workspace int, launch Launcher) Launcher {
	p.NeedWorkspace(workspace)
	if len(s.In) < 3 || s.In[2].Contiguous() {
		return launch
	}
	bias := s.In[2]
	row := Copy{Size: bias.DType.Size(), Layout: bias.Layout}
	p.NeedWorkspace(workspace + ir.Len(bias.Shape)*bias.DType.Size())
	return func(a Addresses) ([]Launch, error) {
		at := a.Work + Pointer(workspace)
		copies, err := row.Launches(at, a.In[2])
		if err != nil {
			return nil, err
		}
		a.In[2] = at
		launches, err := launch(a)
		return append(copies, launches...), err
	}
}

// Transpose swaps the dimensions of a matrix.
func Transpose(w ir.Operand) ir.Operand {
	w.Layout = ir.Layout{Shape: []int{w.Shape[1], w.Shape[0]}, Stride: []int{w.Stride[1], w.Stride[0]}, Offset: w.Offset}
	return w
}
