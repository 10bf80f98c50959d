package tune

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/internal/training/interrupt"
	"github.com/quernlab/quern/accel/tensor"
)

// Run calls an objective with one [Trial] after the other and searches for the settings that
// minimize its result. By default it makes thirty trials with [TPE].
//
// If an objective returns NaN, an infinity, an [accel.DivergedError] or a
// [tensor.OutOfMemoryError], its settings do not work, and the search continues. Any other
// error ends the search: as a [*TrialError], as a [*SettingError] for a setting without values,
// or as the error of the context. The search so far is returned with the error, without the
// trial during which ctx ended.
//
// Run calls accel.Seed before each trial.
func Run(ctx context.Context, objective func(*Trial) (float64, error), given ...Option) (*Search, error) {
	o, err := newOptions("Run", given)
	if err != nil {
		return &Search{space: map[string]dimension{}}, err
	}
	return run(ctx, objective, o)
}

func run(ctx context.Context, objective func(*Trial) (float64, error), o *options) (*Search, error) {
	s := &Search{space: map[string]dimension{}}
	if objective == nil {
		return s, errors.New("tune: Run: objective is nil")
	}
	s.begin(o)
	if err := s.resume(o.file); err != nil {
		return s, err
	}
	s.screen = newScreen(ctx, s, o)
	defer s.screen.close(s)
	return s, s.run(ctx, objective, o.trials)
}

func (s *Search) begin(o *options) {
	s.Method, s.Maximized = o.method, o.maximize
	if o.halving != nil {
		s.Method += fmt.Sprintf(", Halving(%d, %d)", o.halving.first, o.halving.factor)
	}
	s.sampler, s.halving, s.budget, s.seed = o.sampler, o.halving, o.budget, o.seed
}

func (s *Search) run(ctx context.Context, objective func(*Trial) (float64, error), trials int) error {
	for len(s.Trials) < trials && (s.budget == 0 || s.spent < s.budget) {
		if err := ctx.Err(); err != nil {
			return err
		}
		t := &Trial{Number: len(s.Trials) + 1, search: s}
		t.random = stream(s.seed, t.Number)
		if !s.sampler.begin(s, t) {
			s.note("all combinations have been tried")
			return nil
		}
		accel.Seed(t.Seed())
		t.began = time.Now()
		value, err := t.try(objective)
		if ctx.Err() != nil {
			// The value may come from an incomplete training. A resumed search repeats the
			// trial.
			return ctx.Err()
		}
		if err := t.end(value, err); err != nil {
			return err
		}
		s.Trials = append(s.Trials, t)
		if err := s.file.write(t); err != nil {
			return err
		}
		s.screen.offer(s)
	}
	return nil
}

// try calls the objective. It returns an invalid request of a setting as an error.
func (t *Trial) try(objective func(*Trial) (float64, error)) (value float64, err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *SettingError:
			err = p
		default:
			panic(p) // a bug in the objective
		}
	}()
	defer interrupt.Catch(&err)
	return objective(t)
}

// end records the outcome of a trial.
func (t *Trial) end(value float64, err error) error {
	t.Seconds = time.Since(t.began).Seconds()
	var (
		setting  *SettingError
		diverged *accel.DivergedError
		memory   *tensor.OutOfMemoryError
	)
	switch {
	case errors.As(err, &setting):
		return setting
	case errors.As(err, &diverged):
		t.State, t.Value = Diverged, math.NaN()
	case errors.As(err, &memory):
		t.State, t.Value = OutOfMemory, math.NaN()
		return nil
	case err != nil:
		return &TrialError{Trial: t, Err: err}
	case t.stopped:
		t.State, t.Value = Stopped, t.Reports[len(t.Reports)-1].Value
	default:
		t.State, t.Value = Finished, value
	}
	if !finite(t.Value) {
		t.State, t.Value = Diverged, math.NaN()
	}
	return nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
