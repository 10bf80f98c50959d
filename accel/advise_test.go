package accel_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/search"
)

func TestAdvise(t *testing.T) {
	train, _ := digits(t)
	model := mlp(32)
	if _, err := accel.Evaluate(t.Context(), model, train.First(1)); err != nil {
		t.Fatal(err)
	}
	before := weights(model)
	// A custom transform prevents the data set from being on the device.
	own, err := train.Map(data.Lambda("nothing", func([]float32, []int, *rand.Rand) {}))
	if err != nil {
		t.Fatal(err)
	}
	a, err := accel.Advise(t.Context(), model, own, accel.BatchSize(16), accel.Workers(1))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(weights(model), before) {
		t.Error("the model has other weights than before")
	}
	seen := map[string]search.Trial{}
	for _, x := range append(a.Trials, a.Memory...) {
		seen[x.Change] = x
		if x.Err == nil && (len(x.Speeds) != 3 || !(x.Speed() > 0) || x.PeakBytes <= 0) {
			t.Errorf("%q: %+v", x.Change, x)
		}
	}
	for _, change := range []string{"", "Workers(2)", "train.OnDevice()", "Recompute()"} {
		if _, ok := seen[change]; !ok {
			t.Errorf("%q was not tried", change)
		}
	}
	if _, ok := seen["AMP()"]; ok { // AMP does nothing on the CPU
		t.Error("AMP() was tried on a CPU")
	}
	if seen["train.OnDevice()"].Err == nil {
		t.Error("a data set with a custom transform was on the device")
	}
	if text := a.String(); !strings.Contains(text, "unchanged") || !strings.Contains(text, a.Recommendation()) {
		t.Error(text)
	}
}

// TestRecommendation has trials of which only some deserve a recommendation.
func TestRecommendation(t *testing.T) {
	a := &accel.Advice{
		Trials: []search.Trial{
			{Speeds: []float64{100, 104, 96}, PeakBytes: 1000},
			{Change: "Faster()", Speeds: []float64{200, 210, 190}, Note: "of course"},
			{Change: "Unsteady()", Speeds: []float64{300, 310, 100}},
			{Change: "Little()", Speeds: []float64{106, 107, 106}},
			{Change: "Broken()", Err: errors.New("no")},
		},
		Memory: []search.Trial{{Change: "Small()", Speeds: []float64{75, 75, 75}, PeakBytes: 500}},
	}
	want := "Use Faster(): 2.0× the examples per second (of course). Perhaps faster: Unsteady() (3.0×); not every round was faster, so measure again while the machine is otherwise idle. If memory is short: Small() needs 500 B instead of 0.977 KiB, at 0.75× the speed."
	if got := a.Recommendation(); got != want {
		t.Errorf("%q\nwant %q", got, want)
	}
	a.Trials, a.Memory = append(a.Trials[:1:1], a.Trials[2]), nil
	if got := a.Recommendation(); !strings.HasPrefix(got, "No trial was clearly faster. Perhaps faster: Unsteady() (3.0×)") {
		t.Error(got)
	}
	a.Trials = a.Trials[:1]
	if got := a.Recommendation(); got != "No trial was faster." {
		t.Error(got)
	}
	if got := (&accel.Advice{}).Recommendation(); got != "nothing was measured" {
		t.Errorf("%q", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	train, _ := digits(t)
	if _, err := accel.Advise(ctx, mlp(8), train); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	if _, err := accel.Advise(t.Context(), mlp(8), nil); err == nil {
		t.Error("no set is taken")
	}
}
