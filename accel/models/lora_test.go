package models_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/quernlab/quern/accel/models"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
)

// TestPEFT loads adapters of Hugging Face's PEFT, trains them further, and merges them, with the
// outputs and losses of PEFT; testdata/make_lora.py writes them.
func TestPEFT(t *testing.T) {
	text, err := os.ReadFile("testdata/lora/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	for name, patterns := range map[string][]string{"gpt2": {"*.*.*.*.c_attn", "*.*.*.*.c_fc"}, "llama": {"*.q_proj", "*.v_proj", "*.down_proj"}} {
		t.Run(name, func(t *testing.T) {
			var want struct{ Before, Losses, Trained []float64 }
			if err := json.Unmarshal(all[name], &want); err != nil {
				t.Fatal(err)
			}
			m, err := models.Load(filepath.Join("testdata", name))
			if err != nil {
				t.Fatal(err)
			}
			layers, err := nn.LoRA(m, 2, 6, patterns...)
			if err != nil {
				t.Fatal(err)
			}
			var report nn.LoadReport
			err = nn.Load(filepath.Join("testdata/lora", name, "adapter_model.safetensors"), m,
				nn.Rename(`^base_model\.model\.`, ""), nn.Partial(), nn.Report(&report))
			if err != nil {
				t.Fatal(err)
			}
			if len(report.Loaded) != len(trainedParameters(m)) {
				t.Errorf("loaded %v, but %d parameters are trained", report.Loaded, len(trainedParameters(m)))
			}
			ids := tokens(read(t, name).IDs)
			closeTo(t, m.Forward(ids), want.Before)
			optimizer := optim.AdamW(m, 0.02, optim.WeightDecay(0.1))
			for step, loss := range want.Losses {
				logits := m.Forward(ids).Slice(1, 0, 4)
				got := nn.CrossEntropy(logits, ids.Slice(1, 1, 5))
				if d := math.Abs(got.Item() - loss); !(d <= 1e-4) {
					t.Errorf("step %d: loss %v, want %v", step, got.Item(), loss)
				}
				got.Backward()
				optimizer.Step()
				optimizer.ZeroGrad()
			}
			closeTo(t, m.Forward(ids), want.Trained)
			layers.Merge()
			closeTo(t, m.Forward(ids), want.Trained)
		})
	}
}

// trainedParameters returns the parameters that are not frozen.
func trainedParameters(m nn.Module) (trained []string) {
	for _, p := range nn.NamedParameters(m) {
		if p.Tensor.RequiresGrad() {
			trained = append(trained, p.Name)
		}
	}
	return trained
}
