package quantize_test

import (
	"encoding/json"
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/quantize"
	"github.com/quernlab/quern/accel/tensor"
)

// TestDamagedFiles changes one thing in a file; Load must return an error and leave the model
// unchanged.
func TestDamagedFiles(t *testing.T) {
	train, _ := digits(t)
	newModel := func() *nn.SequentialLayer {
		return nn.Sequential(nn.Conv2D(4, 3), nn.BatchNorm(), nn.ReLU(), nn.Flatten(), nn.Dense(10))
	}
	model := newModel()
	fitted(t, model, train, 1)
	small, err := quantize.Static(t.Context(), model, train)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "model.safetensors")
	if err := small.Save(path); err != nil {
		t.Fatal(err)
	}
	if err := nn.Load(path, newModel()); err == nil {
		t.Error("nn.Load reads a quantized model")
	}
	const note = "quern.quantized"
	type tensors = map[string]*tensor.Tensor
	for name, damage := range map[string]func(all tensors, notes map[string]string){
		"no note":             func(_ tensors, n map[string]string) { delete(n, note) },
		"a note that is none": func(_ tensors, n map[string]string) { n[note] = "{" },
		"another version": func(_ tensors, n map[string]string) {
			n[note] = strings.Replace(n[note], `"Version":1`, `"Version":9`, 1)
		},
		"another kind": func(_ tensors, n map[string]string) { n[note] = strings.Replace(n[note], `"static"`, `"ternary"`, 1) },
		"another layer": func(_ tensors, n map[string]string) {
			n[note] = strings.Replace(n[note], `"Name":"4"`, `"Name":"5"`, 1)
		},
		"another norm": func(_ tensors, n map[string]string) {
			n[note] = strings.Replace(n[note], `"Fold":"1"`, `"Fold":"2"`, 1)
		},
		"a layer twice": func(_ tensors, n map[string]string) {
			var v map[string]any
			if err := json.Unmarshal([]byte(n[note]), &v); err != nil {
				t.Fatal(err)
			}
			v["Layers"] = append(v["Layers"].([]any), v["Layers"].([]any)...)
			text, _ := json.Marshal(v)
			n[note] = string(text)
		},
		"no weight":        func(a tensors, _ map[string]string) { delete(a, "0.weight") },
		"floats":           func(a tensors, _ map[string]string) { a["0.weight"] = a["0.weight"].Cast(tensor.Float32) },
		"another shape":    func(a tensors, _ map[string]string) { a["0.weight"] = a["0.weight"].Reshape(4, 9) },
		"a larger kernel":  func(a tensors, _ map[string]string) { a["0.weight"] = tensor.FromBytes(make([]byte, 4*25), 4, 1, 5, 5) },
		"no steps":         func(a tensors, _ map[string]string) { delete(a, "4.weight_step") },
		"too few steps":    func(a tensors, _ map[string]string) { a["4.weight_step"] = tensor.Ones(9) },
		"a step of zero":   func(a tensors, _ map[string]string) { a["4.weight_step"] = tensor.Zeros(10) },
		"a step of NaN":    func(a tensors, _ map[string]string) { a["4.weight_step"] = tensor.Full(math.NaN(), 10) },
		"no input":         func(a tensors, _ map[string]string) { delete(a, "0.weight_input") },
		"an input of 3":    func(a tensors, _ map[string]string) { a["0.weight_input"] = tensor.Ones(3) },
		"a zero of 300":    func(a tensors, _ map[string]string) { a["0.weight_input"] = tensor.New([]float32{1, 300}, 2) },
		"a zero of a half": func(a tensors, _ map[string]string) { a["0.weight_input"] = tensor.New([]float32{1, 0.5}, 2) },
		"an infinite step": func(a tensors, _ map[string]string) {
			a["0.weight_input"] = tensor.New([]float32{float32(math.Inf(1)), 0}, 2)
		},
		"a bias of NaN":      func(a tensors, _ map[string]string) { a["0.bias"] = tensor.Full(math.NaN(), 4) },
		"too long a bias":    func(a tensors, _ map[string]string) { a["0.bias"] = tensor.Zeros(5) },
		"what is not needed": func(a tensors, _ map[string]string) { a["more"] = tensor.Zeros(5) },
	} {
		all, notes, err := nn.LoadTensors(path)
		if err != nil {
			t.Fatal(err)
		}
		damage(all, notes)
		delete(notes, "format")
		damaged := filepath.Join(t.TempDir(), "damaged.safetensors")
		if err := nn.SaveTensors(damaged, all, notes); err != nil {
			t.Fatal(err)
		}
		fresh := newModel()
		if _, err := quantize.Load(damaged, fresh); err == nil {
			t.Errorf("%s: it is loaded", name)
		}
		if n := len(nn.State(fresh)); n > 0 {
			t.Errorf("%s: the model has %d tensors", name, n)
		}
	}
	if _, err := quantize.Load(path, nn.Sequential(nn.Dense(3))); err == nil {
		t.Error("it is loaded into another model")
	}
	if _, err := quantize.Load(filepath.Join(t.TempDir(), "none"), newModel()); err == nil {
		t.Error("a file that is not there is loaded")
	}
	if _, err := quantize.Load(path, nil); err == nil {
		t.Error("it is loaded into nothing")
	}
}

// TestNoModel checks that a nil model, as after an ignored error, is reported.
func TestNoModel(t *testing.T) {
	var m *quantize.Model
	err := func() (err error) {
		defer nn.Catch(&err)
		m.Forward(tensor.Zeros(1))
		return nil
	}()
	var state *tensor.StateError
	if !errors.As(err, &state) {
		t.Error(err)
	}
}
