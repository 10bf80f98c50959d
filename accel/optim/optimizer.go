package optim

import (
	"fmt"
	"math"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/internal/engine/trace"
	"github.com/quernlab/quern/accel/internal/training/option"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// Optimizer updates parameters so that a loss falls. The training loop is
//
//	opt.ZeroGrad()
//	loss := nn.CrossEntropy(model.Forward(x), y)
//	loss.Backward()
//	opt.Step()
//
// An optimizer must not be used by several goroutines at the same time.
type Optimizer struct {
	model   any
	rate    float64
	rule    rule
	o       options
	takes   []string // names of the options of its parameters
	invalid string   // why an option is; "" if none is
	state   map[*tensor.Tensor]*state
	steps   int
	guard   *guard         // of the last step, if a GradScaler made it
	norm    *tensor.Tensor // of the gradients of the last step, with RecordGradNorm; a scalar

	grouped map[*tensor.Tensor]options // options of all parameters, if there are groups
}

// rule is the formula of an optimizer.
type rule struct {
	name string
	// update records the new values of parameter p and of its state s, for gradient g and the
	// current learning rate. Intermediate tensors belong to r.
	update func(r *record, p, g *tensor.Tensor, s *state, rate float64, o options)
	whole  bool // update needs whole parameters, not parts of them
	custom bool // update calls a function of the user, which may be interrupted: then no parameter changes
}

// state is the state of an optimizer for one parameter.
type state struct {
	steps         int // updates of this parameter
	first, second *tensor.Tensor
}

// options are the hyperparameters, named as in the papers.
type options struct {
	momentum     float64
	nesterov     bool
	weightDecay  float64
	beta1, beta2 float64
	alpha        float64
	epsilon      float64
	clipNorm     float64 // 0 for none
	clipValue    float64 // 0 for none
	recordNorm   bool
	rateFactor   float64
	groups       []group

	// of LBFGS
	iterations, history                int
	toleranceGradient, toleranceChange float64
	search                             bool
}

// Option sets a hyperparameter of an optimizer. Each optimizer lists its own; Step panics with a
// *tensor.StateError if another one was given, or if its arguments are outside of their range.
type Option struct{ setting }

type setting = option.Of[options]

// number returns an option that sets a number, which must be finite and not negative.
func number(name, what string, v float64, field func(*options) *float64) Option {
	return Option{option.New(func(o *options) { *field(o) = v }, name, v).
		Require(notNegative(v), what+" must be finite and not negative")}
}

// notNegative reports whether a number is finite and at least 0.
func notNegative(v float64) bool { return v >= 0 && !math.IsInf(v, 1) }

// WeightDecay shrinks the parameters at each step. AdamW (default 0.01), Muon (default 0.1) and
// Lion (default 0) multiply them by 1 - rate·decay; SGD, Adam, RMSprop and Adagrad (default 0) add
// decay times the parameter to the gradient; LAMB (default 0.01) adds it to the step.
func WeightDecay(decay float64) Option {
	return number("WeightDecay", "the decay", decay, func(o *options) *float64 { return &o.weightDecay })
}

// Momentum sets the momentum of SGD and RMSprop (default 0) and of Muon (default 0.95).
func Momentum(share float64) Option {
	return number("Momentum", "the momentum", share, func(o *options) *float64 { return &o.momentum })
}

// Nesterov makes SGD use Nesterov momentum.
func Nesterov() Option {
	return Option{option.New(func(o *options) { o.nesterov = true }, "Nesterov")}
}

// Betas sets the decay rates of the running means of the gradient and of its square in Adam,
// AdamW and LAMB; the defaults are 0.9 and 0.999. Lion has two for the gradient, 0.9 and 0.99.
func Betas(first, second float64) Option {
	return Option{option.New(func(o *options) { o.beta1, o.beta2 = first, second }, "Betas", first, second).
		Require(first >= 0 && first < 1 && second >= 0 && second < 1, "both must be at least 0 and less than 1")}
}

// Alpha sets the decay rate of RMSprop's running mean of the squared gradient, 0.99 by default.
func Alpha(share float64) Option {
	return Option{option.New(func(o *options) { o.alpha = share }, "Alpha", share).
		Require(share >= 0 && share <= 1, "it must be from 0 to 1")}
}

// Epsilon sets the value that is added to the denominator of Adam, AdamW and RMSprop (default
// 1e-8), of LAMB (default 1e-6) and of Adagrad (default 1e-10).
func Epsilon(e float64) Option {
	return number("Epsilon", "it", e, func(o *options) *float64 { return &o.epsilon })
}

// ClipGradNorm scales the gradients of a step so that their total L2 norm over all parameters
// is at most limit:
//
//	norm = √ Σ g²
//	g    = g · min(1, limit / (norm + 1e-6))
func ClipGradNorm(limit float64) Option {
	return Option{option.New(func(o *options) { o.clipNorm = limit }, "ClipGradNorm", limit).
		Require(limit > 0, "the limit must be positive")}
}

// ClipGradValue limits each element of the gradients of a step to -limit … limit, as PyTorch's
// clip_grad_value_; NaN stays NaN. With [ClipGradNorm], whose direction it does not keep, it comes first.
func ClipGradValue(limit float64) Option {
	return Option{option.New(func(o *options) { o.clipValue = limit }, "ClipGradValue", limit).
		Require(limit > 0, "the limit must be positive")}
}

// RecordGradNorm computes the total L2 norm of the gradients of each step, before they are clipped; see
// [Optimizer.GradNorm].
func RecordGradNorm() Option {
	return Option{option.New(func(o *options) { o.recordNorm = true }, "RecordGradNorm")}
}

// newOptimizer returns an optimizer of all parameters that [nn.Parameters] finds in model. Beside those of all
// optimizers it takes some options.
func newOptimizer(model any, rate float64, r rule, defaults options, given []Option, takes ...string) *Optimizer {
	o := &Optimizer{model: model, rate: rate, rule: r, o: defaults, state: map[*tensor.Tensor]*state{}}
	o.o.rateFactor = 1
	o.takes = append(takes, "RateFactor") // in a group
	o.invalid = option.Reason(&o.o, given, append(o.takes, "Group", "GroupFunc", "LayerwiseDecay", "ClipGradNorm", "ClipGradValue", "RecordGradNorm")...)
	for _, g := range o.o.groups {
		if o.invalid == "" {
			o.invalid = option.Reason(&options{}, g.options, o.takes...)
		}
	}
	return o
}

// Step updates every parameter that has a gradient, and runs all recorded operations. Changing
// the learning rate from step to step costs nothing, since it is an argument of the plan. Step
// panics with a *tensor.StateError, before changing anything, if the learning rate is negative, NaN or
// infinite, if an option has an argument outside of its range, if the model has no parameters, if none has a
// gradient, because Backward was not called or ZeroGrad was called after it, or if Backward has added to gradients
// that an earlier step has used, because ZeroGrad was not called between. A second Step without Backward uses the
// same gradients again, as in PyTorch.
//
// [Optimizer.Err] returns the errors that do not depend on gradients, before the first step.
//
// Step looks for parameters each time it is called, so an optimizer may be created before the
// layers have their parameters.
func (o *Optimizer) Step() {
	o.readCounts()
	o.recordStep(nil)
	tensor.Flush()
}

// Err returns why each Step would fail, nil if nothing is wrong: an error about the learning rate, an option, a [Group] whose pattern
// matches no parameter, or an optimizer that a model of several ranks cannot have. The model must have its parameters. A loop of several
// ranks can stop before its first step, with an error that all of them have:
//
//	opt := optim.AdamW(shared, 1e-3, optim.Group("*.bias", optim.WeightDecay(0)))
//	if err := opt.Err(); err != nil {
//		return err
//	}
func (o *Optimizer) Err() error { return o.errOf(nn.Parameters(o.model)) }

// errOf is Err of a model with these parameters.
func (o *Optimizer) errOf(parameters []*tensor.Tensor) error {
	switch {
	case math.IsNaN(o.rate) || math.IsInf(o.rate, 0):
		return &tensor.StateError{Op: o.Name(), Hint: fmt.Sprintf("the learning rate is %v; every parameter would become NaN or infinite: set a finite learning rate", o.rate)}
	case o.rate < 0:
		return &tensor.StateError{Op: o.Name(), Hint: fmt.Sprintf("the learning rate is %v; the loss would rise: set one that is not negative", o.rate)}
	case o.invalid != "":
		return &tensor.StateError{Op: o.Name(), Hint: o.invalid}
	case len(parameters) == 0:
		return &tensor.StateError{Op: o.Name(), Hint: "the model has no parameters that require a gradient: keep its layers in fields, pass those that a function uses to nn.Lambda, and thaw frozen ones"}
	}
	if err := o.shardedErr(parameters); err != nil {
		return err
	}
	if _, known := o.grouped[parameters[0]]; len(o.o.groups) > 0 && !known {
		return o.group()
	}
	return nil
}

// recordStep records a step with an optional guard.
func (o *Optimizer) recordStep(g *guard) {
	all := nn.Parameters(o.model) // once, since a large model has many layers to look through
	if err := o.errOf(all); err != nil {
		panic(err)
	}
	if c := trace.Active(); c != nil {
		if c.First(o) {
			for _, p := range nn.NamedParameters(o.model) {
				tensors.SetName(p.Tensor, p.Name)
			}
		}
		leave := c.Enter(trace.Scope{Name: o.Name, Phase: trace.Update})
		defer leave()
	}
	o.checkGradients(all)
	tensor.NoGrad(func() {
		r := record{guard: g}
		parameters, gradients := withGradients(&r, all)
		if g != nil {
			for i, x := range gradients {
				gradients[i] = r.keep(x.Mul(r.like(g.inverse, x)))
			}
		}
		if o.o.recordNorm {
			o.keepNorm(&r, parameters, gradients)
		}
		if o.o.clipValue > 0 {
			for i, x := range gradients {
				gradients[i] = r.keep(x.Clamp(-o.o.clipValue, o.o.clipValue))
			}
		}
		if o.o.clipNorm > 0 {
			o.clip(&r, parameters, gradients)
		}
		update := func(own *record, i int) {
			p := parameters[i]
			s := o.state[p]
			if s == nil {
				s = &state{}
				o.state[p] = s
			}
			s.steps++
			options := o.optionsOf(p)
			o.rule.update(own, p, gradients[i], s, o.rate*options.rateFactor, options)
		}
		if o.rule.custom {
			o.updateByUser(parameters, &record{guard: g, delay: true}, update)
		} else {
			tensors.Together(func() {
				own := record{guard: g}
				for i := range parameters {
					update(&own, i)
					own.release() // of each parameter, so that its intermediate tensors are released early
				}
			})
		}
		r.release()
	})
	o.steps++
}

// updateByUser records the updates of all parameters by a function of the user, before it changes any. If that function panics, none has
// been updated.
func (o *Optimizer) updateByUser(parameters []*tensor.Tensor, all *record, update func(own *record, i int)) {
	done := false
	begun := 0
	defer func() {
		for _, p := range parameters[:begun] {
			if !done {
				o.state[p].steps--
			}
		}
	}()
	for i := range parameters {
		begun++
		update(all, i)
	}
	done = true
	all.release()
}

// checkGradients panics if no parameter has a gradient, or if one is added to that of the step before.
func (o *Optimizer) checkGradients(all []*tensor.Tensor) {
	some, stale, lost := false, false, false
	for _, p := range all {
		has, old, dropped := tensors.UseGrad(p)
		some, stale, lost = some || has, stale || old, lost || dropped
	}
	if s, ok := o.model.(sharded); ok && !lost {
		some = some || s.HasGradients() // those of other processes
	}
	switch {
	case !some && lost:
		panic(&tensor.StateError{Op: o.Name(), Hint: "no parameter has a gradient, since ZeroGrad was called after Backward: call ZeroGrad before Backward, or after Step"})
	case !some:
		panic(&tensor.StateError{Op: o.Name(), Hint: "no parameter has a gradient, so nothing would change: call Backward of the loss before Step"})
	case stale:
		panic(&tensor.StateError{Op: o.Name(), Hint: "the gradients are added to those that an earlier Step has used: call ZeroGrad before Backward"})
	}
}

// withGradients returns the parameters that have a gradient, and their gradients.
func withGradients(r *record, all []*tensor.Tensor) (parameters, gradients []*tensor.Tensor) {
	for _, p := range all {
		if g := p.Grad(); g != nil {
			parameters, gradients = append(parameters, p), append(gradients, r.keep(g))
		}
	}
	return parameters, gradients
}

// clip replaces gradients by clipped ones; see [ClipGradNorm].
func (o *Optimizer) clip(r *record, parameters, gradients []*tensor.Tensor) {
	// min(1, 1/x) is 1/max(1, x), and max(1, x) is 1 + relu(x-1).
	excess := r.times(r.keep(o.total(r, parameters, gradients).AddScalar(1e-6)), 1/o.o.clipNorm)
	divisor := r.keep(r.keep(r.keep(excess.AddScalar(-1)).ReLU()).AddScalar(1))
	for i, g := range gradients {
		gradients[i] = r.keep(g.Div(divisor))
	}
}

// total returns the L2 norm of all gradients together, of which there is at least one, perhaps on another process.
func (o *Optimizer) total(r *record, parameters, gradients []*tensor.Tensor) *tensor.Tensor {
	squares := func(g *tensor.Tensor) *tensor.Tensor { return r.keep(r.keep(g.Square()).Sum()) }
	return r.keep(o.sum(r, parameters, gradients, squares).Sqrt())
}

// keepNorm records the norm of the gradients for GradNorm.
func (o *Optimizer) keepNorm(r *record, parameters, gradients []*tensor.Tensor) {
	if o.norm == nil {
		o.norm = tensor.Zeros()
	}
	o.norm.Assign(r.like(o.total(r, parameters, gradients), o.norm).Clone())
}

// GradNorm returns the total L2 norm of the gradients of the newest step, before they were clipped, as a
// scalar of type float32: √ Σ g². It is nil without [RecordGradNorm] and before the first step. Like
// [GradScaler.LastStep] it does not wait for the device, and the caller releases the tensor. It is not
// finite for a step that a scaler has skipped.
func (o *Optimizer) GradNorm() *tensor.Tensor {
	if o.norm == nil {
		return nil
	}
	return o.norm.Clone()
}

// ZeroGrad discards the gradients, so that the next Backward starts from zero.
func (o *Optimizer) ZeroGrad() {
	for _, p := range nn.Parameters(o.model) {
		p.ZeroGrad()
	}
}

// LearningRate returns the learning rate of the next step.
func (o *Optimizer) LearningRate() float64 { return o.rate }

// SetLearningRate sets the learning rate from the next step on, which must be finite and not negative:
// else Step fails.
func (o *Optimizer) SetLearningRate(rate float64) { o.rate = rate }

// Steps returns the number of steps so far. After a step of a [GradScaler] it waits for the
// device, since that step may have been skipped.
func (o *Optimizer) Steps() int {
	o.readCounts()
	return o.steps
}

// Name returns the name of the optimizer, such as AdamW.
func (o *Optimizer) Name() string { return o.rule.name }

// String returns the name of the optimizer and its learning rate.
func (o *Optimizer) String() string {
	return fmt.Sprintf("%s, learning rate %g", o.rule.name, o.rate)
}
