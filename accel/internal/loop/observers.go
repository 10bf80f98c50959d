package loop

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/history"
	"github.com/quernlab/quern/accel/internal/interrupt"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
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
		err = JoinErrors(err, o.pass(i, func() error { return event(observer) }))
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
		failed = JoinErrors(failed, JoinErrors(last, others))
	}
	return failed
}

// observe creates the observers of the training: the user's, then those that other options
// need.
func (l *Loop) observe(ctx context.Context) {
	o := l.settings
	l.observers = &observers{training: l.training(), all: slices.Clone(o.Observers), users: len(o.Observers)}
	add := func(o history.Observer) { l.observers.all = append(l.observers.all, o) }
	for _, r := range o.recordings(ctx, l.record) {
		add(r)
	}
	if s, ok := l.schedule.(*optim.ReduceLROnPlateauSchedule); ok {
		add(&plateau{observe: s.Observe})
	}
	var stopping *earlyStopping
	if o.Patience > 0 {
		stopping = &earlyStopping{record: l.record, patience: o.Patience, criterion: o.Criterion, judged: o.judged()}
		add(stopping)
	}
	if o.Checkpoint != "" {
		l.resumption = &resumption{
			o: o, training: l.training(), record: l.record, position: &l.at, processes: l.strategy,
			optimizer: l.optimizer, scaler: l.precision.scaler, stopping: stopping,
		}
		add(l.resumption)
	}
	l.divergence = &divergence{
		record:            l.record,
		forward:           func(b data.Batch) { l.precision.cast(func() { l.forward(b) }) },
		stopSynchronizing: l.strategy.stopSynchronizing,
	}
	add(l.divergence)
	if e := newExaminer(l); e != nil {
		l.watch = e
		add(e) // the last one, whose End is the first: the model still has its last weights
	}
}
