package accel_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/nn"
)

// TestDropLast trains with BatchNorm on a data set whose last batch has a single example.
func TestDropLast(t *testing.T) {
	all, _ := digits(t)
	train := all.First(33)
	model := func() nn.Module { return nn.Sequential(nn.Flatten(), nn.Dense(4), nn.BatchNorm(), nn.Dense(10)) }
	_, err := accel.Fit(t.Context(), model(), train, accel.BatchSize(16), accel.Epochs(2), accel.Quiet())
	var layer *nn.LayerError
	if !errors.As(err, &layer) || layer.Path != "2" || !strings.Contains(err.Error(), "use DropLast") {
		t.Errorf("a last batch of one: %v", err)
	}
	run, err := accel.Fit(t.Context(), model(), train, accel.BatchSize(16), accel.Epochs(2), accel.DropLast(), accel.Quiet())
	if err != nil || len(run.Steps) != 4 || run.Examples != 64 || len(run.Epochs) != 2 {
		t.Errorf("%d steps on %d examples in %d epochs, %v; want 4 on 64 in 2", len(run.Steps), run.Examples, len(run.Epochs), err)
	}
	run, err = accel.Fit(t.Context(), model(), train.First(5), accel.BatchSize(16), accel.Epochs(1), accel.DropLast(), accel.Quiet())
	if err != nil || run.Examples != 5 {
		t.Errorf("a data set smaller than a batch: %d examples, %v", run.Examples, err)
	}
}

// TestClassBalancedSampler counts the classes of the batches of data in which one is rare.
func TestClassBalancedSampler(t *testing.T) {
	set := blobs(t, 400, 0.05, 1)
	counts := [2]int{}
	counting := func(prediction, class *nn.Tensor) *nn.Tensor {
		for _, c := range class.Ints() {
			counts[c]++
		}
		return nn.CrossEntropy(prediction, class)
	}
	run, err := accel.Fit(t.Context(), twoLayers(2), set, accel.ClassBalancedSampler(), accel.Minimize(counting), accel.Epochs(4), accel.Quiet())
	if err != nil || run.Examples != 1600 || len(run.Notes) > 0 {
		t.Fatalf("%d examples, %q, %v", run.Examples, run.Notes, err)
	}
	if counts[0]+counts[1] != 1600 || counts[1] < 700 || counts[1] > 900 { // 800 ± 20
		t.Errorf("the classes occur %v times", counts)
	}
	for want, test := range map[string]accelTraining{
		"do not have one class each":    {twoLayers(1), doubles(t, 100), options(accel.ClassBalancedSampler())},
		"both set the weights":          {twoLayers(2), set, options(accel.ClassBalancedSampler(), accel.WeightedRandomSampler(make([]float64, 400)))},
		"sampler with weights both set": {twoLayers(2), set, options(accel.ClassBalancedSampler(), accel.GroupByLength())},
	} {
		if _, err := accel.Fit(t.Context(), test.model, test.train, append(test.options, accel.Quiet())...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestFitWithASampler(t *testing.T) {
	train, _ := digits(t)
	train = train.First(64)
	weights := make([]float64, 64)
	weights[7] = 1
	fit := func(options ...accel.Option) (float64, error) {
		accel.Seed(1)
		run, err := accel.Fit(t.Context(), mlp(8), train, append(options, accel.Epochs(1), accel.BatchSize(64), accel.Quiet())...)
		return run.Loss(), err
	}
	only, err := train.Subset(slices.Repeat([]int{7}, 64))
	if err != nil {
		t.Fatal(err)
	}
	accel.Seed(1)
	want, err := accel.Fit(t.Context(), mlp(8), only, accel.Epochs(1), accel.BatchSize(64), accel.Quiet())
	if err != nil {
		t.Fatal(err)
	}
	if got, err := fit(accel.WeightedRandomSampler(weights)); err != nil || got != want.Loss() {
		t.Errorf("loss %v, %v; of copies of example 7 it is %v", got, err, want.Loss())
	}
	if _, err := fit(accel.WeightedRandomSampler(weights[1:])); err == nil || !strings.Contains(err.Error(), "63 weights for 64 examples") {
		t.Errorf("too few weights: %v", err)
	}
}
