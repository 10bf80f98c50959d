package tune

import (
	"context"
	"fmt"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/internal/training/trials"
	"github.com/quernlab/quern/accel/parallel"
)

// compareRanges returns an error on all ranks if the ranges of a setting depend on the rank, after a round of trials of which lines are the
// records. Each trial runs on one rank, so a range that differs between the trials of a round may depend on the rank or on the trial, which
// is allowed. For such a setting each rank therefore calls the objective for the same trial once more, up to the request.
func (s *Search) compareRanges(ctx context.Context, objective func(*Trial) (float64, error), group *parallel.Group, lines [][]byte) error {
	if group == nil || group.Size() == 1 {
		return nil
	}
	first := map[string]*Trial{}
	for _, line := range lines {
		t, err := decode(line)
		if err != nil {
			return fmt.Errorf("tune: Run: a trial of another rank: %w", err)
		}
		for _, setting := range t.Settings {
			name := setting.Name
			before, ok := first[name]
			if !ok {
				first[name] = t
				continue
			}
			if was, is := before.ranges[name], t.ranges[name]; s.compared[name] || !was.like(is) || was.equal(is) {
				continue
			}
			if s.compared == nil {
				s.compared = map[string]bool{}
			}
			s.compared[name] = true
			if err := s.compareRange(ctx, objective, group, before, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// compareRange compares the ranges that the ranks request for a setting of a trial that has ended.
func (s *Search) compareRange(ctx context.Context, objective func(*Trial) (float64, error), group *parallel.Group, t *Trial, name string) error {
	ranges, err := trials.Run(ctx, group, group.Size(), func(int) (string, error) { return s.rangeOf(objective, t, name), nil })
	if err != nil {
		return fmt.Errorf("tune: Run: %w", err)
	}
	for rank, r := range ranges {
		if r != "" && ranges[0] != "" && r != ranges[0] {
			return &SettingError{Name: name, Trial: t.Number, Reason: fmt.Sprintf("its range is %s on rank %d, but %s on rank 0: it must not depend on the rank", r, rank, ranges[0])}
		}
	}
	return nil
}

// rangeOf calls the objective with the settings of a trial, up to the request of one of them, and returns its range on this rank; "" if
// it is not requested.
func (s *Search) rangeOf(objective func(*Trial) (float64, error), of *Trial, name string) (text string) {
	again := &repetition{of: of, name: name}
	t := &Trial{Number: of.Number, search: &Search{seed: s.seed}, sampler: again}
	defer func() {
		if p := recover(); p != nil && !again.ended {
			panic(p)
		}
		text = again.found
	}()
	accel.Seed(t.Seed())
	_, _ = t.try(objective) // an error means that the setting is not requested
	return again.found
}

// repetition is the sampler of a trial that is repeated up to the request of a setting, which ends it with a panic.
type repetition struct {
	of    *Trial
	name  string
	found string // the range of the setting
	ended bool
}

func (r *repetition) begin(*Search, *Trial) bool { return true }

func (r *repetition) sample(_ *Trial, name string, d dimension) float64 {
	at, ok := d.coordinate(r.of.Get(name))
	if name == r.name {
		r.found = fmt.Sprintf("%g to %g", d.low, d.high)
	}
	if r.ended = name == r.name || !ok; r.ended {
		panic("the repetition of a trial ends")
	}
	return at
}
