package accel_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// deep returns a model whose activations need far more memory than its weights.
func deep() *nn.SequentialLayer {
	block := func(int) nn.Module {
		return nn.Sequential(nn.Dense(64), nn.BatchNorm(), nn.GELU(), nn.Dropout(0.1))
	}
	return nn.Sequential(nn.Flatten(), nn.Repeat(16, block), nn.Dense(10))
}

// TestRecomputeOption trains with and without Recompute, with every source of randomness in
// use: the weights must be equal bit for bit, with less memory.
func TestRecomputeOption(t *testing.T) {
	train, _ := digits(t)
	train = train.First(1024)
	fit := func(options ...accel.Option) ([]uint32, int) {
		accel.Seed(3)
		model := deep()
		if table := nn.Summary(model, 1, 8, 8); table.Err != nil { // creates the parameters
			t.Fatal(table.Err)
		}
		ir.Collect()
		run, err := accel.Fit(t.Context(), model, train, append(options, accel.Steps(4), accel.BatchSize(512), accel.AdamW(1e-3), accel.Quiet())...)
		must(t, run, err)
		return weights(model), run.Card().PeakBytes
	}
	want, fullPeak := fit()
	got, recomputePeak := fit(accel.Recompute())
	t.Logf("peak: %d bytes, with Recompute() %d", fullPeak, recomputePeak)
	if !slices.Equal(got, want) {
		t.Error("the weights are others")
	}
	if recomputePeak > fullPeak*6/10 {
		t.Errorf("the peak is %d bytes, with Recompute() %d", fullPeak, recomputePeak)
	}
}

// TestEarlyForwardChangesNothing trains models whose layers create their parameters in the
// first step, or before it: the result must be the same bit for bit.
func TestEarlyForwardChangesNothing(t *testing.T) {
	train, test := digits(t)
	train = train.First(256)
	noisy := func() nn.Module {
		return nn.Lambda(func(x *tensor.Tensor) *tensor.Tensor { return x.Add(tensor.Randn(nil, x.Size(1)).MulScalar(0.01)) })
	}
	for name, newModel := range map[string]func() nn.Module{
		"dense":   func() nn.Module { return nn.Sequential(nn.Flatten(), nn.Dense(32), nn.ReLU(), nn.Dense(10)) },
		"dropout": func() nn.Module { return deep() },
		"noise": func() nn.Module {
			return nn.Sequential(nn.Flatten(), noisy(), nn.Dense(32), noisy(), nn.ReLU(), nn.Dense(10))
		},
		"images": func() nn.Module {
			return nn.Sequential(nn.Conv2D(4, 3), nn.BatchNorm(), nn.Dropout(0.2), nn.ReLU(), nn.Flatten(), nn.Dense(10))
		},
		"attention": func() nn.Module {
			return nn.Sequential(nn.Flatten(), nn.Dense(64), nn.Dropout(0.2), nn.Residual(nn.LayerNorm(), nn.Dense(64)), nn.Recompute(nn.Dense(16), nn.Dropout(0.3)), nn.Dense(10))
		},
	} {
		fit := func(before func(nn.Module) error, options ...accel.Option) ([]uint32, []accel.Step, uint64) {
			accel.Seed(3)
			model := newModel()
			if err := before(model); err != nil {
				t.Fatal(err)
			}
			run, err := accel.Fit(t.Context(), model, train, append(options, accel.Steps(3), accel.BatchSize(64), accel.AdamW(1e-3), accel.Quiet())...)
			must(t, run, err)
			for i := range run.Steps {
				run.Steps[i].Seconds = 0
			}
			return weights(model), run.Steps, (*tensor.Generator)(nil).Uint64()
		}
		nothing := func(nn.Module) error { return nil }
		want, steps, next := fit(nothing)
		for variant, other := range map[string]struct {
			before  func(nn.Module) error
			options []accel.Option
		}{
			"Recompute()":    {nothing, []accel.Option{accel.Recompute()}},
			"Summary before": {func(m nn.Module) error { return nn.Summary(m, 1, 8, 8).Err }, nil},
			"Evaluate before": {func(m nn.Module) error {
				_, err := accel.Evaluate(t.Context(), m, test)
				return err
			}, nil},
		} {
			if name == "noise" && variant != "Recompute()" {
				continue // the model itself draws random numbers in Forward
			}
			got, others, after := fit(other.before, other.options...)
			if !slices.Equal(got, want) || !slices.Equal(others, steps) || after != next {
				t.Errorf("%s, %s: the first loss is %v, was %v", name, variant, others[0].Loss, steps[0].Loss)
			}
		}
	}
}

// TestRecomputeOptionEnds requires the model to be unchanged afterwards, also when Fit fails,
// and an error if there is no chain.
func TestRecomputeOptionEnds(t *testing.T) {
	train, _ := digits(t)
	model := mlp(4)
	run, err := accel.Fit(t.Context(), model, train, accel.Steps(1), accel.Recompute(), accel.Quiet())
	must(t, run, err)
	if !slices.Contains(run.Options, "Recompute()") {
		t.Errorf("options %v", run.Options)
	}
	if n := nn.SetRecompute(model, false); n != 0 {
		t.Errorf("%d chains are still cut", n)
	}
	flat, err := data.FromSlices([][]float32{{1, 2}}, []int{0})
	if err != nil {
		t.Fatal(err)
	}
	_, err = accel.Fit(t.Context(), nn.Dense(2), flat, accel.Recompute(), accel.Quiet())
	if err == nil || !strings.Contains(err.Error(), "wrap parts of the model in nn.Recompute") {
		t.Errorf("got %v", err)
	}
}
