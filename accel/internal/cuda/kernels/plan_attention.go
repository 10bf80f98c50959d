package kernels

import "github.com/quernlab/quern/accel/internal/engine/ir"

func init() {
	register(planAttention)
	register(planAttentionGradient)
}

// attentionKernels is attention on tensor cores or not.
type attentionKernels interface {
	Launches(y, q, k, v, added Pointer) ([]Launch, error)
	GradientWorkspace() int
	Gradient(dx, q, k, v, y, dy, added, work Pointer) ([]Launch, error)
}

// attentionOf returns the kernels for a step. The input with index added, if the step has
// one, is added to the scores: a mask or a bias.
func attentionOf(op ir.Attention, joined bool, s ir.Step, added int) attentionKernels {
	o := Attention{DType: s.In[0].DType, Causal: op.Causal, Scale: op.Scale, Q: s.In[0].Layout, K: s.In[1].Layout, V: s.In[2].Layout, Joined: joined}
	if added > 3 {
		o.Y = s.In[3].DType
	}
	half := false
	if len(s.In) > added {
		o.Added, half = s.In[added].Shape, s.In[added].DType.Is16Bit()
	}
	if o.DType.Is16Bit() {
		return TensorAttention{Attention: o, Added16: half, Round: s.Out[0].DType.Is16Bit()}
	}
	return o
}

func planAttention(_ Planner, op ir.Attention, s ir.Step) Launcher {
	o := attentionOf(op, false, s, 3)
	return func(a Addresses) ([]Launch, error) {
		return o.Launches(a.Out[0], a.In[0], a.In[1], a.In[2], a.Optional(3))
	}
}

func planAttentionGradient(p Planner, op ir.AttentionGradient, s ir.Step) Launcher {
	o := attentionOf(op.Attention, op.Joined, s, 5)
	p.NeedWorkspace(o.GradientWorkspace())
	return func(a Addresses) ([]Launch, error) {
		return o.Gradient(a.Out[0], a.In[0], a.In[1], a.In[2], a.In[3], a.In[4], a.Optional(5), a.Work)
	}
}
