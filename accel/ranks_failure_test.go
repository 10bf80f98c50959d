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
	"time"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/parallel"
	"github.com/quernlab/quern/accel/tensor"
)

// Tasks in which ranks fail; the result of a rank is its error.
var rankFailures = map[string]func(ctx context.Context, group *parallel.Group) error{
	// Rank 1 exits during the training without a message.
	"dies": func(ctx context.Context, group *parallel.Group) error {
		_, err := failing(ctx, group, accel.StopWhen(func(r *accel.Run) bool {
			if group.Rank() == 1 && len(r.Steps) == 5 {
				os.Exit(0)
			}
			return false
		}))
		return err
	},
	// Rank 1 exits while rank 0 waits for it in a layer.
	"dies in a layer": func(ctx context.Context, group *parallel.Group) error {
		passes := 0
		model := nn.Sequential(nn.Flatten(), nn.Dense(8), nn.Lambda(func(x *tensor.Tensor) *tensor.Tensor {
			if passes++; passes > 5 && group.Rank() == 1 {
				os.Exit(0)
			}
			return x
		}), nn.SyncBatchNorm(), nn.Dense(10))
		train, _, err := data.Digits()
		if err != nil {
			return err
		}
		_, err = accel.Fit(ctx, model, train.First(128), accel.DataParallel(group), accel.Quiet(), accel.BatchSize(16))
		var lost *parallel.LostError
		if !errors.As(err, &lost) || lost.Rank != 1 {
			return fmt.Errorf("no LostError: %w", err)
		}
		return err
	},
	// A layer of rank 1 cannot take its input in the sixth step.
	"fails in a layer": func(ctx context.Context, group *parallel.Group) error {
		passes := 0
		model := nn.Sequential(nn.Flatten(), nn.Dense(8), nn.Lambda(func(x *tensor.Tensor) *tensor.Tensor {
			if passes++; passes > 6 && group.Rank() == 1 {
				return x.Reshape(3, 3)
			}
			return x
		}), nn.Dense(10))
		train, _, err := data.Digits()
		if err != nil {
			return err
		}
		_, err = accel.Fit(ctx, model, train.First(128), accel.DataParallel(group), accel.Quiet(), accel.BatchSize(16))
		var shape *tensor.ShapeError
		if errors.As(err, &shape) != (group.Rank() == 1) {
			return fmt.Errorf("a ShapeError is expected on rank 1 only: %w", err)
		}
		return err
	},
	// The loss is not finite on one rank, while its layers wait for the others.
	"diverges in a layer": func(ctx context.Context, group *parallel.Group) error {
		digits, _, err := data.Digits()
		if err != nil {
			return err
		}
		x, labels := make([][]float32, 40), make([]int, 40)
		for i := range x {
			x[i], labels[i] = digits.Example(i), digits.Label(i)
		}
		x[3][0] = float32(math.Inf(1))
		set, err := data.FromSlices(x, labels)
		if err != nil {
			return err
		}
		model := nn.Sequential(nn.Dense(4), nn.SyncBatchNorm(), nn.Dense(10))
		_, err = accel.Fit(ctx, model, set, accel.DataParallel(group), accel.Quiet(), accel.BatchSize(8), accel.Epochs(1))
		return errors.Join(err, group.Barrier(ctx)) // the group can still be used
	},
	// Rank 1 is interrupted; all stop after the same step and train once more.
	"interrupted": func(ctx context.Context, group *parallel.Group) error {
		inner, cancel := context.WithCancel(ctx)
		defer cancel()
		run, err := failing(inner, group, accel.StopWhen(func(r *accel.Run) bool {
			if group.Rank() == 1 && len(r.Steps) == 5 {
				cancel()
			}
			return false
		}))
		if !errors.Is(err, context.Canceled) || len(run.Steps) >= 20 {
			return fmt.Errorf("%d steps, %w", len(run.Steps), err)
		}
		steps, err := group.AllGather(ctx, fmt.Append(nil, len(run.Steps)))
		if err != nil {
			return err
		}
		if string(steps[0]) != string(steps[1]) {
			return fmt.Errorf("the ranks have made %s steps", steps)
		}
		again, err := failing(ctx, group)
		if err == nil && len(again.Steps) != 20 {
			err = fmt.Errorf("%d steps when trained again", len(again.Steps))
		}
		return err
	},
	// Both ranks are interrupted, and a layer of rank 1 takes so long that it is ended: rank 0 waits for it.
	"interrupted in a layer": func(ctx context.Context, group *parallel.Group) error {
		inner, cancel := context.WithCancel(ctx)
		defer cancel()
		model := nn.Sequential(nn.Flatten(), nn.Dense(8), nn.Lambda(func(x *tensor.Tensor) *tensor.Tensor {
			if inner.Err() != nil && group.Rank() == 1 {
				panic(inner.Err())
			}
			return x
		}), nn.Dense(10))
		train, _, err := data.Digits()
		if err != nil {
			return err
		}
		run, err := accel.Fit(inner, model, train.First(128), accel.DataParallel(group), accel.Quiet(), accel.BatchSize(16), accel.AfterStep(func(updates int) error {
			if updates == 5 {
				cancel()
			}
			return nil
		}))
		// The loss of step 5 is read one step late; it is lost if the other rank was lost before.
		if !errors.Is(err, context.Canceled) || len(run.Steps) < 4 || len(run.Steps) > 5 {
			return fmt.Errorf("%d steps, %w", len(run.Steps), err)
		}
		_, err = accel.Fit(ctx, model, train.First(128), accel.DataParallel(group), accel.Quiet(), accel.Epochs(1))
		if errors.Is(err, context.Canceled) {
			return fmt.Errorf("the second training was not interrupted: %w", err)
		}
		return err
	},
	// The same while ranks divide the parameters: the model is whole afterwards.
	"interrupted with ZeRO": func(ctx context.Context, group *parallel.Group) error {
		inner, cancel := context.WithCancel(ctx)
		defer cancel()
		train, _, err := data.Digits()
		if err != nil {
			return err
		}
		model := rankModel()
		_, err = accel.Fit(inner, model, train.First(128), accel.DataParallel(group), accel.ZeRO(3), accel.Quiet(), accel.BatchSize(16), accel.AfterStep(func(updates int) error {
			if updates == 5 && group.Rank() == 1 {
				cancel()
			}
			return nil
		}))
		if !errors.Is(err, context.Canceled) {
			return fmt.Errorf("the training was not interrupted: %w", err)
		}
		for _, p := range nn.NamedParameters(model) {
			if slices.ContainsFunc(p.Data(), func(v float32) bool { return v != v }) {
				return fmt.Errorf("%s is NaN after an interrupted training", p.Name)
			}
		}
		_, err = accel.Fit(ctx, model, train.First(128), accel.DataParallel(group), accel.ZeRO(2), accel.Quiet(), accel.Epochs(1))
		return err
	},
	"dies with ZeRO": func(ctx context.Context, group *parallel.Group) error {
		_, err := failing(ctx, group, accel.ZeRO(3), accel.StopWhen(func(r *accel.Run) bool {
			if group.Rank() == 1 && len(r.Steps) == 5 {
				os.Exit(0)
			}
			return false
		}))
		return err
	},
	// An observer of rank 1 ends the training of all ranks after the same step.
	"observed": func(ctx context.Context, group *parallel.Group) error {
		o := &stopping{}
		if group.Rank() == 1 {
			o.at = 5
		}
		run, err := failing(ctx, group, accel.Observe(o))
		if err == nil && (len(run.Steps) != 6 || !o.ended) {
			err = fmt.Errorf("%d steps, ended: %v", len(run.Steps), o.ended)
		}
		return err
	},
	// Rank 1 delays each step by four times its duration, whatever the load of the machine; the
	// run must have a note about it.
	"behind": func(ctx context.Context, group *parallel.Group) error {
		begin := time.Now()
		run, err := failing(ctx, group, accel.StopWhen(func(*accel.Run) bool {
			if group.Rank() == 1 {
				time.Sleep(4 * time.Since(begin))
			}
			begin = time.Now()
			return false
		}))
		if err == nil && !strings.Contains(run.Summary(), fmt.Sprintf("rank 1 on %s is slow: the other ranks waited for it at least", group.Host(1))) {
			err = errors.New(run.Summary())
		}
		return err
	},
	"panics": func(ctx context.Context, group *parallel.Group) (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("%v", p)
			}
		}()
		_, err = failing(ctx, group, accel.StopWhen(func(r *accel.Run) bool {
			if group.Rank() == 1 && len(r.Steps) == 5 {
				panic("a mistake in the model")
			}
			return false
		}))
		return err
	},
	"other model": func(ctx context.Context, group *parallel.Group) error {
		model := nn.Sequential(nn.Flatten(), nn.Dense(8), nn.Dense(10))
		if group.Rank() == 1 {
			model = nn.Sequential(nn.Flatten(), nn.Dense(9), nn.Dense(10))
		}
		return failingModel(ctx, group, model)
	},
	"other layers": func(ctx context.Context, group *parallel.Group) error {
		model := nn.Sequential(nn.Flatten(), nn.Dense(8), nn.Dense(10))
		if group.Rank() == 1 {
			model = nn.Sequential(nn.Flatten(), nn.Dense(10))
		}
		return failingModel(ctx, group, model)
	},
	"other options": func(ctx context.Context, group *parallel.Group) error {
		_, err := failing(ctx, group, accel.BatchSize(32+group.Rank()))
		return err
	},
	"other set": func(ctx context.Context, group *parallel.Group) error {
		train, _, err := data.Digits()
		if err != nil {
			return err
		}
		_, err = accel.Fit(ctx, rankModel(), train.First(64+group.Rank()), accel.DataParallel(group), accel.Quiet())
		return err
	},
	"diverges":           func(ctx context.Context, group *parallel.Group) error { return diverging(ctx, group) },
	"diverges with ZeRO": func(ctx context.Context, group *parallel.Group) error { return diverging(ctx, group, accel.ZeRO(3)) },
	// Rank 0 cannot write the file of Resume, which is noticed before the first step.
	"cannot write": func(ctx context.Context, group *parallel.Group) error {
		run, err := failing(ctx, group, accel.Resume(filepath.Join(os.Getenv(rankOut+"_FOLDER"), "missing", "file")))
		if len(run.Steps) > 0 {
			return fmt.Errorf("%d steps: %w", len(run.Steps), err)
		}
		return errors.Join(err, group.Barrier(ctx)) // the group can still be used
	},
	// Two trainings with one file, which only rank 0 has.
	"resume": func(ctx context.Context, group *parallel.Group) error {
		file := filepath.Join(os.Getenv(rankOut+"_FOLDER"), fmt.Sprintf("training-%d", group.Rank()))
		_, err := failing(ctx, group, accel.Resume(file), accel.StopWhen(func(r *accel.Run) bool { return len(r.Steps) == 7 }))
		if err != nil {
			return err
		}
		if _, missing := os.Stat(file); (missing == nil) != group.First() {
			return fmt.Errorf("rank %d: %w", group.Rank(), missing)
		}
		run, err := failing(ctx, group, accel.Resume(file))
		if err != nil {
			return err
		}
		if len(run.Steps) != 20 || !strings.Contains(run.Summary(), "resumed after step 8 in epoch 2") {
			return fmt.Errorf("%d steps: %s", len(run.Steps), run.Summary())
		}
		return nil
	},
}

// failing returns a training of 20 steps.
func failing(ctx context.Context, group *parallel.Group, options ...accel.Option) (*accel.Run, error) {
	train, _, err := data.Digits()
	if err != nil {
		return nil, err
	}
	accel.Seed(4)
	return accel.Fit(ctx, rankModel(), train.First(128), append([]accel.Option{accel.DataParallel(group), accel.Quiet(), accel.BatchSize(32), accel.Epochs(5)}, options...)...)
}

// diverging trains with NaN in an example, which only one rank trains on.
func diverging(ctx context.Context, group *parallel.Group, options ...accel.Option) error {
	x, labels := make([][]float32, 40), make([]int, 40)
	for i := range x {
		x[i] = []float32{float32(i), 1}
		labels[i] = i % 2
	}
	x[3][0] = float32(math.NaN()) // which only one rank trains on
	set, err := data.FromSlices(x, labels)
	if err != nil {
		return err
	}
	model := nn.Sequential(nn.Dense(4), nn.Dense(2))
	run, err := accel.Fit(ctx, model, set, append(options, accel.DataParallel(group), accel.Quiet(), accel.BatchSize(4), accel.Epochs(1))...)
	var diverged *accel.DivergedError
	if !errors.As(err, &diverged) || diverged.Step != len(run.Steps) {
		return fmt.Errorf("%d steps, %w", len(run.Steps), err)
	}
	for _, p := range nn.Parameters(model) {
		if slices.ContainsFunc(p.Data(), func(v float32) bool { return v != v }) {
			return errors.New("the weights were changed")
		}
	}
	return errors.Join(err, group.Barrier(ctx)) // the group can still be used
}

func failingModel(ctx context.Context, group *parallel.Group, model nn.Module) error {
	train, _, err := data.Digits()
	if err != nil {
		return err
	}
	_, err = accel.Fit(ctx, model, train.First(64), accel.DataParallel(group), accel.Quiet())
	return errors.Join(err, group.Barrier(ctx)) // all ranks know of the error, so the group can still be used
}

// failed runs such a task on this rank.
func failed(ctx context.Context, task string, group *parallel.Group) (o outcome, err error) {
	begin := time.Now()
	err = rankFailures[task](ctx, group)
	o.Exchanged = time.Since(begin)
	return o, err
}

func TestRanksThatFail(t *testing.T) {
	for _, c := range []struct {
		task string
		want [2]string // in the errors of ranks 0 and 1; empty for none, and for a rank that has exited
	}{
		{"dies", [2]string{"parallel: rank 1 (127.0.0.1:", ""}},
		{"dies in a layer", [2]string{"parallel: rank 1 (127.0.0.1:", ""}},
		{"fails in a layer", [2]string{"gave up: layer 2, Lambda()", "layer 2, Lambda()"}},
		{"diverges in a layer", [2]string{"the loss of step", "the loss of step"}},
		{"interrupted", [2]string{"", ""}},
		{"interrupted in a layer", [2]string{"parallel: rank 1 (127.0.0.1:", "parallel: rank 1 (127.0.0.1:"}},
		{"interrupted with ZeRO", [2]string{"", ""}},
		{"dies with ZeRO", [2]string{"parallel: rank 1 (127.0.0.1:", ""}},
		{"diverges with ZeRO", [2]string{"the loss of step", "the loss of step"}},
		{"observed", [2]string{"", ""}},
		{"behind", [2]string{"", ""}},
		{"panics", [2]string{"gave up: the model has panicked: a mistake in the model", "a mistake in the model"}},
		{"other model", [2]string{"the model of rank 1 is not that of rank 0", "the model of rank 1 is not that of rank 0"}},
		{"other layers", [2]string{"the model of rank 1 is not that of rank 0", "the model of rank 1 is not that of rank 0"}},
		{"other options", [2]string{"rank 1 differs from rank 0: its options are", "rank 1 differs from rank 0: its options are"}},
		{"other set", [2]string{"its data set digits, train has 65 examples, that of rank 0 has 64", "its data set digits, train has 65 examples, that of rank 0 has 64"}},
		{"diverges", [2]string{"the loss of step", "the loss of step"}},
		{"cannot write", [2]string{"accel: Resume(", "accel: rank 0 failed: accel: Resume("}},
		{"resume", [2]string{"", ""}},
	} {
		t.Run(c.task, func(t *testing.T) {
			for r, o := range processes(t, c.task, 2) {
				if (o.Error == "") != (c.want[r] == "") || !strings.Contains(o.Error, c.want[r]) {
					t.Errorf("rank %d: got %q, want %q", r, o.Error, c.want[r])
				}
			}
		})
	}
}

// stopping is an observer that ends the training after a step.
type stopping struct {
	accel.NopObserver
	at    int // 0 for never
	ended bool
}

func (s *stopping) Step(t *accel.Training, _ accel.Step) error {
	if len(t.Run.Steps) == s.at {
		return accel.ErrStop
	}
	return nil
}

func (s *stopping) End(*accel.Training, error) { s.ended = true }
