package accel_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/active"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/parallel"
	"github.com/quernlab/quern/accel/tune"
)

func smallModel() nn.Module {
	return nn.Sequential(nn.Flatten(), nn.Dense(6), nn.Dropout(0.2), nn.ReLU(), nn.Dense(10))
}

// trialTasks run several trainings, on the ranks of a group or, if it is nil, in this process, and return what was measured.
var trialTasks = map[string]func(ctx context.Context, group *parallel.Group) (any, error){
	"trials of Compare": func(ctx context.Context, group *parallel.Group) (any, error) {
		digits, _, err := data.Digits()
		if err != nil {
			return nil, err
		}
		variants := []accel.Variant{
			accel.NewVariant("slow", accel.SGD(0.01, 0), accel.Epochs(2), accel.BatchSize(16)),
			accel.NewVariant("fast", accel.AdamW(1e-2), accel.Epochs(2), accel.BatchSize(16)),
			accel.NewVariant("too fast", accel.SGD(1e30, 0), accel.Epochs(2), accel.BatchSize(16)),
		}
		compare := func() (*accel.Comparison, error) {
			return accel.Compare(ctx, smallModel, digits.First(64), variants...)
		}
		if group != nil {
			compare = func() (*accel.Comparison, error) {
				return accel.CompareOnRanks(ctx, group, smallModel, digits.First(64), variants...)
			}
		}
		c, err := compare()
		if err != nil {
			return nil, err
		}
		var measured []string
		for _, v := range c.Variants {
			loss, deviation := v.Loss()
			measured = append(measured, fmt.Sprint(v.Name, loss, deviation, len(v.Runs)))
			for _, r := range v.Runs {
				measured = append(measured, fmt.Sprint(len(r.Steps), r.Steps[0].Loss, r.Loss(), r.Diverged()))
			}
		}
		return measured, nil
	},
	"trials of tune": func(ctx context.Context, group *parallel.Group) (any, error) {
		digits, test, err := data.Digits()
		if err != nil {
			return nil, err
		}
		options := []tune.Option{tune.Trials(5), tune.Concurrent(2), tune.Random(), tune.Quiet()}
		if group != nil {
			options = append(options, tune.OnRanks(group))
		}
		s, err := tune.Run(ctx, func(t *tune.Trial) (float64, error) {
			run, err := accel.Fit(ctx, smallModel(), digits.First(64), accel.Validate(test.First(20)), accel.AdamW(t.LogFloat("rate", 1e-4, 1e-1)), accel.Epochs(2), accel.Quiet(), t.Watch())
			return run.Loss(), err
		}, options...)
		return fmt.Sprint(s.Trials), err
	},
	// Each process has a simulated GPU.
	"trials on simulated GPUs": func(ctx context.Context, group *parallel.Group) (any, error) {
		digits, _, err := data.Digits()
		if err != nil {
			return nil, err
		}
		options := []tune.Option{tune.Trials(3), tune.Random(), tune.Quiet()}
		if group != nil {
			options = append(options, tune.OnRanks(group))
		}
		s, err := tune.Run(ctx, func(t *tune.Trial) (float64, error) {
			run, err := accel.Fit(ctx, smallModel(), digits.First(8), accel.On("simulated"), accel.AdamW(t.LogFloat("rate", 1e-4, 1e-1)), accel.BatchSize(4), accel.Epochs(1), accel.Quiet())
			return run.Loss(), err
		}, options...)
		return fmt.Sprint(s.Trials), err
	},
	"trials of active": func(ctx context.Context, group *parallel.Group) (any, error) {
		digits, test, err := data.Digits()
		if err != nil {
			return nil, err
		}
		options := []active.Option{active.Initial(10), active.Batch(10), active.Budget(30), active.Seeds(2), active.Train(accel.Steps(10), accel.BatchSize(8))}
		if group != nil {
			options = append(options, active.OnRanks(group))
		}
		c, err := active.Compare(ctx, smallModel, digits.First(100), test.First(50), []active.Strategy{active.Random(), active.Margin(), active.Entropy()}, options...)
		if err != nil {
			return nil, err
		}
		var measured []string
		for _, s := range c.Strategies {
			for _, curve := range s.Curves {
				for _, p := range curve.Points {
					measured = append(measured, fmt.Sprint(s.Name, p.Labels, p.Accuracy))
				}
			}
		}
		return measured, nil
	},
}

func init() {
	for name, task := range trialTasks {
		rankFailures[name] = func(ctx context.Context, group *parallel.Group) error {
			want, err := task(ctx, nil)
			if err != nil {
				return err
			}
			got, err := task(ctx, group)
			if err == nil && !reflect.DeepEqual(got, want) {
				err = fmt.Errorf("got %v, want %v as in one process", got, want)
			}
			return err
		}
	}
	// A training of rank 1 fails.
	rankFailures["a trial fails"] = func(ctx context.Context, group *parallel.Group) error {
		digits, _, err := data.Digits()
		if err != nil {
			return err
		}
		made := 0
		c, err := accel.CompareOnRanks(ctx, group, func() nn.Module {
			if made++; made == 3 && group.Rank() == 1 { // the first one is compared with those of other ranks
				return nn.Sequential(nn.Flatten(), nn.Dense(10), nn.Conv2D(3, 3))
			}
			return smallModel()
		}, digits.First(32), accel.NewVariant("a", accel.Epochs(1)), accel.NewVariant("b", accel.Epochs(2)))
		if err == nil || c.Err == nil || len(c.Variants[0].Runs) != 2 || len(c.Variants[1].Runs) != 1 {
			return fmt.Errorf("%v and %w", c, err)
		}
		return errors.Join(err, group.Barrier(ctx)) // the group can still be used
	}
	rankFailures["other trials"] = func(ctx context.Context, group *parallel.Group) error {
		digits, _, err := data.Digits()
		if err != nil {
			return err
		}
		_, err = accel.CompareOnRanks(ctx, group, smallModel, digits.First(32), accel.NewVariant("a", accel.Epochs(1+group.Rank())))
		return err
	}
	// Calls that differ between ranks end on all, and the group can be used for the corrected call.
	for name, call := range map[string]func(ctx context.Context, group *parallel.Group, train, test *data.Dataset) error{
		"another model": func(ctx context.Context, group *parallel.Group, train, _ *data.Dataset) error {
			_, err := accel.CompareOnRanks(ctx, group, dense(4+group.Rank()), train, accel.NewVariant("a"))
			return err
		},
		"no training set": func(ctx context.Context, group *parallel.Group, train, _ *data.Dataset) error {
			if group.Rank() == 1 {
				train = nil
			}
			_, err := accel.CompareOnRanks(ctx, group, dense(4), train, accel.NewVariant("a"))
			return err
		},
		"another validation set": func(ctx context.Context, group *parallel.Group, train, test *data.Dataset) error {
			part, err := test.Subset([]int{group.Rank(), 2})
			if err != nil {
				return err
			}
			_, err = accel.CompareOnRanks(ctx, group, dense(4), train, accel.NewVariant("a", accel.Validate(part)))
			return err
		},
		"another active learning": func(ctx context.Context, group *parallel.Group, train, test *data.Dataset) error {
			_, err := active.Compare(ctx, dense(4+group.Rank()), train, test, []active.Strategy{active.Random()}, active.OnRanks(group), active.Budget(30))
			return err
		},
		"active learning without a test set": func(ctx context.Context, group *parallel.Group, train, test *data.Dataset) error {
			if group.Rank() == 1 {
				test = nil
			}
			_, err := active.Compare(ctx, dense(4), train, test, []active.Strategy{active.Random()}, active.OnRanks(group), active.Budget(30))
			return err
		},
		"a budget of one rank is invalid": func(ctx context.Context, group *parallel.Group, train, test *data.Dataset) error {
			_, err := active.Compare(ctx, dense(4), train, test, []active.Strategy{active.Random()}, active.Budget(30-30*group.Rank()), active.OnRanks(group))
			return err
		},
	} {
		rankFailures[name] = func(ctx context.Context, group *parallel.Group) error {
			train, test, err := data.Digits()
			if err != nil {
				return err
			}
			return errors.Join(call(ctx, group, train.First(40), test.First(20)), group.Barrier(ctx))
		}
	}
	rankFailures["a trial on all ranks"] = func(ctx context.Context, group *parallel.Group) error {
		digits, _, err := data.Digits()
		if err != nil {
			return err
		}
		_, err = accel.CompareOnRanks(ctx, group, smallModel, digits.First(32), accel.NewVariant("a"), accel.NewVariant("b", accel.DataParallel(group)))
		return errors.Join(err, group.Barrier(ctx)) // the group can still be used
	}
	rankFailures["a trial is interrupted"] = func(ctx context.Context, group *parallel.Group) error {
		digits, _, err := data.Digits()
		if err != nil {
			return err
		}
		inner, cancel := context.WithCancel(ctx)
		defer cancel()
		_, err = accel.CompareOnRanks(inner, group, func() nn.Module {
			if group.Rank() == 1 {
				cancel()
			}
			return smallModel()
		}, digits.First(32), accel.NewVariant("a", accel.Epochs(1)))
		if !errors.Is(err, context.Canceled) {
			return fmt.Errorf("not interrupted: %w", err)
		}
		return err
	}
}

func dense(width int) func() nn.Module {
	return func() nn.Module { return nn.Sequential(nn.Dense(width), nn.ReLU(), nn.Dense(10)) }
}

func both(want string) [2]string { return [2]string{want, want} }

// Trainings side by side have the results of the same trainings in one process.
func TestTrialsOnRanks(t *testing.T) {
	for name := range trialTasks {
		t.Run(name, func(t *testing.T) {
			for r, o := range processes(t, name, 2) {
				if o.Error != "" {
					t.Errorf("rank %d: %s", r, o.Error)
				}
			}
		})
	}
	for _, row := range []struct {
		task string
		want [2]string
	}{
		{"a trial fails", [2]string{"accel: Compare: rank 1: b: seed 2, after 0 steps of 2:", "accel: Compare: rank 1: b: seed 2, after 0 steps of 2:"}},
		{"other trials", [2]string{"rank 1 runs other trials than rank 0: digits", "rank 1 runs other trials than rank 0: digits"}},
		{"a trial on all ranks", [2]string{`the variant "b" trains on all ranks of a group`, `the variant "b" trains on all ranks of a group`}},
		{"a trial is interrupted", [2]string{"rank 1 was interrupted", "rank 1 was interrupted: context canceled"}},
		{"another model", both(`accel: Compare: rank 1 differs from rank 0: its layer "0" Dense(5) is "0" Dense(4) on rank 0`)},
		{"no training set", both("accel: Compare: rank 1: the training set is nil")},
		{"another validation set", both("rank 1 differs from rank 0: its data set digits, test has different examples")},
		{"another active learning", both(`active: Compare: rank 1 differs from rank 0: its layer "0" Dense(5) is "0" Dense(4) on rank 0`)},
		{"active learning without a test set", both("rank 1: active: Compare: test is nil")},
		{"a budget of one rank is invalid", both("rank 1: active: Budget(0)")},
	} {
		t.Run(row.task, func(t *testing.T) {
			for r, o := range processes(t, row.task, 2) {
				if !strings.Contains(o.Error, row.want[r]) {
					t.Errorf("rank %d: got %q, want %q", r, o.Error, row.want[r])
				}
			}
		})
	}
	if _, err := accel.CompareOnRanks(t.Context(), nil, smallModel, nil); err == nil || !strings.Contains(err.Error(), "the group is nil: check the error of parallel.Join") {
		t.Error(err)
	}
}
