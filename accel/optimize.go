package accel

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/quernlab/quern/accel/internal/training/loop"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
)

// AdamW trains with the AdamW optimizer (Loshchilov and Hutter) at this learning rate. It is
// the default, at 1e-3.
func AdamW(rate float64) Option { return optimizer("AdamW", rate, optim.AdamW) }

// Adam trains with the Adam optimizer (Kingma and Ba) at this learning rate. With weight decay,
// prefer [AdamW].
func Adam(rate float64) Option { return optimizer("Adam", rate, optim.Adam) }

// Muon trains with the Muon optimizer at this learning rate; parameters that are not matrices
// are updated by AdamW. See [optim.Muon].
func Muon(rate float64) Option { return optimizer("Muon", rate, optim.Muon) }

// LAMB trains with the LAMB optimizer, for very large batches, at this learning rate; see
// [optim.LAMB].
func LAMB(rate float64) Option { return optimizer("LAMB", rate, optim.LAMB) }

// RMSprop trains with the RMSprop optimizer (Tieleman and Hinton) at this learning rate.
func RMSprop(rate float64) Option { return optimizer("RMSprop", rate, optim.RMSprop) }

// Adagrad trains with the Adagrad optimizer (Duchi et al.) at this learning rate.
func Adagrad(rate float64) Option { return optimizer("Adagrad", rate, optim.Adagrad) }

// NAdam trains with the NAdam optimizer (Dozat), Adam with Nesterov's momentum, at this learning rate.
func NAdam(rate float64) Option { return optimizer("NAdam", rate, optim.NAdam) }

// Lion trains with the Lion optimizer (Chen et al.) at this learning rate, which should be 3 to 10
// times smaller than that of [AdamW]; see [optim.Lion].
func Lion(rate float64) Option { return optimizer("Lion", rate, optim.Lion) }

// optimizer returns an option that selects an optimizer.
func optimizer(name string, rate float64, make func(model any, rate float64, options ...optim.Option) *optim.Optimizer) Option {
	text := fmt.Sprintf("%s(%g)", name, rate)
	return fitOption(text, func(c *loop.Settings) error {
		if err := c.Choose(&c.OptimizerText, "optimizer", text); err != nil {
			return err
		}
		c.Optimizer = func(model nn.Module, hyperparameters ...optim.Option) *optim.Optimizer {
			return make(model, rate, hyperparameters...)
		}
		return checkRate(text, rate)
	})
}

// SGD trains with stochastic gradient descent at this learning rate and momentum, 0 for none.
func SGD(rate, momentum float64) Option { return sgd("SGD", rate, momentum) }

// Nesterov is [SGD] with Nesterov momentum.
func Nesterov(rate, momentum float64) Option {
	return sgd("Nesterov", rate, momentum, optim.Nesterov())
}

func sgd(name string, rate, momentum float64, more ...optim.Option) Option {
	text := fmt.Sprintf("%s(%g, %g)", name, rate, momentum)
	return fitOption(text, func(c *loop.Settings) error {
		if !(momentum >= 0 && momentum < 1) {
			return fmt.Errorf("accel: %s: momentum must be in [0, 1)", text)
		}
		if err := c.Choose(&c.OptimizerText, "optimizer", text); err != nil {
			return err
		}
		c.Optimizer = func(model nn.Module, hyperparameters ...optim.Option) *optim.Optimizer {
			hyperparameters = append(hyperparameters, optim.Momentum(momentum))
			return optim.SGD(model, rate, append(hyperparameters, more...)...)
		}
		return checkRate(text, rate)
	})
}

func checkRate(text string, rate float64) error {
	if !(rate > 0) || math.IsInf(rate, 1) {
		return fmt.Errorf("accel: %s: the learning rate must be positive and finite", text)
	}
	return nil
}

// WeightDecay sets the weight decay of the optimizer; see [optim.WeightDecay]. The default is
// 0.01 for AdamW and LAMB, 0.1 for Muon, and 0 for the others.
func WeightDecay(decay float64) Option {
	text := fmt.Sprintf("WeightDecay(%g)", decay)
	return fitOption(text, func(c *loop.Settings) error {
		if !(decay >= 0) || math.IsInf(decay, 1) {
			return fmt.Errorf("accel: %s: the weight decay must be finite and at least 0", text)
		}
		c.Hyperparameters = append(c.Hyperparameters, optim.WeightDecay(decay))
		return nil
	})
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
	return checkedSchedule(fmt.Sprintf("WarmupCosine(%d)", steps), steps >= 0, "the number of steps must be at least 0",
		func(total int) optim.Schedule { return optim.WarmupCosine(steps, total) })
}

// OneCycleLR raises the learning rate during the first 30 % of the training and lowers it until
// its end; see [optim.OneCycleLR].
func OneCycleLR() Option {
	return schedule("OneCycleLR()", func(total int) optim.Schedule { return optim.OneCycleLR(total) })
}

// StepLR multiplies the learning rate by factor after every given number of steps.
func StepLR(every int, factor float64) Option {
	return checkedSchedule(fmt.Sprintf("StepLR(%d, %g)", every, factor), every > 0 && positive(factor),
		"the number of steps must be at least 1, and the factor positive and finite",
		func(int) optim.Schedule { return optim.StepLR(every, factor) })
}

// CosineAnnealingLR lowers the learning rate along half a cosine to least, a share of it from 0 to 1, at the
// end of the training; see [optim.CosineAnnealingLR].
func CosineAnnealingLR(least float64) Option {
	return checkedSchedule(fmt.Sprintf("CosineAnnealingLR(%g)", least), least >= 0 && least <= 1, "least must be from 0 to 1",
		func(total int) optim.Schedule { return optim.CosineAnnealingLR(total, least) })
}

// ExponentialLR multiplies the learning rate by factor after every step; see [optim.ExponentialLR].
func ExponentialLR(factor float64) Option {
	return checkedSchedule(fmt.Sprintf("ExponentialLR(%g)", factor), positive(factor), "the factor must be positive and finite",
		func(int) optim.Schedule { return optim.ExponentialLR(factor) })
}

// MultiStepLR multiplies the learning rate by factor at each of the milestones, which are steps; see
// [optim.MultiStepLR].
func MultiStepLR(factor float64, milestones ...int) Option {
	text := fmt.Sprintf("MultiStepLR(%g", factor)
	for _, m := range milestones {
		text += fmt.Sprintf(", %d", m)
	}
	return checkedSchedule(text+")", positive(factor) && !slices.ContainsFunc(milestones, func(m int) bool { return m < 0 }),
		"the factor must be positive and finite, and the milestones not negative",
		func(int) optim.Schedule { return optim.MultiStepLR(factor, milestones...) })
}

// LinearLR changes the learning rate linearly from start to end, which are shares of it, over the given
// number of steps; see [optim.LinearLR].
func LinearLR(start, end float64, steps int) Option {
	return checkedSchedule(fmt.Sprintf("LinearLR(%g, %g, %d)", start, end, steps), start >= 0 && end >= 0 && !math.IsInf(start+end, 1) && steps > 0,
		"start and end must be finite and not negative, and the number of steps at least 1",
		func(int) optim.Schedule { return optim.LinearLR(start, end, steps) })
}

func positive(v float64) bool { return v > 0 && !math.IsInf(v, 1) }

// checkedSchedule is schedule with arguments that may be invalid.
func checkedSchedule(text string, valid bool, why string, make func(total int) optim.Schedule) Option {
	return fitOption(text, func(c *loop.Settings) error {
		if !valid {
			return fmt.Errorf("accel: %s: %s", text, why)
		}
		return schedule(text, make).set(c)
	})
}

// ReduceLROnPlateau multiplies the learning rate by factor when the validation loss has not
// fallen for more than patience validations in a row; see [optim.ReduceLROnPlateau]. It needs
// [Validate].
func ReduceLROnPlateau(patience int, factor float64) Option {
	text := fmt.Sprintf("ReduceLROnPlateau(%d, %g)", patience, factor)
	return fitOption(text, func(c *loop.Settings) error {
		if patience < 0 || !(factor > 0 && factor < 1) {
			return fmt.Errorf("accel: %s: the patience must be at least 0 and the factor strictly between 0 and 1", text)
		}
		if err := c.Choose(&c.ScheduleText, "schedule", text); err != nil {
			return err
		}
		c.Schedule, c.NeedsValidation = func(int) optim.Schedule { return optim.ReduceLROnPlateau(patience, factor) }, true
		return nil
	})
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
	text := fmt.Sprintf("%s(%g)", name, limit)
	return fitOption(text, func(c *loop.Settings) error {
		if !(limit > 0) {
			return fmt.Errorf("accel: %s: the limit must be positive", text)
		}
		c.Hyperparameters = append(c.Hyperparameters, clip(limit))
		return nil
	})
}

// RecordGradNorm records the total L2 norm of the gradients of each step, before they are clipped: in
// Run.Steps, for [TensorBoard] and [Track], and for the metric [GradNorm] of [Live]. It shows which limit
// [ClipGradNorm] needs. With an optimizer of option [Optimizer], the function must use its options.
func RecordGradNorm() Option {
	return plain("RecordGradNorm()", func(c *loop.Settings) { c.Hyperparameters = append(c.Hyperparameters, optim.RecordGradNorm()) })
}

// Optimizer trains with an optimizer that a function creates, such as one of [optim.Custom]. The
// function gets the options of [WeightDecay], [ClipGradNorm] and [Hyperparameters]:
//
//	accel.Optimizer("SignSGD", func(model any, options ...optim.Option) *optim.Optimizer {
//		return optim.Custom("SignSGD", model, 1e-3, update, options...)
//	})
func Optimizer(name string, make func(model any, options ...optim.Option) *optim.Optimizer) Option {
	text := fmt.Sprintf("Optimizer(%q, make)", name)
	return fitOption(text, func(c *loop.Settings) error {
		if make == nil {
			return fmt.Errorf("accel: %s: the function is nil", text)
		}
		c.Optimizer = func(model nn.Module, hyperparameters ...optim.Option) *optim.Optimizer {
			return make(model, hyperparameters...)
		}
		return c.Choose(&c.OptimizerText, "optimizer", text)
	})
}

// Hyperparameters passes options to the optimizer, for instance [optim.Betas], or groups of parameters
// with options of their own:
//
//	accel.Hyperparameters(optim.Group("*.bias", optim.WeightDecay(0)), optim.Group("head.*", optim.RateFactor(10)))
func Hyperparameters(given ...optim.Option) Option {
	text := "Hyperparameters("
	for i, o := range given {
		if i > 0 {
			text += ", "
		}
		text += o.String()
	}
	return plain(text+")", func(c *loop.Settings) { c.Hyperparameters = append(c.Hyperparameters, given...) })
}

// Schedule changes the learning rate by a schedule of your own, such as one of [optim.ScheduleFunc].
// make gets the number of steps of the training.
func Schedule(name string, make func(steps int) optim.Schedule) Option {
	if make == nil {
		return fitOption("Schedule(nil)", func(*loop.Settings) error { return errors.New("accel: Schedule: the function is nil") })
	}
	return schedule(fmt.Sprintf("Schedule(%q, make)", name), make)
}
