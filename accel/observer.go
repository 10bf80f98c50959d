package accel

import (
	"errors"
	"fmt"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/internal/interrupt"
	"github.com/quernlab/quern/accel/nn"
)

// Observer follows a training; [Observe] registers it. Fit calls its methods on its own
// goroutine, one after the other. A method may return [ErrStop] to end the training early as if
// it had been planned that way; any other error ends the training with that error. Embed
// [NopObserver] to implement only some of the methods.
//
// Fit reads the loss of a step while the next step is computed, so that a GPU does not wait.
// When Step is called, the parameters may therefore already be one update newer than s. When
// Validation and Epoch are called, they are those of the newest step.
type Observer interface {
	// Begin is called before the first step. If the training is resumed, t.Run has its history.
	Begin(t *Training) error
	// Step is called after the loss of a step has been read.
	Step(t *Training, s Step) error
	// Validation is called after each validation.
	Validation(t *Training, c Validation) error
	// Epoch is called after each pass over the data set, also after one that was interrupted or
	// stopped.
	Epoch(t *Training, e Epoch) error
	// End is called when the training has ended, with the error that Fit returns, nil for none.
	// The model has its final weights. If Begin was called, End is called exactly once, also
	// after an error and after a panic of the model, in reverse order of registration.
	End(t *Training, err error)
}

// Training is what an [Observer] knows of the training that it follows.
type Training struct {
	// Run is the history so far. Observers must not change it.
	Run        *Run
	Model      nn.Module     // with the weights of the last update
	Dataset    *data.Dataset // the training set
	TotalSteps int           // planned number of updates
}

// ErrStop is returned by a method of an [Observer] to end the training early. Fit then returns
// no error.
var ErrStop = errors.New("accel: an observer stopped the training")

// NopObserver is an [Observer] that does nothing. Embed it in observers that need only some of
// the methods.
type NopObserver struct{}

// Begin returns nil.
func (NopObserver) Begin(*Training) error { return nil }

// Step returns nil.
func (NopObserver) Step(*Training, Step) error { return nil }

// Validation returns nil.
func (NopObserver) Validation(*Training, Validation) error { return nil }

// Epoch returns nil.
func (NopObserver) Epoch(*Training, Epoch) error { return nil }

// End does nothing.
func (NopObserver) End(*Training, error) {}

// observers passes the events of a training to all observers.
type observers struct {
	all      []Observer
	training *Training
	begun    int  // number of observers whose Begin was called
	stop     bool // an observer has returned ErrStop
}

// result records ErrStop and returns other errors with the name of the observer.
func (o *observers) result(who Observer, err error) error {
	if errors.Is(err, ErrStop) {
		o.stop = true
		return nil
	}
	var diverged *DivergedError
	if err == nil || interrupt.Is(err) || errors.As(err, &diverged) { // a DivergedError names its cause itself
		return err
	}
	if _, ours := who.(builtIn); ours {
		return err
	}
	return fmt.Errorf("accel: Observe(%T): %w", who, err)
}

// builtIn is implemented by the observers of this package, whose errors need no prefix.
type builtIn interface{ builtIn() }

// ownObserver is embedded by the observers of this package.
type ownObserver struct{ NopObserver }

func (ownObserver) builtIn() {}

// begin stops at the first error: only observers that have begun will be ended.
func (o *observers) begin() error {
	for _, observer := range o.all {
		o.begun++
		if err := o.pass(observer, func() error { return observer.Begin(o.training) }); err != nil {
			return err
		}
	}
	return nil
}

// pass passes an event to an observer.
func (o *observers) pass(to Observer, event func() error) (err error) {
	defer func() { err = o.result(to, err) }()
	defer nn.Catch(&err)
	return event()
}

// each passes an event to all observers, whatever one of them returns.
func (o *observers) each(event func(Observer) error) (err error) {
	for _, observer := range o.all {
		err = joinErrors(err, o.pass(observer, func() error { return event(observer) }))
	}
	return err
}

func (o *observers) step(s Step) error {
	return o.each(func(observer Observer) error { return observer.Step(o.training, s) })
}

func (o *observers) validation(c Validation) error {
	return o.each(func(observer Observer) error { return observer.Validation(o.training, c) })
}

func (o *observers) epoch(e Epoch) error {
	return o.each(func(observer Observer) error { return observer.Epoch(o.training, e) })
}

// end ends the observers that have begun, in reverse order. If one panics, the others are still
// ended. The error is that of observers which were interrupted.
func (o *observers) end(err error) (failed error) {
	for o.begun > 0 {
		o.begun--
		observer := o.all[o.begun]
		var others error
		last := o.pass(observer, func() error {
			defer func() {
				if p := recover(); p != nil {
					others = o.end(err)
					panic(p)
				}
			}()
			observer.End(o.training, err)
			return nil
		})
		failed = joinErrors(failed, joinErrors(last, others))
	}
	return failed
}
