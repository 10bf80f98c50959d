package nn_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

func TestLoadPyTorch(t *testing.T) {
	var g struct{ X, Y []float64 }
	read(t, "weights.json", &g)
	model := nn.Sequential(nn.Dense(3), nn.ReLU(), nn.Dense(2))
	if err := nn.Load("../testdata/weights.safetensors", model); err != nil {
		t.Fatal(err)
	}
	closeTo(t, "y", model.Forward(of(g.X, 5, 4)).Float64s(), g.Y, 1e-6)
	if n := len(nn.Parameters(model)); n != 4 {
		t.Errorf("%d parameters to train", n)
	}
}

func TestSaveAndLoad(t *testing.T) {
	tensors.Seed(5)
	build := func() *nn.SequentialLayer {
		return nn.Sequential(nn.Dense(4), nn.LayerNorm(), nn.Residual(nn.Dense(4, nn.NoBias())), nn.Dense(2))
	}
	model, x := build(), tensor.Randn(nil, 3, 5)
	want := model.Forward(x).Data()
	nn.Freeze(model.Layers()[0])
	path := filepath.Join(t.TempDir(), "model.safetensors")
	for range 2 { // the second replaces the first
		if err := nn.Save(path, model); err != nil {
			t.Fatal(err)
		}
	}
	fresh, used := build(), build()
	used.Forward(x)
	for name, m := range map[string]*nn.SequentialLayer{"fresh": fresh, "used": used} {
		if err := nn.Load(path, m); err != nil {
			t.Fatal(err)
		}
		if got := m.Forward(x).Data(); !slices.Equal(got, want) {
			t.Errorf("%s model: want %v, got %v", name, want, got)
		}
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
}

// TestLoadConverts loads floats of other sizes, and a module's tensor of integers.
func TestLoadConverts(t *testing.T) {
	type table struct {
		Scale  *nn.Tensor
		Places *nn.Tensor
	}
	path := filepath.Join(t.TempDir(), "model.safetensors")
	save := func(scale, places *nn.Tensor) {
		if err := nn.SaveTensors(path, map[string]*nn.Tensor{"Scale": scale, "Places": places}, nil); err != nil {
			t.Fatal(err)
		}
	}
	values, places := tensor.New([]float32{1.5, -2}, 2), tensor.FromInts([]int{7, 9}, 2)
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.Float16, tensor.BFloat16} {
		save(values.Cast(d), places)
		m := &table{tensor.Parameter(tensor.Zeros(2)), tensor.FromInts([]int{0, 0}, 2)}
		if err := nn.Load(path, m); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(m.Scale.Data(), []float32{1.5, -2}) || m.Scale.DType() != tensor.Float32 || !m.Scale.RequiresGrad() || !slices.Equal(m.Places.Ints(), []int{7, 9}) {
			t.Errorf("%v: %v and %v", d, m.Scale, m.Places)
		}
	}
	m := &table{tensor.Parameter(tensor.Zeros(2)), tensor.FromInts([]int{0, 0}, 2)}
	save(places, places)
	if err := nn.Load(path, m); err == nil || !strings.Contains(err.Error(), "Scale is of type int32, the model needs float32") {
		t.Errorf("%v", err)
	}
	save(values, values)
	if err := nn.Load(path, m); err == nil || !strings.Contains(err.Error(), "Places is of type float32, the model needs int32") || !slices.Equal(m.Scale.Data(), []float32{0, 0}) {
		t.Errorf("%v, and Scale is %v", err, m.Scale)
	}
}

func TestLoadRefuses(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "model.safetensors")
	model := nn.Sequential(nn.Dense(4), nn.Dense(2))
	model.Forward(tensor.Zeros(1, 3))
	if err := nn.Save(path, model); err != nil {
		t.Fatal(err)
	}
	damaged := filepath.Join(folder, "damaged")
	if err := os.WriteFile(damaged, []byte("not a safetensors file"), 0o644); err != nil {
		t.Fatal(err)
	}
	used := func(m *nn.SequentialLayer, in int) *nn.SequentialLayer {
		m.Forward(tensor.Zeros(1, in))
		return m
	}
	tests := []struct {
		name  string
		path  string
		model *nn.SequentialLayer
		want  string
	}{
		{"no file", filepath.Join(folder, "none"), model, "no such file"},
		{"damaged", damaged, model, "nn: load " + damaged + ": the header should have"},
		{"another size", path, used(nn.Sequential(nn.Dense(4), nn.Dense(2)), 7), "0.weight has shape [4 3], the model needs [4 7]"},
		{"another layer", path, nn.Sequential(nn.Dense(5), nn.Dense(2)), "0: Dense(5) cannot have a weight of shape [4 3]"},
		{"a layer more", path, nn.Sequential(nn.Dense(4), nn.Dense(2), nn.Dense(2)), "2.bias is missing; 2.weight is missing"},
		{"a layer less", path, nn.Sequential(nn.Dense(4)), "1.bias is not in the model; 1.weight is not in the model"},
		{"no norm", path, nn.Sequential(nn.LayerNorm(), nn.Dense(2)), "0: LayerNorm() cannot have a weight of shape [4 3]"},
		{"not a layer of files", path, nn.Sequential(nn.Dense(4, nn.NoBias()), nn.Dense(2)), "0.bias is not in the model"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := nn.Load(tt.path, tt.model)
			if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), "The system cannot find the file specified.", "no such file"), tt.want) {
				t.Errorf("want an error with %q\n got  %v", tt.want, err)
			}
		})
	}
	if err := nn.Load(filepath.Join(folder, "none"), model); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if err := nn.Save(path, nn.Sequential(nn.Dense(3))); err == nil || !strings.Contains(err.Error(), "no parameters") {
		t.Errorf("saving a model without parameters: %v", err)
	}
	if err := nn.Save(filepath.Join(folder, "no", "folder"), model); err == nil {
		t.Error("saved into a folder that does not exist")
	}
}
