package optim

import "github.com/quernlab/quern/accel/tensor"

// Update is what an optimizer of your own gets for one parameter in one step; see [Custom].
type Update struct {
	Parameter, Gradient *tensor.Tensor // of the same shape
	LearningRate        float64        // after the schedule
	Step                int            // updates of the parameter, from 1
	WeightDecay         float64        // as option WeightDecay; 0 without it
	Momentum            float64        // as option Momentum; 0 without it

	record *record
	state  *state
}

// Keep releases an intermediate result after the update, so that the whole update can become one
// kernel, and returns it. Its use is optional. Do not pass the result of the update or a state.
func (u *Update) Keep(t *tensor.Tensor) *tensor.Tensor { return u.record.keep(t) }

// States returns the two states of the parameter, such as running means, with its shape. They are
// zeros at first.
func (u *Update) States() (first, second *tensor.Tensor) {
	for _, s := range []**tensor.Tensor{&u.state.first, &u.state.second} {
		if *s == nil {
			*s = zerosLike(u.Parameter)
		}
	}
	return u.state.first, u.state.second
}

// SetStates sets the states of the next step.
func (u *Update) SetStates(first, second *tensor.Tensor) {
	u.States()
	u.record.assign(u.state.first, first)
	u.record.assign(u.state.second, second)
}

func zerosLike(t *tensor.Tensor) *tensor.Tensor {
	zeros := tensor.Zeros(t.Shape()...)
	if t.DType() == tensor.Float32 {
		return zeros
	}
	defer zeros.Release()
	return zeros.Cast(t.DType())
}

// Custom returns an optimizer with a formula of your own: update returns the new value of a
// parameter. Options are [WeightDecay] and [Momentum], which are passed to update, [Group],
// [RateFactor] and [ClipGradNorm]. For example, SGD with momentum is
//
//	optim.Custom("SGD", model, 0.1, func(u *optim.Update) *tensor.Tensor {
//		v, unused := u.States()
//		v = v.MulScalar(u.Momentum).Add(u.Gradient)
//		u.SetStates(v, unused)
//		return u.Parameter.Sub(v.MulScalar(u.LearningRate))
//	}, optim.Momentum(0.9))
//
// [GradScaler], [Optimizer.State] and the option accel.Resume work as for other optimizers.
func Custom(name string, model any, rate float64, update func(u *Update) *tensor.Tensor, given ...Option) *Optimizer {
	r := rule{name: name, custom: true, whole: true, update: func(r *record, p, g *tensor.Tensor, s *state, rate float64, o options) {
		u := &Update{Parameter: p, Gradient: g, LearningRate: rate, Step: s.steps, WeightDecay: o.weightDecay, Momentum: o.momentum, record: r, state: s}
		r.assign(p, update(u))
	}}
	return newOptimizer(model, rate, r, options{}, given, "WeightDecay", "Momentum")
}
