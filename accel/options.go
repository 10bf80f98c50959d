package accel

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
)

// Option changes how [Fit] trains. It prints as it is written in Go, which is
// how a run remembers its options.
type Option struct {
	text string
	set  func(*options) error
}

// String is the option as it is written in Go, without the package.
func (o Option) String() string { return o.text }

// options is what the options set. The zero value of a field stands for the
// default.
type options struct {
	epochs     int // 5, unless steps are given
	steps      int
	batchSize  int // 64
	workers    int
	loss       func(prediction, target *Tensor) *Tensor
	optimizer  newOptimizer
	schedule   func(total int) optim.Schedule
	numbers    []optim.Option // of the optimiser's formula
	accumulate int            // 1
	validate   *data.Set
	evalEvery  int // steps; 0 for every epoch
	patience   int
	live       []Metric // nil for none
	quiet      bool
	amp        bool
	text       []string
}

func newOptions(given []Option) (*options, error) {
	c := &options{workers: defaultWorkers, accumulate: 1}
	for _, o := range given {
		if o.set == nil {
			continue // the zero Option
		}
		if err := o.set(c); err != nil {
			return nil, err
		}
		c.text = append(c.text, o.text)
	}
	if c.epochs == 0 && c.steps == 0 {
		c.epochs = defaultEpochs
	}
	if c.batchSize == 0 {
		c.batchSize = defaultBatchSize
	}
	if c.optimizer == nil {
		c.optimizer = adamW(defaultRate)
	}
	if c.patience > 0 && c.validate == nil {
		return nil, fmt.Errorf("accel: EarlyStop(%d) needs a set to watch: add Validate(set)", c.patience)
	}
	return c, nil
}

const (
	defaultEpochs    = 5
	defaultBatchSize = 64
	defaultRate      = 1e-3
	defaultWorkers   = 2
)

// count is an option that sets a number of at least 1.
func count(name string, n int, field func(*options) *int) Option {
	text := fmt.Sprintf("%s(%d)", name, n)
	return Option{text, func(c *options) error {
		if n < 1 {
			return fmt.Errorf("accel: %s: the number must be at least 1", text)
		}
		*field(c) = n
		return nil
	}}
}

// plain is an option that cannot be wrong.
func plain(text string, set func(*options)) Option {
	return Option{text, func(c *options) error { set(c); return nil }}
}

// Epochs trains for n passes over the set. The default is 5 unless Steps is
// given; with both, training ends at whichever comes first.
func Epochs(n int) Option {
	return count("Epochs", n, func(c *options) *int { return &c.epochs })
}

// Steps trains for n updates of the parameters, over as many passes as they
// need.
func Steps(n int) Option {
	return count("Steps", n, func(c *options) *int { return &c.steps })
}

// BatchSize is the number of examples in a batch; the default is 64. The last
// batch of an epoch holds the rest and is smaller.
func BatchSize(n int) Option {
	return count("BatchSize", n, func(c *options) *int { return &c.batchSize })
}

// Workers makes n batches ahead, each on a goroutine of its own; the default
// is 2. The result of training is the same for every n.
func Workers(n int) Option {
	return plain(fmt.Sprintf("Workers(%d)", n), func(c *options) { c.workers = n })
}

// AdamW trains with the optimiser of Loshchilov and Hutter, the default, at
// this learning rate (1e-3 by default).
func AdamW(rate float64) Option {
	text := fmt.Sprintf("AdamW(%g)", rate)
	return Option{text, func(c *options) error {
		c.optimizer = adamW(rate)
		return checkRate(text, rate)
	}}
}

// newOptimizer makes an optimiser once the model and the numbers that other
// options set are known.
type newOptimizer func(model nn.Module, numbers ...optim.Option) *optim.Optimizer

func adamW(rate float64) newOptimizer {
	return func(model nn.Module, numbers ...optim.Option) *optim.Optimizer {
		return optim.AdamW(model, rate, numbers...)
	}
}

// SGD trains by stochastic gradient descent at this learning rate and with
// this momentum, 0 for none.
func SGD(rate, momentum float64) Option {
	text := fmt.Sprintf("SGD(%g, %g)", rate, momentum)
	return Option{text, func(c *options) error {
		if !(momentum >= 0 && momentum < 1) {
			return fmt.Errorf("accel: %s: momentum must be in [0, 1)", text)
		}
		c.optimizer = func(model nn.Module, numbers ...optim.Option) *optim.Optimizer {
			return optim.SGD(model, rate, append(numbers, optim.Momentum(momentum))...)
		}
		return checkRate(text, rate)
	}}
}

func checkRate(text string, rate float64) error {
	if !(rate > 0) || math.IsInf(rate, 1) {
		return fmt.Errorf("accel: %s: the learning rate must be positive and finite", text)
	}
	return nil
}

// WeightDecay shrinks the parameters at each step; see [optim.WeightDecay]. By
// default AdamW has 0.01 and SGD none.
func WeightDecay(decay float64) Option {
	text := fmt.Sprintf("WeightDecay(%g)", decay)
	return Option{text, func(c *options) error {
		if !(decay >= 0) || math.IsInf(decay, 1) {
			return fmt.Errorf("accel: %s: the decay must be at least 0 and finite", text)
		}
		c.numbers = append(c.numbers, optim.WeightDecay(decay))
		return nil
	}}
}

// WarmupCosine raises the learning rate over the first steps and lowers it to
// zero along half a cosine until the end of training; see [optim.WarmupCosine].
func WarmupCosine(steps int) Option {
	return plain(fmt.Sprintf("WarmupCosine(%d)", steps), func(c *options) {
		c.schedule = func(total int) optim.Schedule { return optim.WarmupCosine(steps, total) }
	})
}

// OneCycle raises the learning rate during the first 30 % of the training and
// lowers it until its end; see [optim.OneCycle].
func OneCycle() Option {
	return plain("OneCycle()", func(c *options) { c.schedule = optim.OneCycle })
}

// StepDecay multiplies the learning rate by factor after every so many steps.
func StepDecay(every int, factor float64) Option {
	return plain(fmt.Sprintf("StepDecay(%d, %g)", every, factor), func(c *options) {
		c.schedule = func(int) optim.Schedule { return optim.StepDecay(every, factor) }
	})
}

// ClipNorm scales the gradients of a step down when their common L2 norm is
// above this limit.
func ClipNorm(limit float64) Option {
	text := fmt.Sprintf("ClipNorm(%g)", limit)
	return Option{text, func(c *options) error {
		if !(limit > 0) {
			return fmt.Errorf("accel: %s: the limit must be positive", text)
		}
		c.numbers = append(c.numbers, optim.ClipNorm(limit))
		return nil
	}}
}

// Accumulate updates the parameters after every n batches, with the gradient
// of their examples taken together: BatchSize(64) with Accumulate(4) computes
// what BatchSize(256) would, in a quarter of the memory. A group at the end of
// an epoch may be smaller and still counts each example once.
func Accumulate(n int) Option {
	return count("Accumulate", n, func(c *options) *int { return &c.accumulate })
}

// Minimize sets the loss, which must be the mean over the batch. The default
// is [nn.CrossEntropy] for classes and [nn.MSE] for targets.
func Minimize(loss func(prediction, target *Tensor) *Tensor) Option {
	return plain("Minimize(loss)", func(c *options) { c.loss = loss })
}

// Validate measures loss and accuracy on another set after each epoch, or
// whenever [EvalEvery] says.
func Validate(set *data.Set) Option {
	if set == nil {
		return Option{"Validate(nil)", func(*options) error {
			return errors.New("accel: Validate(nil): there is no set; was the error of making it read?")
		}}
	}
	text := fmt.Sprintf("Validate(%s)", set.Name())
	return Option{text, func(c *options) error {
		if set.Len() == 0 {
			return fmt.Errorf("accel: %s: the set is empty", text)
		}
		c.validate = set
		return nil
	}}
}

// EvalEvery validates after every so many steps and at the end instead of
// after each epoch.
func EvalEvery(steps int) Option {
	return count("EvalEvery", steps, func(c *options) *int { return &c.evalEvery })
}

// EarlyStop ends training when the validation loss has not fallen for patience
// validations in a row, and leaves the model with the weights of the best one.
func EarlyStop(patience int) Option {
	return count("EarlyStop", patience, func(c *options) *int { return &c.patience })
}

// Live draws the run while it goes on, in one output that changes in place at
// most twice a second. Without metrics it draws loss and accuracy.
func Live(metrics ...Metric) Option {
	names := make([]string, len(metrics))
	for i, m := range metrics {
		names[i] = m.String()
	}
	if len(metrics) == 0 {
		metrics = []Metric{Loss, Accuracy}
	}
	return plain("Live("+strings.Join(names, ", ")+")", func(c *options) { c.live = metrics })
}

// Quiet shows nothing while training, not even a line of progress.
func Quiet() Option {
	return plain("Quiet()", func(c *options) { c.quiet = true })
}

// AMP asks for mixed precision: 16-bit floats for the products of matrices
// where the device has them. The CPU has none and computes in float32; the
// summary of the run says so.
func AMP() Option {
	return plain("AMP()", func(c *options) { c.amp = true })
}
