package accel

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/quernlab/quern/accel/internal/training/loop"
	"github.com/quernlab/quern/accel/internal/training/option"
	"github.com/quernlab/quern/accel/optim"
)

// AdamW trains with the AdamW optimizer (Loshchilov and Hutter) at this learning rate. It is
// the default, at 1e-3.
func AdamW(rate float64) Option { return rated("AdamW", rate, optim.AdamW) }

// Adam trains with the Adam optimizer (Kingma and Ba) at this learning rate. With weight decay,
// prefer [AdamW].
func Adam(rate float64) Option { return rated("Adam", rate, optim.Adam) }

// Muon trains with the Muon optimizer at this learning rate; parameters that are not matrices
// are updated by AdamW. See [optim.Muon].
func Muon(rate float64) Option { return rated("Muon", rate, optim.Muon) }

// LAMB trains with the LAMB optimizer, for very large batches, at this learning rate; see
// [optim.LAMB].
func LAMB(rate float64) Option { return rated("LAMB", rate, optim.LAMB) }

// RMSprop trains with the RMSprop optimizer (Tieleman and Hinton) at this learning rate.
func RMSprop(rate float64) Option { return rated("RMSprop", rate, optim.RMSprop) }

// Adagrad trains with the Adagrad optimizer (Duchi et al.) at this learning rate.
func Adagrad(rate float64) Option { return rated("Adagrad", rate, optim.Adagrad) }

// NAdam trains with the NAdam optimizer (Dozat), Adam with Nesterov's momentum, at this learning rate.
func NAdam(rate float64) Option { return rated("NAdam", rate, optim.NAdam) }

// Lion trains with the Lion optimizer (Chen et al.) at this learning rate, which should be 3 to 10
// times smaller than that of [AdamW]; see [optim.Lion].
func Lion(rate float64) Option { return rated("Lion", rate, optim.Lion) }

// rated returns an option that selects an optimizer with a learning rate.
func rated(name string, rate float64, make func(model any, rate float64, options ...optim.Option) *optim.Optimizer) Option {
	return optimizer(fmt.Sprintf("%s(%g)", name, rate), func(model any, options ...optim.Option) *optim.Optimizer {
		return make(model, rate, options...)
	}).require(positive(rate), wrongRate)
}

// optimizer returns an option that selects an optimizer.
func optimizer(text string, make func(model any, options ...optim.Option) *optim.Optimizer) Option {
	return fitOption(text, func(c *loop.Settings) error {
		c.Optimizer = make
		return c.Choose(&c.OptimizerText, "optimizer", text)
	})
}

// SGD trains with stochastic gradient descent at this learning rate and momentum, 0 for none.
func SGD(rate, momentum float64) Option { return sgd("SGD", rate, momentum) }

// Nesterov is [SGD] with Nesterov momentum.
func Nesterov(rate, momentum float64) Option {
	return sgd("Nesterov", rate, momentum, optim.Nesterov())
}

func sgd(name string, rate, momentum float64, more ...optim.Option) Option {
	return optimizer(fmt.Sprintf("%s(%g, %g)", name, rate, momentum), func(model any, options ...optim.Option) *optim.Optimizer {
		return optim.SGD(model, rate, slices.Concat(options, []optim.Option{optim.Momentum(momentum)}, more)...)
	}).require(positive(rate), wrongRate).require(momentum >= 0 && momentum < 1, "momentum must be in [0, 1)")
}

const wrongRate = "the learning rate must be positive and finite"

// WeightDecay sets the weight decay of the optimizer; see [optim.WeightDecay]. The default is
// 0.01 for AdamW and LAMB, 0.1 for Muon, and 0 for the others.
func WeightDecay(decay float64) Option {
	return hyperparameter(fmt.Sprintf("WeightDecay(%g)", decay), optim.WeightDecay(decay)).
		require(decay >= 0 && !math.IsInf(decay, 1), "the weight decay must be finite and at least 0")
}

// schedule returns an option that selects a learning-rate schedule.
func schedule(text string, make func(total int) optim.Schedule) Option {
	return fitOption(text, func(c *loop.Settings) error {
		c.Schedule = make
		return c.Choose(&c.ScheduleText, "schedule", text)
	})
}

// WarmupCosine raises the learning rate over the first steps and then lowers it to zero along a
// cosine until the end of training; see [optim.WarmupCosine].
func WarmupCosine(steps int) Option {
	return schedule(fmt.Sprintf("WarmupCosine(%d)", steps), func(total int) optim.Schedule { return optim.WarmupCosine(steps, total) }).
		require(steps >= 0, "the number of steps must be at least 0")
}

// OneCycleLR raises the learning rate during the first 30 % of the training and lowers it until
// its end; see [optim.OneCycleLR].
func OneCycleLR() Option {
	return schedule("OneCycleLR()", func(total int) optim.Schedule { return optim.OneCycleLR(total) })
}

// StepLR multiplies the learning rate by factor after every given number of steps.
func StepLR(every int, factor float64) Option {
	return schedule(fmt.Sprintf("StepLR(%d, %g)", every, factor), func(int) optim.Schedule { return optim.StepLR(every, factor) }).
		require(every > 0 && positive(factor), "the number of steps must be at least 1, and the factor positive and finite")
}

// CosineAnnealingLR lowers the learning rate along half a cosine to least, a share of it from 0 to 1, at the
// end of the training; see [optim.CosineAnnealingLR].
func CosineAnnealingLR(least float64) Option {
	return schedule(fmt.Sprintf("CosineAnnealingLR(%g)", least), func(total int) optim.Schedule { return optim.CosineAnnealingLR(total, least) }).
		require(least >= 0 && least <= 1, "least must be from 0 to 1")
}

// ExponentialLR multiplies the learning rate by factor after every step; see [optim.ExponentialLR].
func ExponentialLR(factor float64) Option {
	return schedule(fmt.Sprintf("ExponentialLR(%g)", factor), func(int) optim.Schedule { return optim.ExponentialLR(factor) }).
		require(positive(factor), "the factor must be positive and finite")
}

// MultiStepLR multiplies the learning rate by factor at each of the milestones, which are steps; see
// [optim.MultiStepLR].
func MultiStepLR(factor float64, milestones ...int) Option {
	text := option.Text("MultiStepLR", append([]any{factor}, option.Each(milestones)...)...)
	return schedule(text, func(int) optim.Schedule { return optim.MultiStepLR(factor, milestones...) }).
		require(positive(factor) && !slices.ContainsFunc(milestones, func(m int) bool { return m < 0 }),
			"the factor must be positive and finite, and the milestones not negative")
}

// LinearLR changes the learning rate linearly from start to end, which are shares of it, over the given
// number of steps; see [optim.LinearLR].
func LinearLR(start, end float64, steps int) Option {
	return schedule(fmt.Sprintf("LinearLR(%g, %g, %d)", start, end, steps), func(int) optim.Schedule { return optim.LinearLR(start, end, steps) }).
		require(start >= 0 && end >= 0 && !math.IsInf(start+end, 1) && steps > 0,
			"start and end must be finite and not negative, and the number of steps at least 1")
}

func positive(v float64) bool { return v > 0 && !math.IsInf(v, 1) }

// ReduceLROnPlateau multiplies the learning rate by factor when the validation loss has not
// fallen for more than patience validations in a row; see [optim.ReduceLROnPlateau]. It needs
// [Validate].
func ReduceLROnPlateau(patience int, factor float64) Option {
	text := fmt.Sprintf("ReduceLROnPlateau(%d, %g)", patience, factor)
	return fitOption(text, func(c *loop.Settings) error {
		c.Schedule, c.NeedsValidation = func(int) optim.Schedule { return optim.ReduceLROnPlateau(patience, factor) }, true
		return c.Choose(&c.ScheduleText, "schedule", text)
	}).require(patience >= 0 && factor > 0 && factor < 1, "the patience must be at least 0 and the factor strictly between 0 and 1")
}

// ClipGradNorm scales the gradients of a step so that their total L2 norm is at most limit.
func ClipGradNorm(limit float64) Option { return clipping("ClipGradNorm", limit, optim.ClipGradNorm) }

// ClipGradValue limits each element of the gradients of a step to -limit … limit; see
// [optim.ClipGradValue].
func ClipGradValue(limit float64) Option {
	return clipping("ClipGradValue", limit, optim.ClipGradValue)
}

// clipping returns an option that limits the gradients.
func clipping(name string, limit float64, clip func(limit float64) optim.Option) Option {
	return hyperparameter(fmt.Sprintf("%s(%g)", name, limit), clip(limit)).require(limit > 0, "the limit must be positive")
}

// RecordGradNorm records the total L2 norm of the gradients of each step, before they are clipped: in
// Run.Steps, for [TensorBoard] and [Track], and for the metric [GradNorm] of [Live]. It shows which limit
// [ClipGradNorm] needs. With an optimizer of option [Optimizer], the function must use its options.
func RecordGradNorm() Option {
	return hyperparameter("RecordGradNorm()", optim.RecordGradNorm())
}

// Optimizer trains with an optimizer that a function creates, such as one of [optim.Custom]. The
// function gets the options of [WeightDecay], [ClipGradNorm] and [Hyperparameters]:
//
//	accel.Optimizer("SignSGD", func(model any, options ...optim.Option) *optim.Optimizer {
//		return optim.Custom("SignSGD", model, 1e-3, update, options...)
//	})
func Optimizer(name string, make func(model any, options ...optim.Option) *optim.Optimizer) Option {
	return optimizer(fmt.Sprintf("Optimizer(%q, make)", name), make).require(make != nil, "the function is nil")
}

// Hyperparameters passes options to the optimizer, for instance [optim.Betas], or groups of parameters
// with options of their own:
//
//	accel.Hyperparameters(optim.Group("*.bias", optim.WeightDecay(0)), optim.Group("head.*", optim.RateFactor(10)))
func Hyperparameters(given ...optim.Option) Option {
	return hyperparameter(option.Text("Hyperparameters", option.Each(given)...), given...)
}

// hyperparameter returns an option that passes options to the optimizer.
func hyperparameter(text string, given ...optim.Option) Option {
	return plain(text, func(c *loop.Settings) { c.Hyperparameters = append(c.Hyperparameters, given...) })
}

// Schedule changes the learning rate by a schedule of your own, such as one of [optim.ScheduleFunc].
// make gets the number of steps of the training.
func Schedule(name string, make func(steps int) optim.Schedule) Option {
	if make == nil {
		return fitOption("Schedule(nil)", func(*loop.Settings) error { return errors.New("accel: Schedule: the function is nil") })
	}
	return schedule(fmt.Sprintf("Schedule(%q, make)", name), make)
}
