package cuda

import (
	"github.com/quernlab/quern/accel/internal/cuda/kernels"
	"github.com/quernlab/quern/accel/internal/ir"
)

func init() {
	register(norm[ir.LayerNorm])
	register(norm[ir.RMSNorm])
	register(normInput[ir.LayerNormInputGradient])
	register(normInput[ir.RMSNormInputGradient])
	register(normWeight[ir.LayerNormWeightGradient])
	register(normWeight[ir.RMSNormWeightGradient])
	register(batchStatistics)
	register(batchNorm)
	register(batchNormSums)
	register(batchNormInput)
}

// rowNorm describes LayerNorm or RMSNorm, and their gradients.
func rowNorm(s ir.Step) kernels.Norm {
	o := kernels.Norm{DType: s.Out[0].DType}
	o.Rows, o.N = splitLast(s.In[0].Shape)
	switch op := s.Op.(type) {
	case ir.LayerNorm:
		o.Centred, o.Epsilon = true, op.Epsilon
	case ir.RMSNorm:
		o.Epsilon = op.Epsilon
	case ir.LayerNormInputGradient:
		o.Centred, o.Epsilon = true, op.Epsilon
	case ir.RMSNormInputGradient:
		o.Epsilon = op.Epsilon
	case ir.LayerNormWeightGradient:
		o.Centred, o.Epsilon = true, op.Epsilon
	case ir.RMSNormWeightGradient:
		o.Epsilon = op.Epsilon
	}
	return o
}

func norm[O ir.Op](_ *program, _ O, s ir.Step) launcher {
	o := rowNorm(s)
	return func(a addresses) ([]kernels.Launch, error) {
		return o.Launches(a.out[0], a.in[0], a.in[1], a.optional(2)), nil
	}
}

func normInput[O ir.Op](_ *program, _ O, s ir.Step) launcher {
	o := rowNorm(s)
	return func(a addresses) ([]kernels.Launch, error) {
		return o.InputGradient(a.out[0], a.in[0], a.in[1], a.in[2]), nil
	}
}

func normWeight[O ir.Op](p *program, _ O, s ir.Step) launcher {
	o := rowNorm(s)
	p.needWorkspace(o.WeightWorkspace())
	return func(a addresses) ([]kernels.Launch, error) {
		return o.WeightGradient(a.out[0], a.in[0], a.in[1], a.work), nil
	}
}

// channels describes BatchNorm and its gradients.
func channels(s ir.Step, epsilon float64) kernels.BatchNorm {
	x := s.In[0].Shape
	return kernels.BatchNorm{DType: s.Out[0].DType, Epsilon: epsilon, Images: x[0], Channels: x[1], Size: ir.Len(x[2:])}
}

func batchStatistics(p *program, _ ir.BatchStatistics, s ir.Step) launcher {
	o := channels(s, 0)
	p.needWorkspace(o.Workspace())
	return func(a addresses) ([]kernels.Launch, error) { return o.Statistics(a.out[0], a.in[0], a.work), nil }
}

func batchNorm(_ *program, op ir.BatchNorm, s ir.Step) launcher {
	o := channels(s, op.Epsilon)
	return func(a addresses) ([]kernels.Launch, error) {
		return o.Launches(a.out[0], a.in[0], a.in[1], a.in[2], a.in[3], endsWithReLU(s)), nil
	}
}

func batchNormSums(p *program, op ir.BatchNormSums, s ir.Step) launcher {
	o := channels(s, op.Epsilon)
	p.needWorkspace(o.Workspace())
	return func(a addresses) ([]kernels.Launch, error) {
		return o.Sums(a.out[0], a.in[0], a.in[1], a.in[2], a.work), nil
	}
}

func batchNormInput(_ *program, op ir.BatchNormInputGradient, s ir.Step) launcher {
	o := channels(s, op.Epsilon)
	return func(a addresses) ([]kernels.Launch, error) {
		return o.InputGradient(a.out[0], a.in[0], a.in[1], a.in[2], a.in[3], a.in[4], op.Training), nil
	}
}
