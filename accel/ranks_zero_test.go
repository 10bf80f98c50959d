package accel_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/parallel"
)

// zeroTraining is a training with an average, which can be stopped and resumed, on ranks or in one process.
type zeroTraining struct {
	group *parallel.Group // nil for one process
	zero  int             // 0 for none
	file  string          // of Resume; "" for none
	stop  int             // the step after which it stops; 0 for none
	amp   bool            // in FP16
}

// train returns the losses, the weights, and their averages.
func (z zeroTraining) train(ctx context.Context) (values [][]float32, err error) {
	train, test, err := data.Digits()
	if err != nil {
		return nil, err
	}
	accel.Seed(3)
	model := nn.Sequential(nn.Flatten(), nn.Dense(12), nn.ReLU(), nn.Dropout(0.2), nn.Dense(10), nn.PReLU())
	average := optim.NewEMA(model, 0.8)
	options := []accel.Option{accel.Quiet(), accel.BatchSize(16), accel.Epochs(3), accel.AdamW(1e-2), accel.EMA(average), accel.Validate(test.First(30)), accel.SaveEvery(4)}
	if z.group != nil {
		options = append(options, accel.DataParallel(z.group))
	}
	if z.zero > 0 {
		options = append(options, accel.ZeRO(z.zero))
	}
	if z.amp {
		options = append(options, accel.AMP(accel.FP16))
	}
	if z.stop > 0 {
		options = append(options, accel.StopWhen(func(r *accel.Run) bool { return len(r.Steps) == z.stop }))
	}
	file := z.file
	if file == "" {
		file = filepath.Join(os.TempDir(), fmt.Sprintf("none-%d", os.Getpid()))
		defer func() { err = errors.Join(err, os.RemoveAll(file)) }()
	}
	run, err := accel.Fit(ctx, model, train.First(90), append(options, accel.Resume(file))...)
	if err != nil {
		return nil, err
	}
	var losses []float32
	for _, s := range run.Steps {
		losses = append(losses, float32(s.Loss))
	}
	for _, v := range run.Validations {
		losses = append(losses, float32(v.Loss))
	}
	values = [][]float32{losses}
	for _, p := range nn.NamedParameters(model) {
		values = append(values, p.Data())
	}
	restore := average.Use()
	defer restore()
	for _, p := range nn.NamedParameters(model) {
		values = append(values, p.Data())
	}
	return values, nil
}

// different returns an error unless values are equal up to a tolerance; 0 for bit by bit.
func different(what string, got, want [][]float32, tolerance float64) error {
	for i, w := range want {
		if len(got) != len(want) || len(got[i]) != len(w) {
			return fmt.Errorf("%s: other numbers of values", what)
		}
		for j, v := range w {
			if d := math.Abs(float64(got[i][j] - v)); !(d <= tolerance) {
				return fmt.Errorf("%s: value %d of %d is %v, want %v", what, j, i, got[i][j], v)
			}
		}
	}
	return nil
}

func init() {
	// With each stage of ZeRO, a training with an average that was stopped within an epoch continues bit by bit.
	rankFailures["resume with ZeRO"] = func(ctx context.Context, group *parallel.Group) error {
		for _, z := range []zeroTraining{{zero: 1}, {zero: 2}, {zero: 3}, {zero: 3, amp: true}} {
			z.group = group
			want, err := z.train(ctx)
			if err != nil {
				return err
			}
			z.file, z.stop = filepath.Join(os.Getenv(rankOut+"_FOLDER"), fmt.Sprintf("training-%d-%t", z.zero, z.amp)), 7
			if _, err := z.train(ctx); err != nil {
				return err
			}
			z.stop = 0
			got, err := z.train(ctx)
			if err == nil {
				err = different(fmt.Sprintf("ZeRO(%d), AMP %t", z.zero, z.amp), got, want, 0)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	// Another number of ranks, with or without ZeRO, continues the training.
	rankFailures["resume with other ranks"] = func(ctx context.Context, group *parallel.Group) error {
		folder := os.Getenv(rankOut + "_FOLDER")
		shared, own := filepath.Join(folder, "shared"), filepath.Join(folder, "own")
		if _, err := (zeroTraining{group: group, zero: 3, file: shared, stop: 7}).train(ctx); err != nil {
			return err
		}
		if group.First() {
			text, err := os.ReadFile(shared)
			if err == nil {
				err = os.WriteFile(own, text, 0o600)
			}
			if err == nil {
				var values [][]float32
				values, err = zeroTraining{file: own}.train(ctx)
				if err == nil && len(values[0]) != 18+3 {
					err = fmt.Errorf("%d losses", len(values[0]))
				}
			}
			if err != nil {
				return err
			}
		}
		if err := group.Barrier(ctx); err != nil {
			return err
		}
		_, err := zeroTraining{group: group, zero: 1, file: shared}.train(ctx)
		return err
	}
	// Errors that all ranks have leave the group usable, and the model, of which the ranks have divided the parameters.
	for name, wrong := range map[string][]accel.Option{
		"an optimizer that cannot be divided":   {accel.Muon(1e-3)},
		"a group without parameters":            {accel.AdamW(1e-3), accel.Hyperparameters(optim.Group("9.*", optim.WeightDecay(0)))},
		"a loss for other targets":              {accel.Minimize(nn.MSE)},
		"a loss for other targets, accumulated": {accel.Minimize(nn.MSE), accel.Accumulate(2), accel.BatchSize(8)},
	} {
		rankFailures[name] = func(ctx context.Context, group *parallel.Group) error {
			train, _, err := data.Digits()
			if err != nil {
				return err
			}
			var errs []error
			for zero := range 3 {
				model := rankModel()
				options := []accel.Option{accel.DataParallel(group), accel.Quiet(), accel.Epochs(1)}
				if zero > 0 {
					options = append(options, accel.ZeRO(zero))
				}
				_, err := accel.Fit(ctx, model, train.First(64), append(slices.Clone(wrong), options...)...)
				if muon := name == "an optimizer that cannot be divided" && zero == 0; (err == nil) != muon {
					return fmt.Errorf("ZeRO %d: %w", zero, err)
				}
				errs = append(errs, err)
				if _, err := accel.Fit(ctx, model, train.First(64), options...); err != nil {
					return fmt.Errorf("ZeRO %d: the corrected call: %w", zero, err)
				}
			}
			return errors.Join(errs...)
		}
	}
	// Errors of one rank's arguments, which the others get.
	for name, call := range map[string]func(ctx context.Context, group *parallel.Group, wrong bool, train *data.Dataset) error{
		"an option of one rank is invalid": func(ctx context.Context, group *parallel.Group, wrong bool, train *data.Dataset) error {
			size := 16
			if wrong {
				size = 0
			}
			_, err := accel.Fit(ctx, rankModel(), train, accel.BatchSize(size), accel.DataParallel(group), accel.Quiet(), accel.Epochs(1))
			return err
		},
		"one rank has no training set": func(ctx context.Context, group *parallel.Group, wrong bool, train *data.Dataset) error {
			if wrong {
				train = nil
			}
			_, err := accel.Fit(ctx, rankModel(), train, accel.DataParallel(group), accel.Quiet(), accel.Epochs(1))
			return err
		},
		"one rank evaluates no set": func(ctx context.Context, group *parallel.Group, wrong bool, train *data.Dataset) error {
			if wrong {
				train = nil
			}
			accel.Seed(1)
			_, err := accel.Evaluate(ctx, rankModel(), train, accel.DataParallel(group))
			return err
		},
		"one rank predicts no set": func(ctx context.Context, group *parallel.Group, wrong bool, train *data.Dataset) error {
			if wrong {
				train = nil
			}
			accel.Seed(1)
			_, err := accel.PredictDataset(ctx, rankModel(), train, accel.DataParallel(group))
			return err
		},
	} {
		rankFailures[name] = func(ctx context.Context, group *parallel.Group) error {
			train, _, err := data.Digits()
			if err != nil {
				return err
			}
			failed := call(ctx, group, group.Rank() == 1, train.First(40))
			if err := call(ctx, group, false, train.First(40)); err != nil {
				return fmt.Errorf("the corrected call: %w", err)
			}
			return failed
		}
	}
}

func TestRanksContinue(t *testing.T) {
	for _, c := range []struct {
		task  string
		ranks int
		want  []string // in the errors of the ranks; nil for none
	}{
		{"resume with ZeRO", 2, nil},
		{"resume with other ranks", 3, nil},
		{"an optimizer that cannot be divided", 2, []string{"Muon: it needs whole parameters", "Muon: it needs whole parameters"}},
		{"a group without parameters", 2, []string{`Group("9.*", WeightDecay(0)) matches no parameter`, `Group("9.*", WeightDecay(0)) matches no parameter`}},
		{"a loss for other targets", 2, []string{"MSE", "MSE"}},
		{"a loss for other targets, accumulated", 2, []string{"MSE", "MSE"}},
		{"an option of one rank is invalid", 2, []string{"accel: rank 1 failed: accel: BatchSize(0)", "accel: BatchSize(0)"}},
		{"one rank has no training set", 2, []string{"accel: rank 1 failed: accel: Fit: the training set is nil", "accel: Fit: the training set is nil"}},
		{"one rank evaluates no set", 2, []string{"accel: rank 1 failed: accel: Evaluate: the data set is nil", "accel: Evaluate: the data set is nil"}},
		{"one rank predicts no set", 2, []string{"accel: rank 1 failed: accel: PredictDataset: the data set is nil", "accel: PredictDataset: the data set is nil"}},
	} {
		t.Run(c.task, func(t *testing.T) {
			for r, o := range processes(t, c.task, c.ranks) {
				if c.want == nil && o.Error != "" || c.want != nil && (!strings.Contains(o.Error, c.want[r]) || strings.Contains(o.Error, "corrected")) {
					t.Errorf("rank %d: got %q, want %v", r, o.Error, c.want)
				}
			}
		})
	}
}
