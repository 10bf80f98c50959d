package accel

import (
	"errors"
	"fmt"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
)

// Observer follows a training: [Observe] registers it. Its methods are called on the
// goroutine of [Fit], one after the other, and each may return [ErrStop] to end the
// training early, as if it had been planned so; any other error ends it with that
// error. Embed [NopObserver] to implement only some of the methods.
//
// The loss of a step is read while the next one is computed, so that a GPU does not
// wait. Step is therefore called when the parameters may already be those of one step
// later. At a validation and at the end of an epoch they are those of the newest step.
type Observer interface {
	// Begin is called before the first step, of a training that is resumed with its
	// history in t.Run.
	Begin(t *Training) error
	// Step is called after the loss of a step has been read.
	Step(t *Training, s Step) error
	// Validation is called after each validation.
	Validation(t *Training, c Validation) error
	// Epoch is called after each pass over the data set, also after one that was
	// interrupted or stopped.
	Epoch(t *Training, e Epoch) error
	// End is called when the training has ended, with the error that Fit returns, nil for
	// none. The model has the weights that Fit leaves it with. End is called exactly once
	// if Begin was called, also after an error and after a panic of the model, in reverse
	// order of registration.
	End(t *Training, err error)
}

// Training is the training that an [Observer] follows.
type Training struct {
	// Run is the history so far. Observers read it and do not change it.
	Run        *Run
	Model      nn.Module
	Dataset    *data.Dataset // the training set
	TotalSteps int           // updates of the parameters in all, unless it ends early
}

// ErrStop is returned by a method of an [Observer] to end the training early. Fit then
// returns no error.
var ErrStop = errors.New("accel: an observer ended the training")

// NopObserver is an [Observer] that does nothing, to be embedded.
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

// Observe calls the methods of an observer while the model is trained. With several
// observers each event goes to all of them, in the order in which they were given. With
// [DataParallel] every rank calls its own, and the training ends on all ranks when one
// observer asks for it.
func Observe(o Observer) Option {
	return fitOption(fmt.Sprintf("Observe(%T)", o), func(c *options) error {
		if o == nil {
			return errors.New("accel: Observe(nil): there is no observer")
		}
		c.observers = append(c.observers, o)
		return nil
	})
}

// observe is [Observe] for an observer of this package: not one of the user's options.
func observe(o Observer) Option {
	return plain("", func(c *options) { c.observers = append(c.observers, o) })
}

// observers gets the events of a training.
type observers struct {
	all      []Observer
	training *Training
	begun    int  // how many have been told of the beginning
	stop     bool // one of them has ended the training
}

// result notes ErrStop and returns other errors.
func (o *observers) result(who Observer, err error) error {
	if errors.Is(err, ErrStop) {
		o.stop = true
		return nil
	}
	var diverged *DivergedError
	if err == nil || errors.As(err, &diverged) { // which says where it comes from
		return err
	}
	if _, ours := who.(builtIn); ours {
		return err
	}
	return fmt.Errorf("accel: Observe(%T): %w", who, err)
}

// builtIn is implemented by the observers of this package, whose errors say enough.
type builtIn interface{ builtIn() }

// ownObserver is embedded by the observers of this package.
type ownObserver struct{ NopObserver }

func (ownObserver) builtIn() {}

// begin stops at the first error: only those that have begun will be ended.
func (o *observers) begin() error {
	for _, observer := range o.all {
		o.begun++
		if err := o.result(observer, observer.Begin(o.training)); err != nil {
			return err
		}
	}
	return nil
}

// each delivers an event to all, whatever one of them returns.
func (o *observers) each(event func(Observer) error) (err error) {
	for _, observer := range o.all {
		err = both(err, o.result(observer, event(observer)))
	}
	return err
}

func (o *observers) step(s Step) error {
	return o.each(func(observer Observer) error { return observer.Step(o.training, s) })
}

func (o *observers) check(c Validation) error {
	return o.each(func(observer Observer) error { return observer.Validation(o.training, c) })
}

func (o *observers) epoch(e Epoch) error {
	return o.each(func(observer Observer) error { return observer.Epoch(o.training, e) })
}

// end ends those that have begun, the last one first. A panic of one does not keep the
// others from their end.
func (o *observers) end(err error) {
	for o.begun > 0 {
		o.begun--
		observer := o.all[o.begun]
		func() {
			defer func() {
				if p := recover(); p != nil {
					o.end(err)
					panic(p)
				}
			}()
			observer.End(o.training, err)
		}()
	}
}
