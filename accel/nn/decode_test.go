package nn_test

import (
	"errors"
	"testing"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// TestDecode continues sequences in parts and compares the last position with that of Forward.
func TestDecode(t *testing.T) {
	const length, width = 12, 8
	block := func(attention nn.Module) nn.Module {
		return nn.Sequential(
			nn.Residual(nn.LayerNorm(), attention, nn.Dropout(0.2)),
			nn.Residual(nn.RMSNorm(), nn.Dense(16), nn.GELU(), nn.Dense(width)),
		)
	}
	tokens := nn.Embedding(9, width)
	for name, model := range map[string]nn.Module{
		"GPT": nn.Sequential(nn.Embedding(9, width), nn.PositionEmbedding(length, width),
			nn.Repeat(2, func(int) nn.Module { return block(nn.SelfAttention(2, nn.Causal())) }), nn.LayerNorm(), nn.Dense(9)),
		"Llama": nn.Sequential(tokens, block(nn.GroupedQueryAttention(4, 2, nn.Causal(), nn.RoPE(100))),
			nn.Recompute(block(nn.GroupedQueryAttention(2, 1, nn.Causal()))), nn.TiedDense(tokens)),
		"attention comes last": nn.Sequential(nn.Embedding(9, width), nn.Sequential(nn.ReLU(), nn.SelfAttention(2, nn.Causal()))),
		"no attention":         nn.Sequential(nn.Embedding(9, width), nn.Dense(3)),
	} {
		t.Run(name, func(t *testing.T) {
			x := tensor.FromInts([]int{1, 4, 2, 8, 0, 3, 7, 7, 5, 6, 1, 2, 3, 3, 0, 1, 5, 6, 2, 4, 8, 1, 0, 7}, 2, length)
			model.Forward(x)
			defer nn.Eval(model)()
			want := model.Forward(x)
			cache := nn.NewKVCache()
			for _, n := range []int{5, 1, 1, 3, 2} {
				from := cache.Len()
				y := nn.Decode(model, x.Slice(1, from, from+n), cache)
				cache.Advance(n)
				if y.Size(1) != 1 {
					t.Fatalf("shape %v", y.Shape())
				}
				closeTo(t, "last position", y.Float64s(), want.Slice(1, from+n-1, from+n).Float64s(), 1e-5)
			}
		})
	}
}

func TestDecodeRejects(t *testing.T) {
	for name, model := range map[string]nn.Module{
		"attention to later positions": nn.SelfAttention(2),
		"convolution":                  nn.Sequential(nn.Embedding(9, 4), nn.Conv1D(4, 3)),
		"recurrent":                    nn.Sequential(nn.Embedding(9, 4), nn.LSTM(4)),
		"function":                     nn.Sequential(nn.Lambda(func(x *nn.Tensor) *nn.Tensor { return x })),
		"pooling":                      nn.Sequential(nn.GlobalAvgPool2D()),
		"pooling of sequences":         nn.Sequential(nn.GlobalAvgPool1D()),
		"windows of sequences":         nn.Sequential(nn.MaxPool1D(2)),
		"encoder":                      nn.Sequential(nn.TransformerEncoderLayer(2)),
		"mean":                         nn.Sequential(nn.MeanPositions()),
		"nil":                          nn.Sequential(nil),
	} {
		var state *tensor.StateError
		err := func() (err error) {
			defer nn.Catch(&err)
			nn.Decode(model, tensor.Zeros(1, 2, 4), nn.NewKVCache())
			return nil
		}()
		if nn.Decodes(model) || !errors.As(err, &state) {
			t.Errorf("%s: %v", name, err)
		}
	}
	model := nn.Sequential(nn.PositionEmbedding(3, 2))
	cache := nn.NewKVCache()
	cache.Advance(2)
	err := func() (err error) {
		defer nn.Catch(&err)
		nn.Decode(model, tensor.Zeros(1, 2, 2), cache)
		return nil
	}()
	var length *nn.LengthError
	if !errors.As(err, &length) || length.Length != 4 {
		t.Errorf("too many positions: %v", err)
	}
}
