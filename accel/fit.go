package accel

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/prof"
	"github.com/quernlab/quern/accel/tensor"
)

// Fit trains a model on a set. Without options it makes five passes in batches
// of 64 with AdamW at 1e-3.
//
// Examples come in an order that [Seed] fixes, another one in each epoch. The
// model is put into training mode, and left in it.
//
// Fit returns what was done, also with an error: when ctx is done, the run so
// far and the error of the context; when the loss stops being a number,
// [*DivergedError]; when the model cannot take the examples, an error that
// wraps [*ShapeError] and names the layer.
//
// Models are trained one after the other: a second Fit that is started meanwhile
// is refused with [ErrBusy]. Other models may be evaluated, and applied, on other
// goroutines meanwhile, and change nothing in the training; the model itself may
// not, since it is in training mode.
func Fit(ctx context.Context, model nn.Module, train *data.Dataset, options ...Option) (run *Run, err error) {
	run = &Run{Best: -1}
	o, err := newOptions(options)
	if err != nil {
		return run, err
	}
	switch {
	case model == nil:
		return run, errors.New("accel: Fit: the model is nil")
	case train == nil:
		return run, errors.New("accel: Fit: the training set is nil: check the error returned where it was created")
	case train.Len() == 0:
		return run, fmt.Errorf("accel: Fit: %s is empty", train.Name())
	}
	schema := train.Schema()
	if o.validate != nil {
		if err := schema.Check(o.validate); err != nil {
			return run, fmt.Errorf("accel: Validate(%s): %w", o.validate.Name(), err)
		}
	}
	if o.mixup > 0 && train.SequenceLength() > 0 {
		return run, fmt.Errorf("accel: Mixup(%g): the examples of %s are tokens, which cannot be mixed", o.mixup, train.Name())
	}
	if !oneFit.TryLock() {
		return run, ErrBusy
	}
	defer oneFit.Unlock()
	back, err := o.useDevice()
	if err != nil {
		return run, err
	}
	defer func() { err = errors.Join(err, back()) }()
	whole, err := o.beginRecompute(ctx, model, train)
	if err != nil {
		return run, err
	}
	defer whole()
	if prof.ToolAttached() {
		if stop, err := prof.NVTX(); err == nil { // else the program does so itself
			defer stop()
		}
	}
	l := newLoop(model, train, o, run)
	if err := l.beginStrategy(ctx); err != nil {
		return run, err
	}
	l.observe(ctx)
	returned := false
	defer func() { // also when the model panics
		err := err
		if !returned {
			err = errors.New("accel: Fit: the model has panicked")
		}
		l.end(err)
		if len(run.Steps) > 0 {
			(&training{schema: schema, loss: l.loss}).remember(model)
		}
		defer l.strategy.end(err, returned)
		l.observers.end(err)
	}()
	run.peakBytes = tensor.PeakBytes(func() { err = l.train(ctx) })
	returned = true
	return run, err
}

// ErrBusy says that another Fit is running.
var ErrBusy = errors.New("accel: Fit: a model is being trained already; models are trained one after the other")

// oneFit is held by the Fit that runs.
var oneFit sync.Mutex
