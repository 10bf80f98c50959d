package nn

import "github.com/quernlab/quern/accel/tensor"

// precision is the type in which a layer multiplies matrices: float32 unless
// [Autocast] says otherwise.
type precision struct{ dtype tensor.DType }

// casting is a layer that multiplies matrices.
type casting interface {
	setPrecision(p precision)
	precise() precision
}

// setPrecision is the one of all layers that have a precision in them.
func (p *precision) setPrecision(to precision) { *p = to }
func (p *precision) precise() precision        { return *p }

// Autocast lets the layers that multiply matrices do so in another type: Dense,
// Conv2D and SelfAttention, the list of PyTorch's autocast as far as it is
// layers. All else, norms, softmax, losses and what is written in tensor
// operations, stays float32, and so do the parameters. On the processor the
// inputs and outputs of a product, and their gradients, are rounded to the type
// and the product is added up in float32, as tensor cores do it: the results
// are those of a GPU up to the order of additions, the speed is not. Float32
// takes it back.
func Autocast(model any, dtype tensor.DType) {
	walk(model, func(_ []string, v any) {
		if c, ok := v.(casting); ok {
			c.setPrecision(precision{dtype})
		}
	})
}

// half tells whether the type has 16 bits.
func (p precision) half() bool { return p.dtype != tensor.Float32 }

// products computes a product of matrices from inputs that are rounded to the
// layer's type, and rounds what it gives. Nil inputs stay nil. Gradients are
// rounded on their way back.
func (p precision) products(product func(in []*Tensor) *Tensor, in ...*Tensor) *Tensor {
	if !p.half() {
		return product(in)
	}
	rounded := make([]*Tensor, len(in))
	for i, t := range in {
		if t != nil {
			rounded[i] = p.round(t)
		}
	}
	y := product(rounded)
	z := p.round(y)
	for _, t := range append(rounded, y) {
		if t != nil {
			t.Release()
		}
	}
	return z
}

// round is t with each number the nearest of the type.
func (p precision) round(t *Tensor) *Tensor {
	short := t.Cast(p.dtype)
	long := short.Cast(tensor.Float32)
	short.Release()
	return long
}
