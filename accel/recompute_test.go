package accel_test

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// deep is a model whose activations take far more memory than its weights.
func deep() *nn.Chain {
	block := func(int) nn.Module {
		return nn.Sequential(nn.Dense(64), nn.BatchNorm(), nn.GELU(), nn.Dropout(0.1))
	}
	return nn.Sequential(nn.Flatten(), nn.Repeat(16, block), nn.Dense(10))
}

// TestCheckpointOption trains with everything random in use, cut and whole, in
// each a process of its own, since the peak is of a process: equal weights, bit
// for bit, in less memory.
func TestCheckpointOption(t *testing.T) {
	const variable = "ACCEL_TEST_CHECKPOINT"
	train, _ := digits(t)
	train = train.First(1024)
	if how := os.Getenv(variable); how != "" {
		accel.Seed(3)
		model := deep()
		if table := nn.Summary(model, 1, 8, 8); table.Err != nil { // gives it its parameters
			t.Fatal(table.Err)
		}
		options := []accel.Option{accel.Steps(4), accel.BatchSize(512), accel.AdamW(1e-3), accel.Quiet()}
		if how == "cut" {
			options = append(options, accel.Checkpoint())
		}
		run, err := accel.Fit(t.Context(), model, train, options...)
		must(t, run, err)
		sum := uint64(14695981039346656037) // FNV-1a
		for _, p := range nn.State(model) {
			for _, b := range p.Raw() {
				sum = (sum ^ uint64(b)) * 1099511628211
			}
		}
		fmt.Printf("\nresult %x %d\n", sum, tensor.Stats().PeakBytes)
		return
	}
	peaks, sums := map[string]int{}, map[string]string{}
	for _, how := range []string{"whole", "cut"} {
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestCheckpointOption$")
		child.Env = append(os.Environ(), variable+"="+how)
		out, err := child.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		_, result, _ := strings.Cut(string(out), "result ")
		var sum string
		var peak int
		if _, err := fmt.Sscan(result, &sum, &peak); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		sums[how], peaks[how] = sum, peak
	}
	t.Logf("peak: %d bytes, with Checkpoint() %d", peaks["whole"], peaks["cut"])
	if sums["whole"] != sums["cut"] {
		t.Error("the weights are others")
	}
	if peaks["cut"] > peaks["whole"]*6/10 {
		t.Errorf("the peak is %d bytes, with Checkpoint() %d", peaks["whole"], peaks["cut"])
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
