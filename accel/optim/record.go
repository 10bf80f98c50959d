package optim

import "github.com/quernlab/quern/accel/tensor"

// record keeps the tensors on the way to an update, which nobody else sees.
// Once they are released they need no memory of their own: the whole update
// of a parameter is one loop. What is given to Assign becomes the tensor's own
// value and does not belong here.
type record struct {
	made  []*tensor.Tensor
	guard *guard // nil where no scaler may have the step be skipped
}

// assign gives t its next value, unless the step is to be skipped.
func (r *record) assign(t, next *tensor.Tensor) {
	if r.guard != nil {
		next = tensor.Where(r.guard.finite, r.keep(next), t)
	}
	t.Assign(next)
}

func (r *record) keep(t *tensor.Tensor) *tensor.Tensor {
	r.made = append(r.made, t)
	return t
}

func (r *record) times(t *tensor.Tensor, s float64) *tensor.Tensor { return r.keep(t.MulScalar(s)) }
func (r *record) add(a, b *tensor.Tensor) *tensor.Tensor           { return r.keep(a.Add(b)) }

// fade returns t with what is smaller than about 5e-38 rounded to zero, and the
// rest off by no more than that. The running mean of a gradient that has become
// zero, for a pixel that is always black, shrinks at each step until it is a
// denormal number, and stays one; processors take far longer for those.
func (r *record) fade(t *tensor.Tensor) *tensor.Tensor {
	const small = 1e-30
	return r.keep(t.AddScalar(small)).AddScalar(-small)
}

func (r *record) release() {
	for _, t := range r.made {
		t.Release()
	}
}

// norm returns the root of the sum of the squares, a scalar.
func (r *record) norm(t *tensor.Tensor) *tensor.Tensor {
	return r.keep(r.keep(r.keep(t.Square()).Sum()).Sqrt())
}
