package loop

import (
	"errors"
	"fmt"

	"github.com/quernlab/quern/accel/history"
	"github.com/quernlab/quern/accel/internal/training/interrupt"
	"github.com/quernlab/quern/accel/nn"
)

// observers passes the events of a training to all observers.
type observers struct {
	all      []history.Observer
	training *history.Training
	users    int  // number of observers of the user, the first of all
	begun    int  // number of observers whose Begin was called
	stop     bool // an observer has returned ErrStop
}

// result records ErrStop and returns other errors with the name of the observer.
func (o *observers) result(number int, err error) error {
	if errors.Is(err, history.ErrStop) {
		o.stop = true
		return nil
	}
	var diverged *history.DivergedError
	if err == nil || interrupt.Is(err) || errors.As(err, &diverged) { // a DivergedError names its cause itself
		return err
	}
	if number >= o.users { // one of ours, whose errors need no prefix
		return err
	}
	return fmt.Errorf("accel: Observe(%T): %w", o.all[number], err)
}

// begin stops at the first error: only observers that have begun will be ended.
func (o *observers) begin() error {
	for i, observer := range o.all {
		o.begun++
		if err := o.pass(i, func() error { return observer.Begin(o.training) }); err != nil {
			return err
		}
	}
	return nil
}

// pass passes an event to the observer of this number.
func (o *observers) pass(number int, event func() error) (err error) {
	defer func() { err = o.result(number, err) }()
	defer nn.Catch(&err)
	return event()
}

// each passes an event to all observers, whatever one of them returns.
func (o *observers) each(event func(history.Observer) error) (err error) {
	for i, observer := range o.all {
		err = joinErrors(err, o.pass(i, func() error { return event(observer) }))
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
		number := o.begun
		var others error
		last := o.pass(number, func() error {
			defer func() {
				if p := recover(); p != nil {
					others = o.end(err)
					panic(p)
				}
			}()
			o.all[number].End(o.training, err)
			return nil
		})
		failed = joinErrors(failed, joinErrors(last, others))
	}
	return failed
}

// joinErrors joins two errors, either of which may be nil.
func joinErrors(a, b error) error {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	case interrupt.Is(a) && interrupt.Is(b):
		return a
	}
	return errors.Join(a, b)
}
