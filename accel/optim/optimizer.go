package optim

import (
	"fmt"
	"math"

	"github.com/quernlab/quern/accel/internal/trace"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// Optimizer changes parameters so that a loss falls. The loop is
//
//	opt.ZeroGrad()
//	loss := nn.CrossEntropy(model.Forward(x), y)
//	loss.Backward()
//	opt.Step()
//
// It is for one goroutine.
type Optimizer struct {
	model any
	rate  float64
	rule  rule
	o     options
	state map[*tensor.Tensor]*state
	steps int
	guard *guard // of the last step, if a scaler made it
}

// rule is one optimiser's formula.
type rule interface {
	// update records the new value of parameter p, whose gradient is g, and
	// of its state. rate is the learning rate now; r takes the tensors on the
	// way.
	update(r *record, p, g *tensor.Tensor, s *state, rate float64, o options)
	String() string
}

// state is what an optimiser remembers of one parameter.
type state struct {
	steps         int // updates of this parameter
	first, second *tensor.Tensor
}

// options are the numbers of the formulas, named as in the papers.
type options struct {
	momentum     float64
	nesterov     bool
	weightDecay  float64
	beta1, beta2 float64
	epsilon      float64
	clipNorm     float64 // 0 for none
}

// Option changes a number of an optimiser's formula. One that the formula does
// not have is ignored.
type Option struct {
	text string
	set  func(*options)
}

// String returns the option as it is written in Go.
func (o Option) String() string { return o.text }

// WeightDecay shrinks the parameters at each step. AdamW, where the default is
// 0.01, and Muon, where it is 0.1, multiply them by 1 - rate·decay; SGD and Adam,
// where it is 0, add decay times the parameter to the gradient, and LAMB, where
// it is 0.01, to the step.
func WeightDecay(decay float64) Option {
	return Option{fmt.Sprintf("WeightDecay(%g)", decay), func(o *options) { o.weightDecay = decay }}
}

// Momentum makes SGD, where the default is 0, and Muon, where it is 0.95, keep
// this share of the last direction.
func Momentum(share float64) Option {
	return Option{fmt.Sprintf("Momentum(%g)", share), func(o *options) { o.momentum = share }}
}

// Nesterov makes SGD with momentum look a step ahead.
func Nesterov() Option {
	return Option{"Nesterov()", func(o *options) { o.nesterov = true }}
}

// Betas returns the shares that Adam, AdamW and LAMB keep of the old means of the
// gradient and of its square; the defaults are 0.9 and 0.999.
func Betas(first, second float64) Option {
	return Option{fmt.Sprintf("Betas(%g, %g)", first, second), func(o *options) { o.beta1, o.beta2 = first, second }}
}

// Epsilon returns what Adam and AdamW, where the default is 1e-8, and LAMB, where it
// is 1e-6, add to the root that they divide by.
func Epsilon(e float64) Option {
	return Option{fmt.Sprintf("Epsilon(%g)", e), func(o *options) { o.epsilon = e }}
}

// ClipGradNorm scales the gradients of a step down so that their common L2 norm is
// at most limit, over all parameters:
//
//	norm = √ Σ g²
//	g    = g · min(1, limit / (norm + 1e-6))
func ClipGradNorm(limit float64) Option {
	return Option{fmt.Sprintf("ClipGradNorm(%g)", limit), func(o *options) { o.clipNorm = limit }}
}

// newOptimizer makes an optimiser for all that [nn.Parameters] finds in model.
func newOptimizer(model any, rate float64, r rule, o options, given []Option) *Optimizer {
	for _, option := range given {
		if option.set != nil {
			option.set(&o)
		}
	}
	return &Optimizer{model: model, rate: rate, rule: r, o: o, state: map[*tensor.Tensor]*state{}}
}

// Step updates every parameter that has a gradient and runs what has been
// recorded. The learning rate may change from step to step at no cost: it is a
// number of the plan and no part of it; it panics with a *tensor.StateError, and changes
// nothing, where the rate is NaN or infinite, and where the model has no parameters.
//
// A parameter is found when Step needs it, so the optimiser may be made before
// a layer has inferred its shape.
func (o *Optimizer) Step() {
	o.settle()
	o.step(nil)
	tensor.Flush()
}

// step records a step, for a guard, which may be nil.
func (o *Optimizer) step(g *guard) {
	if math.IsNaN(o.rate) || math.IsInf(o.rate, 0) {
		panic(&tensor.StateError{Op: o.Name(), Hint: fmt.Sprintf("the learning rate is %v, and would make every parameter so: set another one", o.rate)})
	}
	if c := trace.Active(); c != nil {
		if c.First(o) {
			for _, p := range nn.NamedParameters(o.model) {
				p.SetName(p.Name)
			}
		}
		leave := c.Enter(trace.Scope{Name: o.Name, Phase: trace.Update})
		defer leave()
	}
	if len(nn.Parameters(o.model)) == 0 {
		panic(&tensor.StateError{Op: o.Name(), Hint: "the model has no parameters that require a gradient: are its layers in fields, and named behind the function of nn.Lambda?"})
	}
	tensor.NoGrad(func() {
		r := record{guard: g}
		parameters, gradients := o.gradients(&r)
		if g != nil {
			for i, x := range gradients {
				gradients[i] = r.keep(x.Mul(r.like(g.inverse, x)))
			}
		}
		if o.o.clipNorm > 0 {
			clip(&r, gradients, o.o.clipNorm)
		}
		for i, p := range parameters {
			s := o.state[p]
			if s == nil {
				s = &state{}
				o.state[p] = s
			}
			s.steps++
			own := record{guard: g} // of one update, so that the list knows early what it need not keep
			o.rule.update(&own, p, gradients[i], s, o.rate, o.o)
			own.release()
		}
		r.release()
	})
	o.steps++
}

// gradients returns the parameters that have a gradient, and these.
func (o *Optimizer) gradients(r *record) (parameters, gradients []*tensor.Tensor) {
	for _, p := range nn.Parameters(o.model) {
		if g := p.Grad(); g != nil {
			parameters, gradients = append(parameters, p), append(gradients, r.keep(g))
		}
	}
	return parameters, gradients
}

// clip replaces gradients by those of [ClipGradNorm].
func clip(r *record, gradients []*tensor.Tensor, limit float64) {
	if len(gradients) == 0 {
		return
	}
	sum := r.keep(r.keep(gradients[0].Square()).Sum())
	for _, g := range gradients[1:] {
		sum = r.add(sum, r.keep(r.keep(g.Square()).Sum()))
	}
	// min(1, 1/x) is 1/max(1, x), and max(1, x) is 1 + relu(x-1).
	excess := r.times(r.keep(r.keep(sum.Sqrt()).AddScalar(1e-6)), 1/limit)
	divisor := r.keep(r.keep(r.keep(excess.AddScalar(-1)).ReLU()).AddScalar(1))
	for i, g := range gradients {
		gradients[i] = r.keep(g.Div(divisor))
	}
}

// ZeroGrad forgets the gradients, so that the next Backward starts from zero.
func (o *Optimizer) ZeroGrad() {
	for _, p := range nn.Parameters(o.model) {
		p.ZeroGrad()
	}
}

// LearningRate returns the rate of the next step.
func (o *Optimizer) LearningRate() float64 { return o.rate }

// SetLearningRate changes the rate from the next step on.
func (o *Optimizer) SetLearningRate(rate float64) { o.rate = rate }

// Steps returns the number of steps so far. After steps of a [Scaler] it waits for the
// newest, which may have been skipped.
func (o *Optimizer) Steps() int {
	o.settle()
	return o.steps
}

// Name returns the name of the optimiser, such as AdamW.
func (o *Optimizer) Name() string { return o.rule.String() }

// String names the optimiser and its learning rate.
func (o *Optimizer) String() string {
	return fmt.Sprintf("%v, learning rate %g", o.rule, o.rate)
}
