package optim

import (
	"math"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// guard lets a [Scaler] have a step be skipped that the host has recorded long
// before the device knows whether its gradients are numbers: every assignment keeps
// the old value then. How many updates there were is counted on the device, one
// number a parameter and one for the optimiser.
type guard struct {
	finite  *tensor.Tensor // whether the step is made
	inverse *tensor.Tensor // of the loss scale

	places map[*state]int // of a parameter in the tensors below; the optimiser is the last
	counts *tensor.Tensor // of updates
	first  *tensor.Tensor // 1-β1ᵗ for t updates
	second *tensor.Tensor // 1-β2ᵗ
}

// guarded returns the guard of the next step. The numbers that count updates are carried
// on from the one before, or created again if other parameters take part.
func (o *Optimizer) guarded(finite, inverse *tensor.Tensor) *guard {
	var taking []*state
	for _, p := range nn.Parameters(o.model) {
		gradient := p.Grad()
		if gradient == nil {
			continue
		}
		gradient.Release()
		if o.state[p] == nil {
			o.state[p] = &state{}
		}
		taking = append(taking, o.state[p])
	}
	if o.guard == nil || !o.guard.fits(taking) {
		o.settle()
		o.guard = newGuard(taking, o.steps, o.o)
	}
	o.guard.finite, o.guard.inverse = finite, inverse
	return o.guard
}

// fits reports whether the guard counts the updates of just these parameters.
func (g *guard) fits(taking []*state) bool {
	for i, s := range taking {
		if place, ok := g.places[s]; !ok || place != i {
			return false
		}
	}
	return len(taking) == len(g.places)
}

func newGuard(taking []*state, steps int, o options) *guard {
	g := &guard{places: map[*state]int{}}
	n := len(taking)
	counts, first, second := make([]float32, n+1), make([]float32, n+1), make([]float32, n+1)
	counts[n] = float32(steps)
	for i, s := range taking {
		g.places[s] = i
		counts[i] = float32(s.steps)
		first[i] = float32(1 - math.Pow(o.beta1, float64(s.steps)))
		second[i] = float32(1 - math.Pow(o.beta2, float64(s.steps)))
	}
	g.counts, g.first, g.second = tensor.New(counts, n+1), tensor.New(first, n+1), tensor.New(second, n+1)
	return g
}

// count adds the step to the numbers, if it is made.
func (g *guard) count(o options) {
	r := record{guard: g}
	r.assign(g.counts, g.counts.AddScalar(1))
	// 1-βᵗ⁺¹ = β·(1-βᵗ) + (1-β), where nothing is lost for β near 1.
	r.assign(g.first, r.times(g.first, o.beta1).AddScalar(1-o.beta1))
	r.assign(g.second, r.times(g.second, o.beta2).AddScalar(1-o.beta2))
	r.release()
}

// corrections are 1-β1ᵗ and 1-β2ᵗ of a parameter as scalars on the device, nil
// without a guard.
func (r *record) corrections(s *state) (first, second *tensor.Tensor) {
	if r.guard == nil {
		return nil, nil
	}
	at := r.guard.places[s]
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

// settle waits for the numbers that a guard counts, and leaves it.
func (o *Optimizer) settle() {
	if o.guard == nil {
		return
	}
	counts := o.guard.counts.Data()
	for s, place := range o.guard.places {
		s.steps = int(counts[place])
	}
	o.steps = int(counts[len(counts)-1])
	o.guard = nil
}
