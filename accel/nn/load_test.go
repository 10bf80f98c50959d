package nn_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// shards writes a model in two files with an index, as Hugging Face does, and returns the folder.
func shards(t *testing.T, m nn.Module) string {
	t.Helper()
	folder, index := t.TempDir(), map[string]string{}
	parts := []map[string]*nn.Tensor{{}, {}}
	names := []string{"model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"}
	for i, p := range nn.State(m) {
		parts[i%2]["model."+p.Name] = p.Tensor
		index["model."+p.Name] = names[i%2]
	}
	for i, part := range parts {
		if err := nn.SaveTensors(filepath.Join(folder, names[i]), part, nil); err != nil {
			t.Fatal(err)
		}
	}
	text, err := json.Marshal(map[string]any{"metadata": map[string]int{"total_size": 1}, "weight_map": index})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "model.safetensors.index.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

func threeLayers(out int) *nn.SequentialLayer {
	return nn.Sequential(nn.Dense(4), nn.ReLU(), nn.Dense(out))
}

func TestLoadShards(t *testing.T) {
	x := tensor.Randn(tensor.NewGenerator(1), 2, 3)
	m := threeLayers(2)
	want := m.Forward(x).Float64s()
	folder := shards(t, m)
	loaded := threeLayers(2)
	if err := nn.Load(folder, loaded, nn.Rename(`^model\.`, "")); err != nil {
		t.Fatal(err)
	}
	closeTo(t, "loaded", loaded.Forward(x).Float64s(), want, 0)

	second := filepath.Join(folder, "model-00002-of-00002.safetensors")
	b, err := os.ReadFile(second)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(second, b[:len(b)-2], 0o600); err != nil {
		t.Fatal(err)
	}
	before := loaded.Forward(x).Float64s()
	var corrupt *nn.CorruptFileError
	if err := nn.Load(folder, loaded, nn.Rename(`^model\.`, "")); !errors.As(err, &corrupt) || corrupt.Path != second {
		t.Errorf("a truncated file: %v", err)
	}
	closeTo(t, "after the error", loaded.Forward(x).Float64s(), before, 0)
	for _, c := range []struct{ index, want string }{
		{`{"weight_map": {"a": "model-00001-of-00002.safetensors"}}`, `tensor "a" is missing`},
		{`{"weight_map": {"a": "../x.safetensors"}}`, "not a file beside the index"},
		{`{}`, "no weight_map"}, {`[`, "not JSON"},
	} {
		path := filepath.Join(folder, "model.safetensors.index.json")
		if err := os.WriteFile(path, []byte(c.index), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := nn.Load(path, loaded); !errors.As(err, &corrupt) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.index, err)
		}
	}
	if err := nn.Load(t.TempDir(), loaded); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an empty folder: %v", err)
	}
}

func TestLoadPartially(t *testing.T) {
	x := tensor.Randn(tensor.NewGenerator(1), 2, 3)
	m := nn.Sequential(nn.Dense(4), nn.ReLU(), nn.Dense(2), nn.Tanh(), nn.Tanh(), nn.Dense(5))
	m.Forward(x)
	path := filepath.Join(t.TempDir(), "m.safetensors")
	if err := nn.Save(path, m); err != nil {
		t.Fatal(err)
	}
	for _, used := range []bool{false, true} {
		to := nn.Sequential(nn.Dense(4), nn.ReLU(), nn.Dense(3), nn.LayerNorm(), nn.Embedding(2, 2))
		if used {
			to.Layers()[0].Forward(x)
			to.Layers()[2].Forward(tensor.Zeros(1, 4))
		}
		var r nn.LoadReport
		if err := nn.Load(path, to, nn.Report(&r)); err == nil || r.Complete() {
			t.Errorf("a file of another model: %v, %v", err, &r)
		}
		if err := nn.Load(path, to, nn.Partial(), nn.Report(&r)); err != nil {
			t.Fatal(err)
		}
		different := 1 // an unused layer is one entry
		if used {
			different = 2
		}
		if !slices.Equal(r.Loaded, []string{"0.bias", "0.weight"}) || len(r.Different) != different ||
			!slices.Contains(r.Missing, "4.weight") {
			t.Errorf("used %v: %v\n%+v", used, &r, r)
		}
		closeTo(t, "first layer", to.Layers()[0].Forward(x).Float64s(), m.Layers()[0].Forward(x).Float64s(), 0)
	}
	if err := nn.Load(path, nn.Embedding(3, 3), nn.Partial()); err == nil || !strings.Contains(err.Error(), "no tensor fits") {
		t.Errorf("nothing in common: %v", err)
	}
	if err := nn.Load(path, m, nn.Rename("[", "")); err == nil {
		t.Error("a malformed pattern is no error")
	}
	if err := nn.Load(path, m, nn.Rename(`^\d`, "0")); err == nil || !strings.Contains(err.Error(), "the same name") {
		t.Errorf("equal names: %v", err)
	}
}
