package accel_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/nn"
)

// events records the events of a training, and returns the result of do.
type events struct {
	name string
	log  *[]string
	do   func(event string) error
}

func (e *events) event(format string, values ...any) error {
	text := fmt.Sprintf(format, values...)
	*e.log = append(*e.log, e.name+text)
	if e.do == nil {
		return nil
	}
	return e.do(text)
}

func (e *events) Begin(t *accel.Training) error {
	return e.event("begin %d of %d", len(t.Run.Steps), t.TotalSteps)
}

func (e *events) Step(t *accel.Training, s accel.Step) error {
	if got := t.Run.Steps[len(t.Run.Steps)-1]; got != s {
		return fmt.Errorf("the step is %v, the newest of the run %v", s, got)
	}
	return e.event("step %d", len(t.Run.Steps))
}

func (e *events) Validation(t *accel.Training, c accel.Validation) error {
	return e.event("check %d", c.Step)
}

func (e *events) Epoch(t *accel.Training, p accel.Epoch) error { return e.event("epoch %d", p.Steps) }

func (e *events) End(_ *accel.Training, err error) { _ = e.event("end %v", err) }

func TestObserve(t *testing.T) {
	train, test := digits(t)
	train = train.First(120)
	failure := errors.New("no more")
	at := func(event string, err error) func(string) error {
		return func(e string) error {
			if e == event {
				return err
			}
			return nil
		}
	}
	for _, row := range []struct {
		name    string
		do      func(string) error
		options []accel.Option
		want    string
		err     error
		steps   int
	}{
		{"complete", nil, nil, "begin 0 of 4, step 1, step 2, check 2, epoch 2, step 3, step 4, check 4, epoch 4, end <nil>", nil, 4},
		{"stop at the beginning", at("begin 0 of 4", accel.ErrStop), nil, "begin 0 of 4, end <nil>", nil, 0},
		// The loss of the first step is read after the second has been computed.
		{"stop after a step", at("step 1", accel.ErrStop), nil, "begin 0 of 4, step 1, step 2, epoch 2, end <nil>", nil, 2},
		{"stop at a check", at("check 2", fmt.Errorf("enough: %w", accel.ErrStop)), nil, "begin 0 of 4, step 1, step 2, check 2, epoch 2, end <nil>", nil, 2},
		{"stop after an epoch", at("epoch 2", accel.ErrStop), nil, "begin 0 of 4, step 1, step 2, check 2, epoch 2, end <nil>", nil, 2},
		{"fail at the beginning", at("begin 0 of 4", failure), nil, "begin 0 of 4, end accel: Observe(*accel_test.events): no more", failure, 0},
		{"fail at a step", at("step 1", failure), nil, "begin 0 of 4, step 1, epoch 1, end accel: Observe(*accel_test.events): no more", failure, 1},
		{"fail at a check", at("check 2", failure), nil, "begin 0 of 4, step 1, step 2, check 2, epoch 2, end accel: Observe(*accel_test.events): no more", failure, 2},
		{"fail after an epoch", at("epoch 2", failure), nil, "begin 0 of 4, step 1, step 2, check 2, epoch 2, end accel: Observe(*accel_test.events): no more", failure, 2},
		{"early stopping", nil, []accel.Option{accel.SGD(1e-30, 0), accel.EarlyStopping(1)}, "begin 0 of 4, step 1, step 2, check 2, epoch 2, step 3, step 4, check 4, epoch 4, end <nil>", nil, 4},
	} {
		t.Run(row.name, func(t *testing.T) {
			var log []string
			options := append([]accel.Option{accel.BatchSize(60), accel.Epochs(2), accel.Validate(test), accel.Quiet(), accel.Observe(&events{"", &log, row.do})}, row.options...)
			run, err := accel.Fit(t.Context(), mlp(4), train, options...)
			if got := strings.Join(log, ", "); got != row.want {
				t.Errorf("got  %s\nwant %s", got, row.want)
			}
			if !errors.Is(err, row.err) || (err == nil) != (row.err == nil) || len(run.Steps) != row.steps {
				t.Errorf("%d steps, %v", len(run.Steps), err)
			}
			if !slices.Contains(run.Options, "Observe(*accel_test.events)") {
				t.Error(run.Options)
			}
		})
	}
	if _, err := accel.Fit(t.Context(), mlp(4), train, accel.Observe(nil)); err == nil || err.Error() != "accel: Observe(nil): the observer is nil" {
		t.Error(err)
	}
}

// TestObserversEnd requires End for all observers that have begun, in reverse order, also after
// a panic, with the weights that Fit leaves the model with.
func TestObserversEnd(t *testing.T) {
	train, test := digits(t)
	train = train.First(120)
	fit := func(ctx context.Context, model nn.Module, second func(string) error) (ends []string) {
		var log []string
		defer func() {
			if p := recover(); p != nil {
				log = append(log, fmt.Sprint("panic ", p))
			}
			for _, event := range log {
				if strings.Contains(event, "end") || strings.Contains(event, "panic") {
					ends = append(ends, event)
				}
			}
		}()
		_, _ = accel.Fit(ctx, model, train, accel.BatchSize(60), accel.Epochs(4), accel.Validate(test), accel.Quiet(),
			accel.Observe(&events{"a ", &log, nil}), accel.Observe(&events{"b ", &log, second}))
		return nil
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	broken := nn.Sequential(nn.Flatten(), nn.Lambda(func(x *nn.Tensor) *nn.Tensor { panic("a bug") }))
	for name, row := range map[string]struct {
		ctx    context.Context
		model  nn.Module
		second func(string) error
		want   []string
	}{
		"interrupted": {stopped, mlp(4), nil, []string{"b end context canceled", "a end context canceled"}},
		"panic":       {t.Context(), broken, nil, []string{"b end accel: Fit: the model has panicked: a bug", "a end accel: Fit: the model has panicked: a bug", "panic a bug"}},
		"panic at the end": {stopped, mlp(4), func(event string) error {
			if strings.HasPrefix(event, "end") {
				panic("a bug of b")
			}
			return nil
		}, []string{"b end context canceled", "a end context canceled", "panic a bug of b"}},
	} {
		if got := fit(row.ctx, row.model, row.second); !slices.Equal(got, row.want) {
			t.Errorf("%s: got %q, want %q", name, got, row.want)
		}
	}
	// At the end the model has the best weights; it is evaluated with the loss of its training.
	model := mlp(4)
	accel.Seed(3)
	last := &lastLoss{evaluate: func() float64 {
		result, err := accel.Evaluate(t.Context(), model, test)
		if err != nil {
			t.Fatal(err)
		}
		return result.Loss()
	}}
	run, err := accel.Fit(t.Context(), model, train, accel.Epochs(20), accel.AdamW(0.3), accel.Validate(test), accel.EarlyStopping(2), accel.Observe(last), accel.Quiet())
	if err != nil || run.Best == len(run.Validations)-1 {
		t.Fatal(run, err)
	}
	if last.loss != run.Validations[run.Best].Loss {
		t.Errorf("at the end the loss is %v, the best was %v", last.loss, run.Validations[run.Best].Loss)
	}
}

// lastLoss evaluates the model in End.
type lastLoss struct {
	accel.NopObserver
	evaluate func() float64
	loss     float64
}

func (l *lastLoss) End(*accel.Training, error) { l.loss = l.evaluate() }
