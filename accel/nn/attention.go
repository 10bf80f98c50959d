package nn

import (
	"fmt"

	"github.com/quernlab/quern/accel/internal/layer"
	"github.com/quernlab/quern/accel/internal/substitute"
	"github.com/quernlab/quern/accel/tensor"
)

// AttentionOption changes a [SelfAttention] layer.
type AttentionOption struct {
	text string
	set  func(*attention)
}

// String returns the option as it is written in Go.
func (o AttentionOption) String() string { return o.text }

// Causal lets each place of a sequence see those before it and itself only.
func Causal() AttentionOption {
	return AttentionOption{"Causal()", func(a *attention) { a.causal = true }}
}

// SelfAttention mixes the places of sequences [N, T, width], each by how well it
// fits the others (Vaswani et al., 2017): for each of the heads, which have
// width/heads numbers each,
//
//	softmax(q·kᵀ / √(width/heads)) · v
//
// where q, k and v are products of x with weights that are trained; the heads
// are joined and multiplied once more. Names and layout of the parameters are
// those of PyTorch's MultiheadAttention; the weights start as those of [Dense].
// heads must divide width, which the first input tells.
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
	untouched
	inProjWeight *Tensor // [3·width, width]: for q, k and v; nil before the first input
	inProjBias   *Tensor // [3·width]
	outProj      *DenseLayer
	heads        int
	causal       bool
}

func (a *attention) Forward(x *Tensor) *Tensor {
	shape := x.Shape()
	if len(shape) != 3 || a.heads < 1 || shape[2] < 1 || shape[2]%a.heads != 0 {
		panic(&tensor.ShapeError{Op: "SelfAttention", Shapes: [][]int{shape}, Hint: fmt.Sprintf("sequences [N, T, width] with a width that %d heads can share are needed", a.heads)})
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

// project is q, k and v side by side.
func (a *attention) project(x *Tensor) *Tensor {
	if other := substitute.For(&a.inProjWeight); other != nil {
		return other(x)
	}
	return tensor.Linear(x, a.inProjWeight, a.inProjBias)
}

func (a *attention) Layer() any {
	return layer.Product{Names: [2]string{"in_proj_weight", "in_proj_bias"}, Weight: &a.inProjWeight, Bias: &a.inProjBias}
}

// make begins with parameters for this width.
func (a *attention) make(width int) {
	a.inProjWeight = uniform(width, !a.frozen, 3*width, width)
	a.inProjBias = uniform(width, !a.frozen, 3*width)
	a.outProj.out = width
}

// flops of the two projections, and of both products for each head.
func (a *attention) flops(in, _ []int) int {
	if len(in) != 2 {
		return 0
	}
	t, width := in[0], in[1]
	return 2*t*width*(3*width+width) + 2*2*t*t*width
}

func (a *attention) String() string {
	if a.causal {
		return fmt.Sprintf("SelfAttention(%d, Causal())", a.heads)
	}
	return fmt.Sprintf("SelfAttention(%d)", a.heads)
}

func (*attention) private() bool { return true }

// scratch keeps tensors on the way to a layer's output, which nobody else sees.
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
