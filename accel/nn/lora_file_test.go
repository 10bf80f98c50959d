package nn_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
)

// TestAdapterFile saves adapters alone and loads them into the model they were trained with, and rejects
// other models and files, without a change.
func TestAdapterFile(t *testing.T) {
	folder := t.TempDir()
	x := tensor.Randn(tensor.NewGenerator(1), 2, 3, 8)
	newModel := func() nn.Module {
		m := nn.Sequential(nn.Dense(8), nn.SelfAttention(2), nn.Dense(4))
		m.Forward(x)
		return m
	}
	model := newModel()
	base, adapters := filepath.Join(folder, "base.safetensors"), filepath.Join(folder, "adapters.safetensors")
	if err := nn.Save(base, model); err != nil {
		t.Fatal(err)
	}
	layers, err := nn.LoRA(model, 2, 3, "0", "1")
	if err != nil {
		t.Fatal(err)
	}
	opt := optim.SGD(model, 0.5)
	for range 3 {
		opt.ZeroGrad()
		model.Forward(x).Square().Mean().Backward()
		opt.Step()
	}
	if err := layers.Save(adapters); err != nil {
		t.Fatal(err)
	}
	want := model.Forward(x).Float64s()

	again := newModel()
	if err := nn.Load(base, again); err != nil {
		t.Fatal(err)
	}
	loaded, err := nn.LoadLoRA(adapters, again)
	if err != nil {
		t.Fatal(err)
	}
	closeTo(t, "loaded", again.Forward(x).Float64s(), want, 0)
	if got := len(nn.NamedParameters(again)); got != 4 {
		t.Errorf("%d trained parameters, want the 4 of the adapters", got)
	}
	loaded.Merge()
	closeTo(t, "merged", again.Forward(x).Float64s(), want, 1e-6)

	other := newModel()
	if err := nn.Load(base, other); err != nil {
		t.Fatal(err)
	}
	tensor.NoGrad(func() {
		w := other.(*nn.SequentialLayer).Layers()[0].(*nn.DenseLayer).Weight
		w.Assign(w.AddScalar(1e-3))
	})
	whole, err := os.ReadFile(adapters)
	if err != nil {
		t.Fatal(err)
	}
	truncated := filepath.Join(folder, "truncated.safetensors")
	if err := os.WriteFile(truncated, whole[:len(whole)-5], 0o600); err != nil {
		t.Fatal(err)
	}
	small := nn.Sequential(nn.Dense(8))
	small.Forward(x)
	for _, tt := range []struct {
		model nn.Module
		path  string
		want  string
	}{
		{other, adapters, "the weights of 0 differ from those that the adapters were trained with"},
		{small, adapters, "the model has no layer 1 that can be adapted"},
		{model, adapters, "0 is adapted already"},
		{newModel(), base, "use nn.Load"},
		{newModel(), truncated, "truncated.safetensors"},
		{nn.Sequential(nn.Dense(8)), adapters, "0 has no weight yet"},
	} {
		before := tt.model.Forward(x)
		if tt.want == "0 has no weight yet" {
			tt.model = nn.Sequential(nn.Dense(8))
		}
		parameters := len(nn.NamedParameters(tt.model))
		if _, err := nn.LoadLoRA(tt.path, tt.model); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want an error with %q", err, tt.want)
		}
		if got := len(nn.NamedParameters(tt.model)); got != parameters {
			t.Errorf("%q: %d parameters, want %d", tt.want, got, parameters)
		}
		if tt.want != "0 has no weight yet" {
			closeTo(t, tt.want, tt.model.Forward(x).Float64s(), before.Float64s(), 0)
		}
	}
	var state *tensor.StateError
	if err := loaded.Save(adapters); !errors.As(err, &state) {
		t.Errorf("Save after Merge: %v", err)
	}
}
