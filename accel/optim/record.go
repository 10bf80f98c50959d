package optim

import "github.com/quernlab/quern/accel/tensor"

// record keeps the tensors on the way to an update, which nobody else sees.
// Once they are released they need no memory of their own: the whole update
// of a parameter is one loop. What is given to Assign becomes the tensor's own
// value and does not belong here.
type record struct{ made []*tensor.Tensor }

func (r *record) keep(t *tensor.Tensor) *tensor.Tensor {
	r.made = append(r.made, t)
	return t
}

func (r *record) times(t *tensor.Tensor, s float64) *tensor.Tensor { return r.keep(t.MulScalar(s)) }
func (r *record) add(a, b *tensor.Tensor) *tensor.Tensor           { return r.keep(a.Add(b)) }

func (r *record) release() {
	for _, t := range r.made {
		t.Release()
	}
}
