package tune

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"runtime"
	"time"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/internal/training/interrupt"
	"github.com/quernlab/quern/accel/internal/training/trials"
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
// Run calls accel.Seed before each trial. [OnRanks] makes trials side by side.
func Run(ctx context.Context, objective func(*Trial) (float64, error), given ...Option) (*Search, error) {
	if err := interrupt.RequireContext(ctx, "tune: Run"); err != nil {
		return &Search{space: map[string]dimension{}}, err
	}
	o, err := newOptions("Run", given)
	if err != nil {
		return &Search{space: map[string]dimension{}}, trials.Same(ctx, o.group, trials.Call{}, err)
	}
	return run(ctx, objective, o)
}

func run(ctx context.Context, objective func(*Trial) (float64, error), o *options) (*Search, error) {
	s := &Search{space: map[string]dimension{}}
	if objective == nil {
		return s, trials.Same(ctx, o.group, trials.Call{}, errors.New("tune: Run: objective is nil"))
	}
	s.begin(o)
	if err := s.share(ctx, objective, o); err != nil {
		return s, err
	}
	s.screen = newScreen(ctx, s, o)
	defer s.screen.close(s)
	return s, s.run(ctx, objective, o)
}

func (s *Search) begin(o *options) {
	s.Method, s.Maximized = o.method, o.maximize
	if o.halving != nil {
		s.Method += fmt.Sprintf(", Halving(%d, %d)", o.halving.first, o.halving.factor)
	}
	s.together = max(o.together, 1)
	if o.together == 0 && o.group != nil {
		s.together = o.group.Size()
	}
	if s.together > 1 {
		s.Method += fmt.Sprintf(", Concurrent(%d)", s.together)
	}
	s.sampler, s.halving, s.budget, s.seed = o.sampler, o.halving, o.budget, o.seed
}

// nameOf returns the name of a function and its line. Ranks that run other programs have others.
func nameOf(objective func(*Trial) (float64, error)) string {
	f := runtime.FuncForPC(reflect.ValueOf(objective).Pointer())
	if f == nil {
		return ""
	}
	_, line := f.FileLine(f.Entry())
	return fmt.Sprintf("%s of line %d", f.Name(), line)
}

// share reads the trials of the file of [Resume], on rank 0, and gives them to all ranks.
func (s *Search) share(ctx context.Context, objective func(*Trial) (float64, error), o *options) error {
	if o.group == nil {
		return s.resume(o.file)
	}
	what := fmt.Sprintf("%s, Trials(%d), Budget(%d), Seed(%d), Maximize: %t, objective %s", s.Method, o.trials, o.budget, o.seed, o.maximize, nameOf(objective))
	if err := trials.Same(ctx, o.group, trials.Call{Arguments: what}, nil); err != nil {
		return fmt.Errorf("tune: Run: %w", err)
	}
	// All ranks call Run with one job, which rank 0 has.
	known, err := trials.Run(ctx, o.group, 1, func(int) (lines [][]byte, err error) {
		if err := s.resume(o.file); err != nil {
			return nil, err
		}
		for _, t := range s.Trials {
			line, err := json.Marshal(t.record())
			if err != nil {
				return nil, err
			}
			lines = append(lines, line)
		}
		return lines, nil
	})
	if err != nil || o.group.First() {
		return err
	}
	for _, line := range known[0] {
		t, err := decode(line)
		if err != nil {
			return fmt.Errorf("tune: Run: a trial of rank 0: %w", err)
		}
		s.keep(t)
	}
	return nil
}

// keep adds a trial that has ended.
func (s *Search) keep(t *Trial) {
	t.search = s
	s.Trials = append(s.Trials, t)
	s.spent += len(t.Reports)
}

func (s *Search) run(ctx context.Context, objective func(*Trial) (float64, error), o *options) error {
	for len(s.Trials) < o.trials {
		first := len(s.Trials)/s.size()*s.size() + 1 // of the round, some of which a file may contain
		if s.budget > 0 && units(s.Trials[:first-1]) >= s.budget {
			return nil
		}
		if err := ctx.Err(); err != nil && o.group == nil {
			return err
		}
		s.plan(first, min(first+s.size()-1, o.trials))
		rest := s.round[min(len(s.Trials)-first+1, len(s.round)):]
		if len(rest) == 0 {
			s.note("all combinations have been tried")
			return nil
		}
		lines, err := trials.Run(ctx, o.group, len(rest), func(i int) ([]byte, error) { return s.try(ctx, objective, rest[i]) })
		if err == nil {
			if err := s.compareRanges(ctx, objective, o.group, lines); err != nil {
				return err
			}
		}
		for i, line := range lines {
			if line == nil { // the trial has failed
				break
			}
			if kept, failed := s.add(rest[i], line); failed != nil {
				return errors.Join(err, failed)
			} else if !kept {
				break
			}
		}
		if err != nil {
			if o.group != nil && !interrupt.Is(err) {
				err = fmt.Errorf("tune: Run: %w", err)
			}
			return err
		}
	}
	return nil
}

// plan begins the trials of a round, on all ranks alike. The round ends before a trial for which there is nothing left to try.
func (s *Search) plan(first, last int) {
	s.space = map[string]dimension{}
	for _, t := range s.Trials[:first-1] {
		maps.Copy(s.space, t.ranges)
	}
	s.round = nil
	for n := first; n <= last; n++ {
		t := &Trial{Number: n, search: s, random: stream(s.seed, n), sampler: s.sampler()}
		if !t.sampler.begin(s, t) {
			return
		}
		s.round = append(s.round, t)
	}
}

// try makes a trial and returns its record; nil if it has failed.
func (s *Search) try(ctx context.Context, objective func(*Trial) (float64, error), t *Trial) (line []byte, err error) {
	accel.Seed(t.Seed())
	t.began = time.Now()
	value, err := t.try(objective)
	s.running = 0
	if ctx.Err() != nil {
		// The value may come from an incomplete training. A resumed search repeats the
		// trial.
		return nil, ctx.Err()
	}
	if err := t.end(value, err); err != nil {
		return nil, err
	}
	return json.Marshal(t.record())
}

// add appends a trial that has ended. It returns false if the trial, which ran at the same time as the previous one, has other settings
// than it must have after that.
func (s *Search) add(t *Trial, line []byte) (kept bool, err error) {
	sampler := t.sampler
	if t.State == "" { // it ran on another rank
		ended, err := decode(line)
		if err != nil {
			return false, fmt.Errorf("tune: Run: trial %d of another rank: %w", t.Number, err)
		}
		ended.gridStart = t.gridStart
		t = ended
	}
	if f, ok := sampler.(interface{ follows(previous, t *Trial) bool }); ok && len(s.Trials) > 0 && !f.follows(s.Trials[len(s.Trials)-1], t) {
		return false, nil
	}
	for name, d := range t.ranges {
		if before, ok := s.space[name]; ok && !before.like(d) {
			return false, &SettingError{Name: name, Trial: t.Number, Reason: fmt.Sprintf("its range is %v here, but was %v before", d, before)}
		}
	}
	maps.Copy(s.space, t.ranges)
	s.keep(t)
	if err := s.file.write(t); err != nil {
		return false, err
	}
	s.screen.offer(s)
	return true, nil
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
