package cuda

import (
	"github.com/quernlab/quern/accel/internal/cuda/kernels"
	"github.com/quernlab/quern/accel/internal/ir"
)

func init() {
	register(sum)
	register(maxAlong)
	register(argMax)
	register(cumSum)
	register(softmax[ir.LogSoftmax])
	register(softmax[ir.Softmax])
	register(crossEntropy)
	register(crossEntropyGradient)
}

func sum(p *program, op ir.Sum, s ir.Step) launcher {
	o := kernels.Sum{DType: s.Out[0].DType}
	o.Outer, o.N, o.Inner = splitAround(s.In[0].Shape, op.From, op.To)
	p.needWorkspace(o.Workspace())
	return func(a addresses) ([]kernels.Launch, error) { return o.Launches(a.out[0], a.in[0], a.work), nil }
}

// reductionAlong describes a maximum along one axis.
func reductionAlong(x ir.Operand, axis int) kernels.Max {
	o := kernels.Max{DType: x.DType}
	o.Outer, o.N, o.Inner = splitAround(x.Shape, axis, axis+1)
	return o
}

func maxAlong(_ *program, op ir.Max, s ir.Step) launcher {
	o := reductionAlong(s.In[0], op.Axis)
	return func(a addresses) ([]kernels.Launch, error) { return o.Launches(a.out[0], a.in[0]), nil }
}

func argMax(_ *program, op ir.ArgMax, s ir.Step) launcher {
	o := reductionAlong(s.In[0], op.Axis)
	return func(a addresses) ([]kernels.Launch, error) { return o.Index(a.out[0], a.in[0]), nil }
}

func cumSum(_ *program, op ir.CumSum, s ir.Step) launcher {
	o := kernels.CumSum{DType: s.Out[0].DType, Reverse: op.Reverse}
	o.Outer, o.N, o.Inner = splitAround(s.In[0].Shape, op.Axis, op.Axis+1)
	return func(a addresses) ([]kernels.Launch, error) { return o.Launches(a.out[0], a.in[0]), nil }
}

func softmax[O ir.Op](_ *program, _ O, s ir.Step) launcher {
	_, log := s.Op.(ir.LogSoftmax)
	o := kernels.Softmax{DType: s.Out[0].DType, Log: log}
	o.Rows, o.N = splitLast(s.In[0].Shape)
	return func(a addresses) ([]kernels.Launch, error) { return o.Launches(a.out[0], a.in[0]), nil }
}

func crossEntropy(p *program, _ ir.CrossEntropy, s ir.Step) launcher {
	o := kernels.CrossEntropy{DType: s.Out[0].DType, Rows: s.In[0].Shape[0], N: s.In[0].Shape[1]}
	p.needWorkspace(o.Workspace())
	p.check(indices("CrossEntropy", o.N))
	return func(a addresses) ([]kernels.Launch, error) {
		return o.Launches(a.out[0], a.in[0], a.in[1], a.fault, a.work), nil
	}
}

func crossEntropyGradient(p *program, _ ir.CrossEntropyGradient, s ir.Step) launcher {
	o := kernels.CrossEntropy{DType: s.Out[0].DType, Rows: s.In[0].Shape[0], N: s.In[0].Shape[1]}
	p.check(indices("CrossEntropy", o.N))
	return func(a addresses) ([]kernels.Launch, error) {
		return o.Gradient(a.out[0], a.in[0], a.in[1], a.in[2], a.fault), nil
	}
}
