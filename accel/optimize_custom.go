package accel

import (
	"errors"
	"fmt"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
)

// Optimizer trains with an optimizer that a function creates, such as one of [optim.Custom]. The
// function gets the options of [WeightDecay], [ClipGradNorm] and [Hyperparameters]:
//
//	accel.Optimizer("SignSGD", func(model any, options ...optim.Option) *optim.Optimizer {
//		return optim.Custom("SignSGD", model, 1e-3, update, options...)
//	})
func Optimizer(name string, make func(model any, options ...optim.Option) *optim.Optimizer) Option {
	text := fmt.Sprintf("Optimizer(%q, make)", name)
	return fitOption(text, func(c *options) error {
		if make == nil {
			return fmt.Errorf("accel: %s: the function is nil", text)
		}
		c.optimizer = func(model nn.Module, hyperparameters ...optim.Option) *optim.Optimizer {
			return make(model, hyperparameters...)
		}
		return c.choose(&c.optimizerText, "optimizer", text)
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
	return plain(text+")", func(c *options) { c.hyperparameters = append(c.hyperparameters, given...) })
}

// Schedule changes the learning rate by a schedule of your own, such as one of [optim.ScheduleFunc].
// make gets the number of steps of the training.
func Schedule(name string, make func(steps int) optim.Schedule) Option {
	if make == nil {
		return fitOption("Schedule(nil)", func(*options) error { return errors.New("accel: Schedule: the function is nil") })
	}
	return schedule(fmt.Sprintf("Schedule(%q, make)", name), make)
}
