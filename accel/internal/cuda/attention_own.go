package cuda

import (
	"github.com/quernlab/quern/accel/internal/cuda/kernels"
	"github.com/quernlab/quern/accel/internal/ir"
)

func init() {
	register(attention)
	register(attentionGradient)
}

// attentionKernels is attention of package kernels, on tensor cores or not.
type attentionKernels interface {
	Launches(y, q, k, v, added kernels.Pointer) ([]kernels.Launch, error)
	GradientWorkspace() int
	Gradient(dx, q, k, v, y, dy, added, work kernels.Pointer) ([]kernels.Launch, error)
}

// attentionOf returns the kernels for a step. The input with index added, if the step has
// one, is added to the scores: a mask or a bias.
func attentionOf(op ir.Attention, s ir.Step, added int) attentionKernels {
	o := kernels.Attention{DType: s.In[0].DType, Causal: op.Causal, Scale: op.Scale, Q: s.In[0].Layout, K: s.In[1].Layout, V: s.In[2].Layout}
	half := false
	if len(s.In) > added {
		o.Added, half = s.In[added].Shape, s.In[added].DType.Is16Bit()
	}
	if o.DType.Is16Bit() {
		return kernels.TensorAttention{Attention: o, Added16: half}
	}
	return o
}

func attention(_ *program, op ir.Attention, s ir.Step) launcher {
	o := attentionOf(op, s, 3)
	return func(a addresses) ([]kernels.Launch, error) {
		return o.Launches(a.out[0], a.in[0], a.in[1], a.in[2], a.optional(3))
	}
}

func attentionGradient(p *program, op ir.AttentionGradient, s ir.Step) launcher {
	o := attentionOf(op.Attention, s, 5)
	p.needWorkspace(o.GradientWorkspace())
	return func(a addresses) ([]kernels.Launch, error) {
		return o.Gradient(a.out[0], a.in[0], a.in[1], a.in[2], a.in[3], a.in[4], a.optional(5), a.work)
	}
}
