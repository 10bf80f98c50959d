package accel

import (
	"errors"
	"fmt"
	"strings"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/parallel"
)

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
	watches    bool           // the schedule depends on validation
	numbers    []optim.Option // of the optimiser's formula
	accumulate int            // 1
	validate   *data.Dataset
	evalEvery  int // steps; 0 for every epoch
	patience   int
	live       []Metric // nil for none
	quiet      bool
	observers  []Observer // of the user, and of functions that train
	checkpoint string     // path; "" for none
	saveEvery  int        // steps; 0 for every epoch only

	like nn.Module // that a model is evaluated as; nil for itself

	optimizerText, scheduleText string // as they are written in Go; "" for none

	group         *parallel.Group // nil for one process
	device        string          // "" for the one in use
	tensorBoard   string          // folder; "" for none
	track         string          // likewise
	label         string          // what the run is called where it is tracked
	absoluteRates bool            // the schedule gives rates, not factors
	afterStep     []func(updates int) error
	stop          func(*Run) bool // asked after each step and validation; nil for never
	mixup         float64         // alpha; 0 for none
	recompute     bool            // cut the model's chains
	amp           bool
	precision     Precision // 0 leaves it to the device
	given         []Option  // as they were given, in order
}

func newOptions(given []Option) (*options, error) {
	c := &options{workers: defaultWorkers, accumulate: 1}
	if err := c.apply(inFit, given); err != nil {
		return nil, err
	}
	if c.epochs == 0 && c.steps == 0 {
		c.epochs = defaultEpochs
	}
	if c.batchSize == 0 {
		c.batchSize = defaultBatchSize
	}
	if c.optimizer == nil {
		if err := AdamW(defaultRate).set(c); err != nil {
			return nil, err
		}
	}
	if c.patience > 0 && c.validate == nil {
		return nil, fmt.Errorf("accel: EarlyStopping(%d) needs a set to watch: add Validate(set)", c.patience)
	}
	if c.watches && c.validate == nil {
		return nil, errors.New("accel: ReduceLROnPlateau needs a set to watch: add Validate(set)")
	}
	if c.saveEvery > 0 && c.checkpoint == "" {
		return nil, fmt.Errorf("accel: SaveEvery(%d) needs a file: add Resume(path)", c.saveEvery)
	}
	return c, nil
}

// alone leaves out what watches a run, shows it or keeps it.
func (c *options) alone() {
	c.validate, c.evalEvery, c.patience = nil, 0, 0
	c.live = nil
	c.checkpoint, c.saveEvery, c.tensorBoard, c.track = "", 0, "", ""
	c.stop, c.observers = nil, nil
}

const (
	defaultEpochs    = 5
	defaultBatchSize = 64
	defaultRate      = 1e-3
	defaultWorkers   = 2
)

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

// BatchSize returns the number of examples in a batch; the default is 64. The last
// batch of an epoch holds the rest and is smaller.
func BatchSize(n int) Option {
	return count("BatchSize", n, func(c *options) *int { return &c.batchSize })
}

// Workers makes n batches ahead, each on a goroutine of its own; the default
// is 2. The result of training is the same for every n.
func Workers(n int) Option {
	return plain(fmt.Sprintf("Workers(%d)", n), func(c *options) { c.workers = n }).perRank()
}

// Accumulate updates the parameters after every n batches, with the gradient
// of their examples taken together: BatchSize(64) with Accumulate(4) computes
// what BatchSize(256) would, in a quarter of the memory. A group at the end of
// an epoch may be smaller and still counts each example once. Layers that look
// at a batch as a whole, nn.BatchNorm, still see the small ones.
func Accumulate(n int) Option {
	return count("Accumulate", n, func(c *options) *int { return &c.accumulate })
}

// Minimize sets the loss, which must be the mean over the batch. The default
// is [nn.CrossEntropy] for classes and [nn.MSE] for targets.
func Minimize(loss func(prediction, target *Tensor) *Tensor) Option {
	return fitOption("Minimize(loss)", func(c *options) error {
		switch {
		case loss == nil:
			return errors.New("accel: Minimize(nil): there is no loss")
		case c.loss != nil:
			return errors.New("accel: Minimize is given twice: a training has one loss; add up the two in one function")
		}
		c.loss = loss
		return nil
	}).in(inFit | inEvaluate)
}

// Validate measures loss and accuracy on another set after each epoch, or
// whenever [ValidateEvery] says.
func Validate(set *data.Dataset) Option {
	if set == nil {
		return fitOption("Validate(nil)", func(*options) error {
			return errors.New("accel: Validate(nil): the data set is nil: check the error returned where it was created")
		})
	}
	text := fmt.Sprintf("Validate(%s)", set.Name())
	return fitOption(text, func(c *options) error {
		if set.Len() == 0 {
			return fmt.Errorf("accel: %s: the set is empty", text)
		}
		if c.validate != nil {
			return fmt.Errorf("accel: Validate(%s) and %s: a training has one set for validation; Evaluate measures the model on others", c.validate.Name(), text)
		}
		c.validate = set
		return nil
	})
}

// ValidateEvery validates after every so many steps and at the end instead of
// after each epoch.
func ValidateEvery(steps int) Option {
	return count("ValidateEvery", steps, func(c *options) *int { return &c.evalEvery })
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
	return plain("Live("+strings.Join(names, ", ")+")", func(c *options) { c.live = metrics }).output()
}

// AfterStep calls a function after every update of the parameters, with the number of
// updates so far, those of a resumed training included. It may change parameters, under
// [tensor.NoGrad], before anybody else sees them: what holds some of them at zero does
// so. Its error ends the training.
func AfterStep(do func(updates int) error) Option {
	return fitOption("AfterStep(do)", func(c *options) error {
		if do == nil {
			return errors.New("accel: AfterStep(nil): there is no function to call")
		}
		c.afterStep = append(c.afterStep, do)
		return nil
	})
}

// StopWhen ends training when the function is true. It is called after every step
// and every validation with the run so far, which it must not change and whose
// newest step may be one behind.
func StopWhen(done func(*Run) bool) Option {
	return fitOption("StopWhen(done)", func(c *options) error {
		if done == nil {
			return errors.New("accel: StopWhen(nil): there is no function to ask")
		}
		before := c.stop
		c.stop = func(r *Run) bool { return before != nil && before(r) || done(r) }
		return nil
	})
}

// Quiet shows nothing while training, not even a line of progress.
func Quiet() Option {
	return plain("Quiet()", func(c *options) { c.quiet = true }).output()
}
