package accel_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// sentences returns sequences of 1 to 12 tokens below 20 with the next tokens, padded and packed.
func sentences(t *testing.T) (padded, packed *data.Dataset) {
	t.Helper()
	random := rand.New(rand.NewPCG(3, 4))
	var tokens, next [][]int
	for range 17 {
		s := make([]int, 2+random.IntN(12))
		for k := range s {
			s[k] = random.IntN(20)
		}
		tokens, next = append(tokens, s[:len(s)-1]), append(next, s[1:])
	}
	padded, err := data.TokenClasses(tokens, next, 0)
	if err != nil {
		t.Fatal(err)
	}
	if packed, err = padded.PackSequences(30); err != nil {
		t.Fatal(err)
	}
	return padded, packed
}

// languageModels are models with the parts that know sequences.
var languageModels = map[string]func() nn.Module{
	"GPT": func() nn.Module {
		block := func(int) nn.Module {
			return nn.Sequential(nn.Residual(nn.LayerNorm(), nn.SelfAttention(2, nn.Causal())), nn.Residual(nn.LayerNorm(), nn.Dense(32), nn.GELU(), nn.Dense(16)))
		}
		return nn.Sequential(nn.Embedding(20, 16), nn.PositionEmbedding(13, 16), nn.Repeat(2, block), nn.LayerNorm(), nn.Dense(20))
	},
	"encoder": func() nn.Module {
		return nn.Sequential(nn.Embedding(20, 16), nn.PositionEmbedding(13, 16), nn.TransformerEncoderLayer(4, nn.FeedForward(8), nn.TransformerDropout(0)), nn.Dense(20))
	},
	"Llama": func() nn.Module {
		return nn.Sequential(nn.Embedding(20, 16), nn.Residual(nn.RMSNorm(), nn.GroupedQueryAttention(4, 2, nn.Causal(), nn.RoPE(10000))), nn.Dense(20))
	},
	"recomputed": func() nn.Module {
		return nn.Sequential(nn.Embedding(20, 16), nn.Recompute(nn.Residual(nn.LayerNorm(), nn.SelfAttention(2))), nn.Dense(20))
	},
}

// TestPackedEqualsPadded compares loss and gradients of all sequences, padded and packed.
func TestPackedEqualsPadded(t *testing.T) {
	padded, packed := sentences(t)
	loss := nn.CrossEntropyLoss(nn.IgnoreIndex(data.Ignored))
	for name, of := range languageModels {
		t.Run(name, func(t *testing.T) {
			var losses []float64
			var gradients [][]*tensor.Tensor
			accel.Seed(1)
			model := of()
			for _, set := range []*data.Dataset{padded, packed} {
				b, err := set.Tensors()
				if err != nil {
					t.Fatal(err)
				}
				b.WithLengths(func() {
					l := loss(model.Forward(b.X), b.Y)
					l.Backward()
					losses = append(losses, l.Item())
				})
				var all []*tensor.Tensor
				for _, p := range nn.Parameters(model) {
					all = append(all, p.Grad().Clone())
					p.ZeroGrad()
				}
				gradients = append(gradients, all)
			}
			if d := losses[0] - losses[1]; d > 1e-5 || d < -1e-5 || losses[0] < 0.5 {
				t.Errorf("losses %v", losses)
			}
			for i, p := range nn.NamedParameters(model) {
				if a, b := gradients[0][i].Data(), gradients[1][i].Data(); !close32(a, b) {
					t.Errorf("gradients of %s differ", p.Name)
				}
			}
		})
	}
}

// Training, evaluation and prediction keep the sequences apart.
func TestFitPacked(t *testing.T) {
	padded, packed := sentences(t)
	var weights [][]float32
	var results []*accel.Result
	for _, set := range []*data.Dataset{padded, packed} {
		accel.Seed(1)
		model := languageModels["GPT"]()
		if _, err := accel.Fit(t.Context(), model, set, accel.Steps(3), accel.BatchSize(set.Len()), accel.SGD(0.1, 0), accel.Quiet()); err != nil {
			t.Fatal(err)
		}
		r, err := accel.Evaluate(t.Context(), model, set)
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, r)
		var all []float32
		for _, p := range nn.Parameters(model) {
			all = append(all, p.Data()...)
		}
		weights = append(weights, all)
	}
	if !close32(weights[0], weights[1]) {
		t.Error("the weights differ")
	}
	if d := results[0].Loss() - results[1].Loss(); d > 1e-5 || d < -1e-5 || results[0].Accuracy() != results[1].Accuracy() {
		t.Errorf("%v\n%v", results[0], results[1])
	}
}

// attending is a model with attention of its own, which knows nothing of packed rows.
type attending struct{ in, out nn.Module }

func (a attending) Forward(x *nn.Tensor) *nn.Tensor {
	h := a.in.Forward(x)
	q := h.Reshape(h.Size(0), 1, h.Size(1), h.Size(2))
	return a.out.Forward(tensor.Attention(q, q, q, true).Reshape(h.Shape()...))
}

// Layers that would mix the sequences of a row fail.
func TestPackedSequencesAreNotMixed(t *testing.T) {
	_, packed := sentences(t)
	for name, model := range map[string]nn.Module{
		"recurrent": nn.Sequential(nn.Embedding(20, 4), nn.LSTM(4), nn.Dense(20)),
		"mean":      nn.Sequential(nn.Embedding(20, 4), nn.MeanPositions(), nn.Dense(20)),
		"last":      nn.Sequential(nn.Embedding(20, 4), nn.LastPosition(), nn.Dense(20)),
		"own":       attending{nn.Embedding(20, 4), nn.Dense(20)},
	} {
		_, err := accel.Fit(t.Context(), model, packed, accel.Steps(1), accel.Quiet())
		var state *tensor.StateError
		if !errors.As(err, &state) || !strings.Contains(err.Error(), "packed") {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A sequence that is longer than the positions is an error, not a row.
	short := nn.Sequential(nn.Embedding(20, 4), nn.PositionEmbedding(5, 4), nn.Dense(20))
	var index *tensor.IndexError
	if _, err := accel.Fit(t.Context(), short, packed, accel.Steps(1), accel.Quiet()); !errors.As(err, &index) {
		t.Errorf("too few positions: %v", err)
	}
}
