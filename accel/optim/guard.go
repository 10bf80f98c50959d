package optim

import (
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// guard makes it possible to skip a step of a [GradScaler] on the device, after the host has
// recorded it: if a gradient is not finite, every assignment keeps the old value. The device
// also counts the updates that were made, for each parameter and for the optimizer.
type guard struct {
	finite  *tensor.Tensor // 1 if the step is made, else 0
	inverse *tensor.Tensor // 1 / loss scale

	indices map[*state]int // index of a parameter in the tensors below; the optimizer comes last
	counts  *tensor.Tensor // number of updates
	beta1   *tensor.Tensor // float64, of each parameter's options
	beta2   *tensor.Tensor
	first   *tensor.Tensor // 1-β1ᵗ for t updates, with the one that is being made
	second  *tensor.Tensor // 1-β2ᵗ
}

// guarded returns the guard of the next step. It reuses the one of the previous step unless the
// set of parameters with gradients has changed.
func (o *Optimizer) guarded(finite, inverse *tensor.Tensor) *guard {
	var states []*state
	var betas [2][]float64
	for _, p := range nn.Parameters(o.model) {
		gradient := p.Grad()
		if gradient == nil {
			continue
		}
		gradient.Release()
		if o.state[p] == nil {
			o.state[p] = &state{}
		}
		states = append(states, o.state[p])
		own := o.optionsOf(p)
		betas[0], betas[1] = append(betas[0], own.beta1), append(betas[1], own.beta2)
	}
	if o.guard == nil || !o.guard.fits(states) {
		o.readCounts()
		o.guard = newGuard(states, o.steps, betas)
	}
	o.guard.finite, o.guard.inverse = finite, inverse
	return o.guard
}

// fits reports whether the guard counts the updates of exactly these parameters.
func (g *guard) fits(states []*state) bool {
	for i, s := range states {
		if index, ok := g.indices[s]; !ok || index != i {
			return false
		}
	}
	return len(states) == len(g.indices)
}

func newGuard(states []*state, steps int, betas [2][]float64) *guard {
	g := &guard{indices: map[*state]int{}}
	n := len(states)
	counts := make([]float32, n+1)
	counts[n] = float32(steps)
	for i, s := range states {
		g.indices[s] = i
		counts[i] = float32(s.steps)
	}
	g.counts = tensor.New(counts, n+1)
	g.beta1, g.beta2 = tensor.FromFloat64s(append(betas[0], 0), n+1), tensor.FromFloat64s(append(betas[1], 0), n+1)
	return g
}

// count increments the counts if the step is made, and computes the corrections from them. These depend
// on nothing else, so that a training that continues from a file has the same bits, and are computed in
// float64, since 1-βᵗ loses digits for β near 1.
func (g *guard) count() {
	r := record{guard: g}
	r.assign(g.counts, g.counts.AddScalar(1))
	counts := r.keep(g.counts.Cast(tensor.Float64))
	correction := func(beta, before *tensor.Tensor) *tensor.Tensor {
		if before != nil {
			before.Release()
		}
		return r.times(r.keep(r.keep(beta.Pow(counts)).AddScalar(-1)), -1).Cast(tensor.Float32)
	}
	g.first, g.second = correction(g.beta1, g.first), correction(g.beta2, g.second)
	r.release()
}

// corrections returns 1-β1ᵗ and 1-β2ᵗ of a parameter as scalars on the device, nil without a
// guard.
func (r *record) corrections(s *state) (first, second *tensor.Tensor) {
	if r.guard == nil {
		return nil, nil
	}
	at := r.guard.indices[s]
	one := func(t *tensor.Tensor) *tensor.Tensor {
		return r.like(r.keep(r.keep(t.Slice(0, at, at+1)).Reshape()), s.first)
	}
	return one(r.guard.first), one(r.guard.second)
}

// like returns t in the element type of another tensor.
func (r *record) like(t, other *tensor.Tensor) *tensor.Tensor {
	if t.DType() == other.DType() {
		return t
	}
	return r.keep(t.Cast(other.DType()))
}

// readCounts waits for the counts of the guard and removes it.
func (o *Optimizer) readCounts() {
	if o.guard == nil {
		return
	}
	counts := o.guard.counts.Data()
	for s, index := range o.guard.indices {
		s.steps = int(counts[index])
	}
	o.steps = int(counts[len(counts)-1])
	o.guard = nil
}
