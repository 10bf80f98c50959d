package accel_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/parallel"
	"github.com/quernlab/quern/accel/tensor"
)

// TestOptionScopes passes functions options that are only for others.
func TestOptionScopes(t *testing.T) {
	train, _ := digits(t)
	model := mlp(4)
	for want, o := range map[string]accel.Option{
		"accel: Evaluate: Epochs(2) is an option of Fit; Evaluate takes DataParallel, Minimize, Metrics and DerivedFrom": accel.Epochs(2),
		"accel: Evaluate: Quiet() is an option of Fit":                                                                   accel.Quiet(),
	} {
		if _, err := accel.Evaluate(t.Context(), model, train, o); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	_, err := accel.Predict(t.Context(), model, tensor.Zeros(1, 64), accel.Accumulate(2), accel.BatchSize(1))
	if want := "accel: Predict: Accumulate(2) is an option of Fit; Predict takes BatchSize and Progress"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	_, err = accel.PredictDataset(t.Context(), model, train, accel.Metrics())
	if want := "accel: PredictDataset: Metrics() is an option of Fit and Evaluate; PredictDataset takes BatchSize, DataParallel and Progress"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	_, err = accel.Generate(t.Context(), model, []int{1}, 1, accel.BatchSize(2))
	if want := "accel: Generate: BatchSize(2) is an option of Fit, Predict and PredictDataset; Generate takes Temperature and TopK"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	_, err = accel.Fit(t.Context(), model, train, accel.DerivedFrom(model), accel.Quiet())
	if want := "accel: Fit: DerivedFrom(original) is an option of Evaluate"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestZeROErrors requires an error for what ranks cannot divide.
func TestZeROErrors(t *testing.T) {
	train, _ := digits(t)
	ranks, err := parallel.Local(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer ranks[0].Close()
	group := accel.DataParallel(ranks[0])
	for _, c := range []struct {
		options []accel.Option
		want    string
	}{
		{[]accel.Option{accel.ZeRO(4), group}, "accel: ZeRO(4): the stage must be 1, 2 or 3"},
		{[]accel.Option{accel.ZeRO(2)}, "accel: ZeRO(2): ranks divide the training: add DataParallel(group)"},
	} {
		if _, err := accel.Fit(t.Context(), mlp(4), train, append(c.options, accel.Quiet())...); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

// TestTrackedOutputOptions compares runs that differ only in how they are displayed and
// recorded, one of them with an argument that looks like another option.
func TestTrackedOutputOptions(t *testing.T) {
	train, test := digits(t)
	folder := t.TempDir()
	board := filepath.Join(t.TempDir(), "board")
	named := test.Named("Live() of Track(x)")
	for _, o := range []accel.Option{accel.Quiet(), accel.TensorBoard(board)} {
		if _, err := accel.Fit(t.Context(), mlp(4), train, accel.Steps(2), accel.Validate(named), accel.Track(folder), accel.Quiet(), o); err != nil {
			t.Fatal(err)
		}
	}
	runs, err := accel.Runs(folder)
	if err != nil {
		t.Fatal(err)
	}
	text := runs.String()
	if !strings.Contains(text, "2 runs, all with Steps(2), Validate(Live() of Track(x))") || strings.Contains(text, "TensorBoard") || strings.Contains(text, "Quiet") {
		t.Error(text)
	}
	if len(runs.Runs) != 2 || len(runs.Runs[1].Options) != 5 {
		t.Errorf("%+v", runs.Runs)
	}
}
