package accel_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/internal/ir"
	"github.com/quernlab/quern/accel/nn"
)

// deep is a model whose activations take far more memory than its weights.
func deep() *nn.Chain {
	block := func(int) nn.Module {
		return nn.Sequential(nn.Dense(64), nn.BatchNorm(), nn.GELU(), nn.Dropout(0.1))
	}
	return nn.Sequential(nn.Flatten(), nn.Repeat(16, block), nn.Dense(10))
}

// TestCheckpointOption trains with everything random in use, cut and whole: equal
// weights, bit for bit, in less memory.
func TestCheckpointOption(t *testing.T) {
	train, _ := digits(t)
	train = train.First(1024)
	fit := func(options ...accel.Option) ([]uint32, int) {
		accel.Seed(3)
		model := deep()
		if table := nn.Summary(model, 1, 8, 8); table.Err != nil { // gives it its parameters
			t.Fatal(table.Err)
		}
		ir.Collect()
		run, err := accel.Fit(t.Context(), model, train, append(options, accel.Steps(4), accel.BatchSize(512), accel.AdamW(1e-3), accel.Quiet())...)
		must(t, run, err)
		return weights(model), run.Card().PeakBytes
	}
	want, whole := fit()
	got, cut := fit(accel.Checkpoint())
	t.Logf("peak: %d bytes, with Checkpoint() %d", whole, cut)
	if !slices.Equal(got, want) {
		t.Error("the weights are others")
	}
	if cut > whole*6/10 {
		t.Errorf("the peak is %d bytes, with Checkpoint() %d", whole, cut)
	}
}

// TestCheckpointOptionEnds wants the model as it was, also when Fit fails, and
// words where nothing can be cut.
func TestCheckpointOptionEnds(t *testing.T) {
	train, _ := digits(t)
	model := mlp(4)
	run, err := accel.Fit(t.Context(), model, train, accel.Steps(1), accel.Checkpoint(), accel.Quiet())
	must(t, run, err)
	if !slices.Contains(run.Options, "Checkpoint()") {
		t.Errorf("options %v", run.Options)
	}
	if n := nn.Recompute(model, false); n != 0 {
		t.Errorf("%d chains are still cut", n)
	}
	flat, err := data.FromSlices([][]float32{{1, 2}}, []int{0})
	if err != nil {
		t.Fatal(err)
	}
	_, err = accel.Fit(t.Context(), nn.Dense(2), flat, accel.Checkpoint(), accel.Quiet())
	if err == nil || !strings.Contains(err.Error(), "put nn.Checkpoint around its parts") {
		t.Errorf("got %v", err)
	}
}
