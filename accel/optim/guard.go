package optim

import (
	"math"

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
	first   *tensor.Tensor // 1-β1ᵗ for t updates
	second  *tensor.Tensor // 1-β2ᵗ
}

// guarded returns the guard of the next step. It reuses the one of the previous step unless the
// set of parameters with gradients has changed.
func (o *Optimizer) guarded(finite, inverse *tensor.Tensor) *guard {
	var states []*state
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
	}
	if o.guard == nil || !o.guard.fits(states) {
		o.readCounts()
		o.guard = newGuard(states, o.steps, o.o)
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

func newGuard(states []*state, steps int, o options) *guard {
	g := &guard{indices: map[*state]int{}}
	n := len(states)
	counts, first, second := make([]float32, n+1), make([]float32, n+1), make([]float32, n+1)
	counts[n] = float32(steps)
	for i, s := range states {
		g.indices[s] = i
		counts[i] = float32(s.steps)
		first[i] = float32(1 - math.Pow(o.beta1, float64(s.steps)))
		second[i] = float32(1 - math.Pow(o.beta2, float64(s.steps)))
	}
	g.counts, g.first, g.second = tensor.New(counts, n+1), tensor.New(first, n+1), tensor.New(second, n+1)
	return g
}

// count increments the counts if the step is made.
func (g *guard) count(o options) {
	r := record{guard: g}
	r.assign(g.counts, g.counts.AddScalar(1))
	// 1-βᵗ⁺¹ = β·(1-βᵗ) + (1-β) loses no precision for β near 1.
	r.assign(g.first, r.times(g.first, o.beta1).AddScalar(1-o.beta1))
	r.assign(g.second, r.times(g.second, o.beta2).AddScalar(1-o.beta2))
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
