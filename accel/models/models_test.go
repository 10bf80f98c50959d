package models_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/models"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// golden is what transformers and torchvision computed; testdata/make_models.py writes it.
type golden struct {
	IDs, Types    [][]int
	Lengths       []int
	Generated     []int
	Image         []float64
	Logits, Plain []float64
}

func read(t *testing.T, name string) golden {
	t.Helper()
	text, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]json.RawMessage
	var g golden
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(all[name], &g); err != nil {
		t.Fatal(name, err)
	}
	return g
}

func closeTo(t *testing.T, got *tensor.Tensor, want []float64) {
	t.Helper()
	values := got.Float64s()
	if len(values) != len(want) {
		t.Fatalf("%d logits, want %d", len(values), len(want))
	}
	worst := 0.0
	for i := range want {
		worst = max(worst, math.Abs(values[i]-want[i]))
	}
	if !(worst <= 1e-4) {
		t.Errorf("logits differ by %g, want at most 1e-4", worst)
	}
}

func tokens(rows [][]int) *tensor.Tensor {
	return tensor.FromInts(slices.Concat(rows...), len(rows), len(rows[0]))
}

// TestDecoders compares logits and greedy generation, which uses the cache, with transformers.
func TestDecoders(t *testing.T) {
	for _, name := range []string{"gpt2", "llama", "llama-tied"} {
		t.Run(name, func(t *testing.T) {
			g := read(t, name)
			m, err := models.Load(filepath.Join("testdata", name))
			if err != nil {
				t.Fatal(err)
			}
			closeTo(t, m.Forward(tokens(g.IDs)), g.Logits)
			got, err := accel.Generate(context.Background(), m, g.Generated[:3], len(g.Generated)-3, accel.Temperature(0))
			if err != nil || !slices.Equal(got, g.Generated) {
				t.Errorf("%v\n got  %v\n want %v", err, got, g.Generated)
			}
			var length *nn.LengthError
			if _, err := accel.Predict(context.Background(), m, tensor.FromInts(make([]int, 65), 1, 65)); !errors.As(err, &length) || !strings.Contains(err.Error(), "65 positions") {
				t.Errorf("a sequence that is too long: %v", err)
			}
			path := filepath.Join(t.TempDir(), "m.safetensors")
			if err := nn.Save(path, m); err != nil {
				t.Fatal(err)
			}
			if err := nn.Load(path, m); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestLoRA adapts and merges the projections of GPT-2 and Llama, whose layouts differ.
func TestLoRA(t *testing.T) {
	for name, pattern := range map[string]string{"gpt2": "transformer.h.*.attn.c_attn", "llama": "model.layers.*.self_attn.q_proj"} {
		g := read(t, name)
		m, err := models.Load(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		layers, err := nn.LoRA(m, 2, 4, pattern)
		if err != nil {
			t.Fatal(err)
		}
		closeTo(t, m.Forward(tokens(g.IDs)), g.Logits)
		for i, p := range nn.Parameters(m) {
			p.SetData(tensor.Randn(tensor.NewGenerator(uint64(i)), p.Shape()...).Data())
		}
		want := m.Forward(tokens(g.IDs)).Float64s()
		layers.Merge()
		if got := m.Forward(tokens(g.IDs)); slices.Equal(want, g.Logits) {
			t.Errorf("%s: the adapters change nothing", name)
		} else {
			closeTo(t, got, want)
		}
	}
}

func TestBERT(t *testing.T) {
	g := read(t, "bert")
	m, err := models.Load("testdata/bert")
	if err != nil {
		t.Fatal(err)
	}
	bert := m.(*models.BERTModel)
	closeTo(t, bert.Forward(tokens(g.IDs)), g.Plain)
	got := bert.Logits(bert.Encode(tokens(g.IDs), tokens(g.Types), tensor.FromInts(g.Lengths, 2)))
	closeTo(t, got, g.Logits)
}

func TestViT(t *testing.T) {
	g := read(t, "vit")
	m := models.ViT(models.ViTConfig{ImageSize: 32, PatchSize: 16, Width: 8, Inner: 12, Layers: 2, Heads: 2, Classes: 5})
	if err := nn.Load("testdata/vit.safetensors", m); err != nil {
		t.Fatal(err)
	}
	image := tensor.FromFloat64s(g.Image, 2, 3, 32, 32).Cast(tensor.Float32)
	closeTo(t, m.Forward(image), g.Logits)
	if name, err := nn.ReplaceHead(m, nn.Dense(3)); err != nil || name != "heads.head" || m.Forward(image).Size(1) != 3 {
		t.Errorf("replaced %q: %v", name, err)
	}
}

// TestResNets computes the weights by the formula of make_models.py.
func TestResNets(t *testing.T) {
	image := tensor.FromFloat64s(read(t, "vit").Image, 2, 3, 32, 32).Cast(tensor.Float32).Slice(0, 0, 1)
	for name, m := range map[string]*models.ResNetModel{"resnet18": models.ResNet18(1000), "resnet50": models.ResNet50(1000)} {
		t.Run(name, func(t *testing.T) {
			if name == "resnet50" && testing.Short() {
				t.Skip("26 million weights")
			}
			nn.Train(m, false)
			m.Forward(image) // creates the parameters
			state := nn.State(m)
			slices.SortFunc(state, func(a, b nn.Parameter) int { return strings.Compare(a.Name, b.Name) })
			tensor.NoGrad(func() {
				for k, p := range state {
					p.Assign(tensor.New(formula(k, p), p.Shape()...))
				}
			})
			closeTo(t, m.Forward(image).Slice(1, 0, 20), read(t, name).Logits)
		})
	}
}

func formula(k int, p nn.Parameter) []float32 {
	data := make([]float32, p.Numel())
	for i := range data {
		v := float64((i*7919+k*104729)%1009)/1009 - 0.5
		switch {
		case p.NDim() > 1:
			v = v * 2 / math.Sqrt(float64(p.Numel()/p.Size(0)))
		case strings.HasSuffix(p.Name, "running_var") || strings.HasSuffix(p.Name, "weight"):
			v = 1 + v/5
		default:
			v /= 5
		}
		data[i] = float32(v)
	}
	return data
}

func TestLoadRejects(t *testing.T) {
	for text, want := range map[string]string{
		`{"model_type": "t5"}`:   `model_type is "t5"`,
		`[`:                      "not JSON",
		`{"model_type": "gpt2"}`: "positive sizes",
		`{"model_type": "gpt2", "n_embd": "wide"}`: "unmarshal",
		`{"model_type": "llama", "vocab_size": 9, "max_position_embeddings": 8, "hidden_size": 4, "intermediate_size": 4, "num_hidden_layers": 1, "num_attention_heads": 2, "rope_scaling": {"rope_type": "llama3"}}`: "rope_type default",
	} {
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, "config.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var config *models.ConfigError
		if _, err := models.Load(folder); !errors.As(err, &config) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want a ConfigError with %q", text, err, want)
		}
	}
	file := filepath.Join(t.TempDir(), "model.pt")
	if err := os.WriteFile(file, []byte("PK\x03\x04model/data.pkl"), 0o600); err != nil {
		t.Fatal(err)
	}
	var format *nn.FormatError
	if _, err := models.Load(file); !errors.As(err, &format) || !strings.Contains(err.Error(), "this is a file") {
		t.Errorf("a PyTorch checkpoint: %v", err)
	}
	if _, err := models.Load("testdata/gpt2/config.json"); !errors.As(err, &format) {
		t.Errorf("a config.json: %v", err)
	}
	if _, err := models.Load("testdata/gpt2/model.safetensors"); err == nil || !strings.Contains(err.Error(), "nn.Load") {
		t.Errorf("a file of weights: %v", err)
	}
	if _, err := models.Load(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty folder: %v", err)
	}
}

// TestOtherHeads says how to load a model with a head that Load does not make.
func TestOtherHeads(t *testing.T) {
	folder := t.TempDir()
	text, err := os.ReadFile("testdata/bert/config.json")
	if err != nil {
		t.Fatal(err)
	}
	text = []byte(strings.Replace(string(text), "BertForMaskedLM", "BertForSequenceClassification", 1))
	if err := os.WriteFile(filepath.Join(folder, "config.json"), text, 0o644); err != nil {
		t.Fatal(err)
	}
	model, err := loadClassifier("testdata/bert", 3)
	if err != nil {
		t.Fatal(err)
	}
	model.Forward(tokens([][]int{{1, 2}}))
	if err := nn.Save(filepath.Join(folder, "model.safetensors"), model); err != nil {
		t.Fatal(err)
	}
	_, err = models.Load(folder)
	var failed *models.ConfigError
	if !errors.As(err, &failed) || !strings.Contains(err.Error(), "it is a BertForSequenceClassification") || !strings.Contains(err.Error(), "classifier.weight is not in the model") {
		t.Errorf("%v", err)
	}
	if again, err := loadClassifier(folder, 3); err != nil || !slices.Equal(again.Forward(tokens([][]int{{1, 2}})).Data(), model.Forward(tokens([][]int{{1, 2}})).Data()) {
		t.Errorf("the classifier is not read again: %v", err)
	}
}
