package accel_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/metrics"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/parallel"
	"github.com/quernlab/quern/accel/tensor"
)

// judged returns a model that has its parameters, and a data set for classification.
func judged(examples int) (nn.Module, *data.Dataset, error) {
	digits, _, err := data.Digits()
	if err != nil {
		return nil, nil, err
	}
	accel.Seed(5)
	model := rankModel()
	_, err = accel.PredictDataset(context.Background(), model, digits.First(1))
	return model, digits.First(examples), err
}

// evaluateMetrics compares the metrics of all ranks together with those of one process.
func evaluateMetrics(ctx context.Context, group *parallel.Group, model nn.Module, set *data.Dataset) error {
	measured := accel.Metrics(metrics.F1(metrics.Weighted), metrics.ROCAUC(metrics.Micro), metrics.Perplexity(), metrics.ECE(), metrics.TopK(3))
	want, err := accel.Evaluate(ctx, model, set, measured)
	if err != nil {
		return err
	}
	got, err := accel.Evaluate(ctx, model, set, measured, accel.DataParallel(group))
	if err != nil {
		return err
	}
	for i, v := range got.Metrics() {
		if w := want.Metrics()[i]; v.Name != w.Name || math.Abs(v.Value-w.Value) > 1e-5 {
			return fmt.Errorf("got %v, want %v", got, want)
		}
	}
	if len(got.Metrics()) != 5 {
		return fmt.Errorf("got %v", got)
	}
	return nil
}

func init() {
	// Data sets that cannot be divided evenly, some with fewer examples than ranks.
	rankFailures["evaluate"] = func(ctx context.Context, group *parallel.Group) error {
		for _, examples := range []int{1, 2, 101, 1031} {
			model, set, err := judged(examples)
			if err != nil {
				return err
			}
			want, err := accel.Evaluate(ctx, model, set)
			if err != nil {
				return err
			}
			got, err := accel.Evaluate(ctx, model, set, accel.DataParallel(group))
			if err != nil {
				return err
			}
			if got.Accuracy() != want.Accuracy() || got.Len() != want.Len() || !reflect.DeepEqual(got.ConfusionMatrix(), want.ConfusionMatrix()) || math.Abs(got.Loss()-want.Loss()) > 1e-6 {
				return fmt.Errorf("%d examples: got %v, want %v", examples, got, want)
			}
			if err := evaluateMetrics(ctx, group, model, set); err != nil {
				return fmt.Errorf("%d examples: %w", examples, err)
			}
			one, err := accel.PredictDataset(ctx, model, set)
			if err != nil {
				return err
			}
			all, err := accel.PredictDataset(ctx, model, set, accel.DataParallel(group), accel.BatchSize(200))
			if err != nil {
				return err
			}
			if fmt.Sprint(all.Shape()) != fmt.Sprint(one.Shape()) || all.Sub(one).Abs().Max(0).Max(0).Item() > 1e-5 {
				return fmt.Errorf("%d examples: outputs %v, want %v", examples, all.Shape(), one.Shape())
			}
		}
		return nil
	}
	rankFailures["evaluate numbers"] = func(ctx context.Context, group *parallel.Group) error {
		set, err := data.FromTargets([][]float32{{1}, {2}, {4}, {7}, {8}}, [][]float32{{1}, {0}, {3}, {2}, {5}})
		if err != nil {
			return err
		}
		accel.Seed(5)
		model := nn.Sequential(nn.Dense(1))
		want, err := accel.Evaluate(ctx, model, set)
		if err != nil {
			return err
		}
		got, err := accel.Evaluate(ctx, model, set, accel.DataParallel(group))
		if err != nil || math.Abs(got.Loss()-want.Loss()) > 1e-6*want.Loss() || !math.IsNaN(got.Accuracy()) {
			return fmt.Errorf("got %v, want %v, %w", got, want, err)
		}
		return nil
	}
	rankFailures["evaluate other weights"] = func(ctx context.Context, group *parallel.Group) error {
		model, set, err := judged(20)
		if err != nil {
			return err
		}
		if group.Rank() == 1 {
			p := nn.Parameters(model)[1]
			p.SetData(make([]float32, p.Numel()))
			p.SetData(append([]float32{1}, make([]float32, p.Numel()-1)...))
		}
		_, err = accel.Evaluate(ctx, model, set, accel.DataParallel(group))
		return errors.Join(err, group.Barrier(ctx)) // the group can still be used
	}
	rankFailures["evaluate another order"] = func(ctx context.Context, group *parallel.Group) error {
		model, set, err := judged(200)
		if err != nil {
			return err
		}
		_, err = accel.Evaluate(ctx, model, set.Shuffled(uint64(group.Rank())), accel.DataParallel(group))
		return errors.Join(err, group.Barrier(ctx))
	}
	rankFailures["train in another order"] = func(ctx context.Context, group *parallel.Group) error {
		model, set, err := judged(200)
		if err != nil {
			return err
		}
		_, err = accel.Fit(ctx, model, set.Shuffled(uint64(group.Rank())), accel.DataParallel(group), accel.Quiet())
		return errors.Join(err, group.Barrier(ctx))
	}
	rankFailures["evaluate interrupted"] = func(ctx context.Context, group *parallel.Group) error {
		model, set, err := judged(200)
		if err != nil {
			return err
		}
		inner, cancel := context.WithCancel(ctx)
		if group.Rank() == 1 {
			cancel()
		}
		defer cancel()
		_, err = accel.Evaluate(inner, model, set, accel.DataParallel(group))
		if !errors.Is(err, context.Canceled) {
			return fmt.Errorf("no interrupt: %w", err)
		}
		return group.Barrier(ctx)
	}
	rankFailures["evaluate panics"] = func(ctx context.Context, group *parallel.Group) (err error) {
		_, set, err := judged(20)
		if err != nil {
			return err
		}
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("%v", p)
			}
		}()
		calls := 0
		model := nn.Lambda(func(x *tensor.Tensor) *tensor.Tensor {
			if calls++; calls > 1 && group.Rank() == 1 {
				panic("a mistake in the model")
			}
			return x.Flatten(1)
		})
		_, err = accel.Evaluate(ctx, model, set, accel.DataParallel(group))
		return err
	}
	// All ranks are interrupted at the same time.
	rankFailures["all interrupted"] = func(ctx context.Context, group *parallel.Group) error {
		inner, cancel := context.WithCancel(ctx)
		defer cancel()
		run, err := failing(inner, group, accel.StopWhen(func(r *accel.Run) bool {
			if len(r.Steps) == 5 {
				cancel()
			}
			return false
		}))
		if !errors.Is(err, context.Canceled) {
			return fmt.Errorf("%d steps, %w", len(run.Steps), err)
		}
		return group.Barrier(ctx)
	}
}

// TestEvaluateOnRanks compares evaluations on several ranks with one process.
func TestEvaluateOnRanks(t *testing.T) {
	for _, c := range []struct {
		task string
		want [3]string // in the errors of the ranks; empty for none
	}{
		{task: "evaluate"},
		{task: "evaluate numbers"},
		{task: "evaluate interrupted"},
		{task: "all interrupted"},
		{"evaluate other weights", [3]string{"rank 1 differs from rank 0: the values of 1.bias differ", "rank 1 differs from rank 0: the values of 1.bias", "rank 1 differs from rank 0: the values of 1.bias"}},
		{"evaluate another order", [3]string{"its data set digits, train has different examples", "its data set digits, train has different examples", "its data set digits, train has different examples"}},
		{"train in another order", [3]string{"rank 1 differs from rank 0: its data set digits, train has different examples", "rank 1 differs from rank 0", "rank 1 differs from rank 0"}},
		{"evaluate panics", [3]string{"gave up: the evaluation has panicked", "a mistake in the model", "gave up: the evaluation has panicked"}},
	} {
		t.Run(c.task, func(t *testing.T) {
			for r, o := range processes(t, c.task, 3) {
				if (o.Error == "") != (c.want[r] == "") || !strings.Contains(o.Error, c.want[r]) {
					t.Errorf("rank %d: got %q, want %q", r, o.Error, c.want[r])
				}
			}
		})
	}
}

func TestEvaluateTakesNoOptionsOfFit(t *testing.T) {
	model, set, err := judged(10)
	if err != nil {
		t.Fatal(err)
	}
	_, err = accel.Evaluate(t.Context(), model, set, accel.Epochs(3))
	if err == nil || !strings.Contains(err.Error(), "Epochs(3) is an option of Fit; Evaluate takes DataParallel, Minimize, Metrics and DerivedFrom") {
		t.Error(err)
	}
	group, err := parallel.Join(t.Context(), parallel.At(parallel.RankInfo{Size: 1}))
	if err != nil {
		t.Fatal(err)
	}
	want, err := accel.Evaluate(t.Context(), model, set)
	if err != nil {
		t.Fatal(err)
	}
	got, err := accel.Evaluate(t.Context(), model, set, accel.DataParallel(group))
	if err != nil || got.Loss() != want.Loss() {
		t.Error(got, err)
	}
}
