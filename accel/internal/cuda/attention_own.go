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

// addedAt returns the address of the tensor that is added to the scores, or 0 if there is none.
func (p *program) addedAt(s ir.Step, added int) kernels.Pointer {
	if len(s.In) <= added {
		return 0
	}
	return p.address(s.In[added])
}

func attention(_ *program, op ir.Attention, s ir.Step) launcher {
	o := attentionOf(op, s, 3)
	return func(p *program) ([]kernels.Launch, error) {
		return o.Launches(p.address(s.Out[0]), p.address(s.In[0]), p.address(s.In[1]), p.address(s.In[2]), p.addedAt(s, 3))
	}
}

func attentionGradient(p *program, op ir.AttentionGradient, s ir.Step) launcher {
	o := attentionOf(op.Attention, s, 5)
	p.needWorkspace(o.GradientWorkspace())
	return func(p *program) ([]kernels.Launch, error) {
		return o.Gradient(p.address(s.Out[0]), p.address(s.In[0]), p.address(s.In[1]), p.address(s.In[2]), p.address(s.In[3]), p.address(s.In[4]), p.addedAt(s, 5), p.work())
	}
}
