package accel

import (
	"errors"
	"fmt"

	"github.com/quernlab/quern/accel/history"
	"github.com/quernlab/quern/accel/internal/interrupt"
	"github.com/quernlab/quern/accel/nn"
)

// observers passes the events of a training to all observers.
type observers struct {
	all      []history.Observer
	training *history.Training
	begun    int  // number of observers whose Begin was called
	stop     bool // an observer has returned ErrStop
}

// result records ErrStop and returns other errors with the name of the observer.
func (o *observers) result(who history.Observer, err error) error {
	if errors.Is(err, history.ErrStop) {
		o.stop = true
		return nil
	}
	var diverged *history.DivergedError
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
type ownObserver struct{ history.NopObserver }

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
func (o *observers) pass(to history.Observer, event func() error) (err error) {
	defer func() { err = o.result(to, err) }()
	defer nn.Catch(&err)
	return event()
}

// each passes an event to all observers, whatever one of them returns.
func (o *observers) each(event func(history.Observer) error) (err error) {
	for _, observer := range o.all {
		err = joinErrors(err, o.pass(observer, func() error { return event(observer) }))
	}
	return err
}

func (o *observers) step(s history.Step) error {
	return o.each(func(observer history.Observer) error { return observer.Step(o.training, s) })
}

func (o *observers) validation(c history.Validation) error {
	return o.each(func(observer history.Observer) error { return observer.Validation(o.training, c) })
}

func (o *observers) epoch(e history.Epoch) error {
	return o.each(func(observer history.Observer) error { return observer.Epoch(o.training, e) })
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
