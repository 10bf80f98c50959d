package accel_test

import (
	"slices"
	"testing"

	"github.com/quernlab/quern/accel"
	"github.com/quernlab/quern/accel/nn"
)

// withoutCache hides that nn.Decode knows the layers of a model.
type withoutCache struct{ model nn.Module }

func (m *withoutCache) Forward(x *nn.Tensor) *nn.Tensor { return m.model.Forward(x) }

// TestGenerateWithCache compares the tokens that a model of layers generates with a cache of keys and
// values, also beyond its positions, with those without a cache.
func TestGenerateWithCache(t *testing.T) {
	accel.Seed(3)
	gpt := nn.Sequential(
		nn.Embedding(11, 16), nn.PositionEmbedding(12, 16),
		nn.Repeat(2, func(int) nn.Module {
			return nn.Sequential(nn.Residual(nn.LayerNorm(), nn.SelfAttention(2, nn.Causal(), nn.AttentionDropout(0.1))), nn.Residual(nn.LayerNorm(), nn.Dense(32), nn.ReLU(), nn.Dense(16)))
		}),
		nn.LayerNorm(), nn.Dense(11))
	if !nn.Decodes(gpt) || nn.Decodes(&withoutCache{gpt}) {
		t.Fatal("the model must decode with a cache, and the wrapper must not")
	}
	for name, options := range map[string][]accel.Option{
		"likeliest": {accel.Temperature(0)}, "top 3": {accel.TopK(3)}, "all": {accel.Temperature(0.8)},
	} {
		var all [][]int
		for _, model := range []nn.Module{gpt, &withoutCache{gpt}} {
			accel.Seed(4)
			got, err := accel.Generate(t.Context(), model, []int{3, 1, 4, 1, 5}, 20, options...)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, got)
		}
		if !slices.Equal(all[0], all[1]) {
			t.Errorf("%s\n with a cache %v\n without      %v", name, all[0], all[1])
		}
	}
}
