package nn

import (
	"fmt"
	"math"

	"github.com/quernlab/quern/accel/internal/layer"
	"github.com/quernlab/quern/accel/internal/substitute"
	"github.com/quernlab/quern/accel/tensor"
)

// AttentionOption changes a [SelfAttention] layer.
type AttentionOption struct {
	text string
	set  func(*attention)
}

// String returns the option as Go code.
func (o AttentionOption) String() string { return o.text }

// Causal makes each position of a sequence attend only to itself and to earlier positions.
func Causal() AttentionOption {
	return AttentionOption{"Causal()", func(a *attention) { a.causal = true }}
}

// SelfAttention returns multi-head self-attention over sequences [N, T, width] (Vaswani et al.,
// 2017). Each head, of size d = width/heads, computes
//
//	softmax(q·kᵀ / √d) · v
//
// where q, k and v are linear projections of x with trained weights. The outputs of the heads
// are concatenated and projected once more. Names, layout and initial values of the
// parameters are those of PyTorch's MultiheadAttention: the projection to q, k and v is uniform in
// ±√(6/(width+3·width)) (Glorot and Bengio, 2010), that of the outputs is that of [Dense], and
// biases are 0. The first input determines width, which must be a multiple of heads.
func SelfAttention(heads int, options ...AttentionOption) Module {
	a := &attention{heads: heads, outProj: &DenseLayer{}}
	for _, o := range options {
		if o.set != nil {
			o.set(a)
		}
	}
	return a
}

type attention struct {
	lazyState
	inProjWeight *Tensor // [3·width, width]: for q, k and v; nil before the first input
	inProjBias   *Tensor // [3·width]
	outProj      *DenseLayer
	heads        int
	causal       bool
}

func (a *attention) Forward(x *Tensor) *Tensor {
	shape := x.Shape()
	if len(shape) != 3 || a.heads < 1 || shape[2] < 1 || shape[2]%a.heads != 0 {
		panic(&tensor.ShapeError{Op: "SelfAttention", Shapes: [][]int{shape}, Hint: fmt.Sprintf("the input must be sequences [N, T, width] with a width that is a multiple of the %d heads", a.heads)})
	}
	n, t, width := shape[0], shape[1], shape[2]
	if a.inProjWeight == nil {
		a.make(width)
	}
	var s scratch
	defer s.release()
	all := s.keep(a.project(x))
	// [N, T, 3·width] to three of [N, heads, T, d].
	d := width / a.heads
	parts := s.keep(s.keep(all.Reshape(n, t, 3, a.heads, d)).Permute(2, 0, 3, 1, 4))
	part := func(i int) *Tensor { return s.keep(s.keep(parts.Slice(0, i, i+1)).Reshape(n, a.heads, t, d)) }
	mixed := s.keep(tensor.Attention(part(0), part(1), part(2), a.causal))
	joined := s.keep(s.keep(mixed.Permute(0, 2, 1, 3)).Reshape(n, t, width))
	return a.outProj.Forward(joined)
}

// project returns q, k and v, concatenated in the last dimension.
func (a *attention) project(x *Tensor) *Tensor {
	if other := substitute.For(&a.inProjWeight); other != nil {
		return other(x)
	}
	return tensor.Linear(x, a.inProjWeight, a.inProjBias)
}

func (a *attention) Layer() any {
	return layer.MatMul{Names: [2]string{"in_proj_weight", "in_proj_bias"}, Weight: &a.inProjWeight, Bias: &a.inProjBias}
}

// make creates the parameters for this width.
func (a *attention) make(width int) {
	bound := math.Sqrt(6 / float64(width+3*width))
	a.inProjWeight = tensor.Uniform(tensor.WeightGenerator(), -bound, bound, 3*width, width)
	a.inProjWeight.SetRequiresGrad(!a.frozen)
	a.inProjBias = tensor.Zeros(3 * width)
	a.inProjBias.SetRequiresGrad(!a.frozen)
	a.outProj.out = width
	a.outProj.start([]int{width})
	a.outProj.Bias = tensor.Zeros(width)
	a.outProj.Bias.SetRequiresGrad(!a.outProj.frozen)
}

func (a *attention) String() string {
	if a.causal {
		return fmt.Sprintf("SelfAttention(%d, Causal())", a.heads)
	}
	return fmt.Sprintf("SelfAttention(%d)", a.heads)
}

func (*attention) retainsNothing() bool { return true }

// scratch collects the intermediate tensors of a layer, which are released when its output has
// been recorded.
type scratch struct{ made []*Tensor }

func (s *scratch) keep(t *Tensor) *Tensor {
	s.made = append(s.made, t)
	return t
}

func (s *scratch) release() {
	for _, t := range s.made {
		t.Release()
	}
}
