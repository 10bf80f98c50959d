package accel

import (
	"fmt"
	"math"
	"slices"

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
	return fitOption(text, func(c *options) error {
		if err := c.choose(&c.optimizerText, "optimizer", text); err != nil {
			return err
		}
		c.optimizer = func(model nn.Module, hyperparameters ...optim.Option) *optim.Optimizer {
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
	return fitOption(text, func(c *options) error {
		if !(momentum >= 0 && momentum < 1) {
			return fmt.Errorf("accel: %s: momentum must be in [0, 1)", text)
		}
		if err := c.choose(&c.optimizerText, "optimizer", text); err != nil {
			return err
		}
		c.optimizer = func(model nn.Module, hyperparameters ...optim.Option) *optim.Optimizer {
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
	return fitOption(text, func(c *options) error {
		if !(decay >= 0) || math.IsInf(decay, 1) {
			return fmt.Errorf("accel: %s: the weight decay must be finite and at least 0", text)
		}
		c.hyperparameters = append(c.hyperparameters, optim.WeightDecay(decay))
		return nil
	})
}

// schedule returns an option that selects a learning-rate schedule.
func schedule(text string, make func(total int) optim.Schedule) Option {
	return fitOption(text, func(c *options) error {
		c.schedule = make
		return c.choose(&c.scheduleText, "schedule", text)
	})
}

// choose records the optimizer or the schedule of a training, and fails if one was chosen
// before.
func (c *options) choose(chosen *string, what, text string) error {
	if *chosen != "" {
		return fmt.Errorf("accel: %s and %s exclude each other: a training has one %s", *chosen, text, what)
	}
	*chosen = text
	return nil
}

// WarmupCosine raises the learning rate over the first steps and then lowers it to zero along a
// cosine until the end of training; see [optim.WarmupCosine].
func WarmupCosine(steps int) Option {
	return schedule(fmt.Sprintf("WarmupCosine(%d)", steps), func(total int) optim.Schedule { return optim.WarmupCosine(steps, total) })
}

// OneCycleLR raises the learning rate during the first 30 % of the training and lowers it until
// its end; see [optim.OneCycleLR].
func OneCycleLR() Option {
	return schedule("OneCycleLR()", func(total int) optim.Schedule { return optim.OneCycleLR(total) })
}

// StepLR multiplies the learning rate by factor after every given number of steps.
func StepLR(every int, factor float64) Option {
	return schedule(fmt.Sprintf("StepLR(%d, %g)", every, factor), func(int) optim.Schedule { return optim.StepLR(every, factor) })
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
	return fitOption(text, func(c *options) error {
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
	return fitOption(text, func(c *options) error {
		if patience < 0 || !(factor > 0 && factor < 1) {
			return fmt.Errorf("accel: %s: the patience must be at least 0 and the factor strictly between 0 and 1", text)
		}
		if err := c.choose(&c.scheduleText, "schedule", text); err != nil {
			return err
		}
		c.schedule, c.needsValidation = func(int) optim.Schedule { return optim.ReduceLROnPlateau(patience, factor) }, true
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
	return fitOption(text, func(c *options) error {
		if !(limit > 0) {
			return fmt.Errorf("accel: %s: the limit must be positive", text)
		}
		c.hyperparameters = append(c.hyperparameters, clip(limit))
		return nil
	})
}

// RecordGradNorm records the total L2 norm of the gradients of each step, before they are clipped: in
// Run.Steps, for [TensorBoard] and [Track], and for the metric [GradNorm] of [Live]. It shows which limit
// [ClipGradNorm] needs. With an optimizer of option [Optimizer], the function must use its options.
func RecordGradNorm() Option {
	return plain("RecordGradNorm()", func(c *options) { c.hyperparameters = append(c.hyperparameters, optim.RecordGradNorm()) })
}
