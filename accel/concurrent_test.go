package accel_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/quernlab/quern/accel"
)

// TestEvaluateBesideFit evaluates and predicts with one model while another is trained; the
// result of the training must not change by a bit.
func TestEvaluateBesideFit(t *testing.T) {
	train, test := digits(t)
	other := mlp(8)
	want, err := accel.Evaluate(t.Context(), other, test)
	if err != nil {
		t.Fatal(err)
	}
	first, err := test.First(3).Tensors()
	if err != nil {
		t.Fatal(err)
	}
	fit := func() []uint32 {
		accel.Seed(3)
		model := mlp(16)
		run, err := accel.Fit(t.Context(), model, train, accel.Epochs(2), accel.Validate(test), accel.Quiet())
		must(t, run, err)
		return weights(model)
	}
	alone := fit()
	ctx, cancel := context.WithCancel(t.Context())
	began := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		for n := 0; ctx.Err() == nil; n++ {
			got, err := accel.Evaluate(t.Context(), other, test)
			if err != nil || got.Loss() != want.Loss() {
				t.Errorf("a loss of %v, %v; alone %v", got, err, want)
				return
			}
			if _, err := accel.Predict(t.Context(), other, first.X); err != nil {
				t.Error(err)
				return
			}
			if n == 0 {
				close(began)
			}
		}
	})
	<-began
	beside := fit()
	cancel()
	wait.Wait()
	if !slices.Equal(beside, alone) {
		t.Error("the weights are others when a model is evaluated meanwhile")
	}
}
