package explain_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/explain"
	"github.com/quernlab/quern/accel/models"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// TestAttentionEqualsPyTorch compares the maps with the weights that MultiheadAttention returned for
// the first example of the golden file, which has no padding.
func TestAttentionEqualsPyTorch(t *testing.T) {
	var g struct {
		X     []float64
		Cases map[string]struct {
			Parameters map[string]struct {
				Shape []int
				Data  []float64
			}
			Attention []float64
		}
	}
	text, err := os.ReadFile("../testdata/transformers.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &g); err != nil {
		t.Fatal(err)
	}
	golden := g.Cases["masked attention"]
	state := map[string]*tensor.Tensor{}
	for name, p := range golden.Parameters {
		state[name] = tensor.FromFloat64s(p.Data, p.Shape...).Cast(tensor.Float32)
	}
	layer := nn.SelfAttention(2, nn.Causal(), nn.AttentionDropout(0.5))
	if err := nn.SetState(layer, state); err != nil {
		t.Fatal(err)
	}
	x := tensor.FromFloat64s(g.X[:4*8], 1, 4, 8).Cast(tensor.Float32)
	maps, err := explain.AttentionMaps(t.Context(), nn.Sequential(nn.Residual(layer), layer), x, "a", "b", "c", "d")
	if err != nil {
		t.Fatal(err)
	}
	if len(maps.Layers) != 2 || maps.Layers[0].Path != "0.0" || maps.Layers[1].Path != "1" || maps.Layers[1].Layer != "SelfAttention(2, Causal(), AttentionDropout(0.5))" {
		t.Fatalf("layers %+v", maps)
	}
	at := 0
	for _, head := range maps.Layers[0].Weights {
		for _, query := range head {
			for _, w := range query {
				if want := golden.Attention[at]; math.Abs(w-want) > 2e-6 {
					t.Errorf("weight %d: %g, want %g", at, w, want)
				}
				at++
			}
		}
	}
	if at != 2*4*4 {
		t.Errorf("%d weights", at)
	}
	figure, err := maps.Head(1, 0)
	if err != nil || !strings.Contains(figure.SVG(), "Attention of layer 1, head 0") {
		t.Errorf("%v, %v", figure, err)
	}
	if _, err := maps.Head(2, 0); !errors.Is(err, explain.ErrNoHead) {
		t.Error(err)
	}
	if maps.String() != "2 layers, 2 heads, 4 positions" || maps.Report().MIMEBundle()["image/svg+xml"] == nil {
		t.Errorf("%v: %v", maps, maps.Report().MIMEBundle())
	}
}

// TestAttentionOfModels requires rows that sum to 1 and no weight of later positions.
func TestAttentionOfModels(t *testing.T) {
	ids := tensor.FromInts([]int{3, 1, 4, 1, 5}, 1, 5)
	for _, name := range []string{"gpt2", "llama", "bert"} {
		m, err := models.Load("../models/testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		maps, err := explain.AttentionMaps(t.Context(), m, ids)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range maps.Layers {
			for _, head := range l.Weights {
				for i, query := range head {
					sum := 0.0
					for j, w := range query {
						if sum += w; j > i && w != 0 && name != "bert" {
							t.Errorf("%s: position %d attends to position %d", name, i, j)
						}
					}
					if len(query) != 5 || math.Abs(sum-1) > 1e-6 {
						t.Errorf("%s: %d weights of sum %g", name, len(query), sum)
					}
				}
			}
		}
	}
}

func TestAttentionMapsRejects(t *testing.T) {
	model := nn.Sequential(nn.Embedding(9, 4), nn.SelfAttention(2))
	ids := tensor.FromInts([]int{1, 2, 3}, 1, 3)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, f := range map[string]func() error{
		"no model":     func() error { _, err := explain.AttentionMaps(t.Context(), nil, ids); return err },
		"no input":     func() error { _, err := explain.AttentionMaps(t.Context(), model, nil); return err },
		"two examples": func() error { _, err := explain.AttentionMaps(t.Context(), model, tensor.Zeros(2, 3)); return err },
		"no attention": func() error { _, err := explain.AttentionMaps(t.Context(), nn.ReLU(), tensor.Zeros(1, 3)); return err },
		"names":        func() error { _, err := explain.AttentionMaps(t.Context(), model, ids, "a"); return err },
		"unknown token": func() error {
			_, err := explain.AttentionMaps(t.Context(), model, tensor.FromInts([]int{9}, 1, 1))
			return err
		},
		"the context end": func() error { _, err := explain.AttentionMaps(ended, model, ids); return err },
	} {
		if f() == nil {
			t.Errorf("%s is no error", name)
		}
	}
}
