package nn_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/optim"
	"github.com/quernlab/quern/accel/tensor"
)

func TestFreezeStatistics(t *testing.T) {
	m := nn.Sequential(nn.Dense(3), nn.BatchNorm())
	x := tensor.Randn(tensor.NewGenerator(1), 6, 4)
	m.Forward(x)
	nn.Train(m, false)
	want := m.Forward(x).Float64s()
	nn.Train(m, true)
	frozen := nn.Freeze(m, nn.FreezeStatistics())
	if got := m.Forward(x).Float64s(); !slices.Equal(got, want) || len(nn.Parameters(m)) != 0 {
		t.Errorf("got %v, want %v as in evaluation mode; %d parameters", got, want, len(nn.Parameters(m)))
	}
	frozen.Thaw()
	if got := m.Forward(x).Float64s(); slices.Equal(got, want) || len(nn.Parameters(m)) != 4 {
		t.Errorf("still as in evaluation mode after Thaw; %d parameters", len(nn.Parameters(m)))
	}
}

func TestReplaceHead(t *testing.T) {
	type net struct {
		Body nn.Module
		Head nn.Module `nn:"fc"`
	}
	body := nn.Dense(4)
	chain := nn.Sequential(nn.Flatten(), nn.Sequential(body, nn.ReLU(), nn.Dense(10)), nn.Dropout(0.5))
	own := &net{nn.Dense(4), nn.Dense(10)}
	for want, model := range map[string]any{"1.2": chain, "fc": own} {
		head := nn.Dense(3)
		name, err := nn.ReplaceHead(model, head)
		if err != nil || name != want {
			t.Errorf("replaced %q, %v; want %q", name, err, want)
		}
		found := false
		for _, m := range nn.NamedModules(model) {
			found = found || m.Module == nn.Module(head) && m.Name == want
		}
		if !found {
			t.Errorf("%s: the head was not replaced", want)
		}
	}
	if y := chain.Forward(tensor.Zeros(2, 5)); y.Size(1) != 3 {
		t.Errorf("shape %v", y.Shape())
	}
	for _, c := range []struct {
		name string
		by   nn.Module
	}{{"7", nn.ReLU()}, {"1.2.Weight", nn.ReLU()}, {"1", nil}, {"", nn.ReLU()}} {
		var state *tensor.StateError
		if err := nn.Replace(chain, c.name, c.by); !errors.As(err, &state) {
			t.Errorf("%q: %v, want a StateError", c.name, err)
		}
	}
}

func TestLoRA(t *testing.T) {
	m := nn.Sequential(nn.Dense(6), nn.Tanh(), nn.Dense(2))
	x := tensor.Randn(tensor.NewGenerator(1), 5, 4)
	y := m.Forward(x).Float64s()
	weights := func() (w []float64) {
		for _, l := range []int{0, 2} {
			w = append(w, m.Layers()[l].(*nn.DenseLayer).Weight.Float64s()...)
		}
		return w
	}
	before := weights()
	layers, err := nn.LoRA(m, 2, 4, "0")
	if err != nil {
		t.Fatal(err)
	}
	closeTo(t, "start", m.Forward(x).Float64s(), y, 0)
	var names []string
	for _, p := range nn.NamedParameters(m) {
		names = append(names, p.Name)
	}
	if want := []string{"0.lora_A.weight", "0.lora_B.weight"}; !slices.Equal(names, want) {
		t.Fatalf("parameters %v, want %v", names, want)
	}
	opt := optim.SGD(m, 0.5)
	for range 3 {
		opt.ZeroGrad()
		m.Forward(x).Square().Mean().Backward()
		opt.Step()
	}
	if !slices.Equal(before, weights()) {
		t.Error("training changed frozen weights")
	}
	trained := m.Forward(x).Float64s()
	if slices.Equal(trained, y) {
		t.Error("training changed nothing")
	}
	layers.Merge()
	closeTo(t, "merged", m.Forward(x).Float64s(), trained, 1e-6)
	if slices.Equal(before, weights()) || len(nn.NamedParameters(m)) != 4 {
		t.Errorf("Merge has not changed the weights, or left %d parameters", len(nn.NamedParameters(m)))
	}
	for name, f := range map[string]func() (*nn.LoRALayers, error){
		"rank":      func() (*nn.LoRALayers, error) { return nn.LoRA(m, 0, 1) },
		"pattern":   func() (*nn.LoRALayers, error) { return nn.LoRA(m, 1, 1, "5") },
		"malformed": func() (*nn.LoRALayers, error) { return nn.LoRA(m, 1, 1, "[") },
		"no weight": func() (*nn.LoRALayers, error) { return nn.LoRA(nn.Dense(3), 1, 1) },
	} {
		var state *tensor.StateError
		if _, err := f(); !errors.As(err, &state) || len(nn.NamedParameters(m)) != 4 {
			t.Errorf("%s: %v, %d parameters", name, err, len(nn.NamedParameters(m)))
		}
	}
}

func TestUnfreezeGradually(t *testing.T) {
	m := nn.Sequential(nn.Dense(3), nn.Dense(3), nn.Dense(3), nn.Dense(3))
	m.Forward(tensor.Zeros(1, 3))
	u, err := nn.UnfreezeGradually(m, 10, "1.*", "2.*", "3.*")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ updates, want int }{{0, 2}, {9, 2}, {10, 4}, {19, 4}, {20, 6}, {99, 6}} {
		if err := u.AfterStep(c.updates); err != nil || len(nn.Parameters(m)) != c.want {
			t.Errorf("after %d updates %d parameters, want %d; %v", c.updates, len(nn.Parameters(m)), c.want, err)
		}
	}
	if _, err := nn.UnfreezeGradually(m, 10, "9.*"); err == nil {
		t.Error("a pattern without a match is no error")
	}
}
