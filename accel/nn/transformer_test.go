package nn_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

func TestTransformerLayersEqualPyTorch(t *testing.T) {
	var g struct {
		X, Memory     []float64
		Lengths       []int
		MemoryLengths []int `json:"memory_lengths"`
		Cases         map[string]struct {
			Parameters             map[string]goldenTensor
			Y, Weight, DX, DMemory []float64
			Attention              []float64 // weights of each head, [N, heads, T, S]
		}
	}
	read(t, "transformers.json", &g)
	none := tensor.AttentionMask{}
	of4 := func() tensor.AttentionMask { return tensor.AttentionMask{Lengths: tensor.FromInts(g.Lengths, 2)} }
	of5 := func() tensor.AttentionMask { return tensor.AttentionMask{Lengths: tensor.FromInts(g.MemoryLengths, 2)} }
	options := []nn.Option{nn.FeedForward(6), nn.TransformerDropout(0)}
	modern := append(options, nn.WithGELU(), nn.NormFirst())
	cases := map[string]func() (model any, forward func(x, memory *nn.Tensor) *nn.Tensor){
		"cross attention": func() (any, func(x, memory *nn.Tensor) *nn.Tensor) {
			m := nn.MultiHeadAttention(2)
			return m, func(x, memory *nn.Tensor) *nn.Tensor { return m.Attend(x, memory, of5()) }
		},
		"masked attention": func() (any, func(x, memory *nn.Tensor) *nn.Tensor) {
			m := nn.MultiHeadAttention(2, nn.Causal())
			return m, func(x, _ *nn.Tensor) *nn.Tensor { return m.Attend(x, x, of4()) }
		},
		"encoder": func() (any, func(x, memory *nn.Tensor) *nn.Tensor) {
			m := nn.TransformerEncoderLayer(2, options...)
			return m, func(x, _ *nn.Tensor) *nn.Tensor { return m.Forward(x) }
		},
		"encoder padding": func() (any, func(x, memory *nn.Tensor) *nn.Tensor) {
			m := nn.TransformerEncoderLayer(2, modern...)
			return m, func(x, _ *nn.Tensor) *nn.Tensor { return m.Encode(x, of4()) }
		},
		"decoder": func() (any, func(x, memory *nn.Tensor) *nn.Tensor) {
			m := nn.TransformerDecoderLayer(2, options...)
			return m, func(x, memory *nn.Tensor) *nn.Tensor { return m.Decode(x, memory, none, none) }
		},
		"decoder padding": func() (any, func(x, memory *nn.Tensor) *nn.Tensor) {
			m := nn.TransformerDecoderLayer(2, modern...)
			return m, func(x, memory *nn.Tensor) *nn.Tensor { return m.Decode(x, memory, none, of5()) }
		},
	}
	if len(cases) != len(g.Cases) {
		t.Fatalf("%d cases, %d in the golden file", len(cases), len(g.Cases))
	}
	for name, make := range cases {
		t.Run(name, func(t *testing.T) {
			c := g.Cases[name]
			model, forward := make()
			if err := nn.SetState(model, asTensors(c.Parameters)); err != nil {
				t.Fatal(err)
			}
			x, memory := tensor.Parameter(of(g.X, 2, 4, 8)), tensor.Parameter(of(g.Memory, 2, 5, 8))
			var y *nn.Tensor
			attentions := tensors.RecordAttention[*tensor.Tensor](func() { y = forward(x, memory) })
			closeTo(t, "y", y.Float64s(), c.Y, 2e-6)
			if c.Attention != nil {
				closeTo(t, "attention weights", attentions[0].Weights.Float64s(), c.Attention, 2e-6)
			}
			y.Mul(of(c.Weight, y.Shape()...)).Sum().Backward()
			closeTo(t, "dx", x.Grad().Float64s(), c.DX, 1e-5)
			if c.DMemory != nil {
				closeTo(t, "dmemory", memory.Grad().Float64s(), c.DMemory, 1e-5)
			}
			for _, p := range nn.NamedParameters(model) {
				closeTo(t, p.Name, p.Grad().Float64s(), c.Parameters[p.Name].Gradient, 1e-5)
			}
		})
	}
}

// TestKVCache decodes sequences in parts of several lengths, across a growth of the cache.
func TestKVCache(t *testing.T) {
	const length, width = 40, 8
	type decoder interface {
		nn.Module
		Decode(x *nn.Tensor, cache *nn.KVCache) *nn.Tensor
	}
	x := tensor.Randn(tensor.NewGenerator(1), 2, length, width)
	for name, m := range map[string]decoder{
		"multi-head":  nn.MultiHeadAttention(2, nn.Causal()),
		"grouped":     nn.GroupedQueryAttention(4, 2, nn.Causal(), nn.RoPE(100), nn.NoBias()),
		"multi-query": nn.GroupedQueryAttention(4, 1, nn.Causal(), nn.HeadSize(6)),
	} {
		t.Run(name, func(t *testing.T) {
			want := m.Forward(x)
			cache := nn.NewKVCache()
			for _, size := range []int{3, 1, 1, 20, 5, 3, 1, 6} {
				from := cache.Len()
				got := m.Decode(x.Slice(1, from, from+size), cache)
				cache.Advance(size)
				closeTo(t, "part", got.Float64s(), want.Slice(1, from, from+size).Float64s(), 1e-5)
			}
			if cache.Len() != length {
				t.Errorf("%d positions, want %d", cache.Len(), length)
			}
			cache.Release()
			if cache.Len() != 0 {
				t.Errorf("%d positions after Release", cache.Len())
			}
		})
	}
}

func TestAttentionRejectsShapes(t *testing.T) {
	x, other := tensor.Zeros(2, 3, 8), tensor.Zeros(3, 3, 8)
	for name, f := range map[string]func(){
		"heads":        func() { nn.MultiHeadAttention(3).Forward(x) },
		"memory":       func() { nn.MultiHeadAttention(2).Attend(x, other, tensor.AttentionMask{}) },
		"shared heads": func() { nn.GroupedQueryAttention(4, 3).Forward(x) },
		"odd RoPE":     func() { nn.GroupedQueryAttention(2, 2, nn.HeadSize(3), nn.RoPE(10)).Forward(x) },
	} {
		err := func() (err error) {
			defer nn.Catch(&err)
			f()
			return nil
		}()
		if shape := (*tensor.ShapeError)(nil); !errors.As(err, &shape) {
			t.Errorf("%s: %v, want a ShapeError", name, err)
		}
	}
}

// TestNameTags checks names of parameters that struct tags set.
func TestNameTags(t *testing.T) {
	type block struct {
		Attention nn.Module `nn:"self_attn"`
		MLP       nn.Module
		Inner     struct{ Out nn.Module } `nn:""`
	}
	b := block{Attention: nn.Dense(2), MLP: nn.Dense(3, nn.NoBias())}
	b.Inner.Out = nn.Dense(1, nn.NoBias())
	b.Inner.Out.Forward(b.MLP.Forward(b.Attention.Forward(tensor.Zeros(1, 4))))
	var names []string
	for _, p := range nn.NamedParameters(&b) {
		names = append(names, p.Name)
	}
	if want := []string{"self_attn.weight", "self_attn.bias", "MLP.weight", "Out.weight"}; !slices.Equal(names, want) {
		t.Errorf("got %v, want %v", names, want)
	}
	if err := nn.Replace(&b, "Out", nn.Dense(7)); err != nil || nn.Sequential(b.Inner.Out).String() != "Sequential(Dense(7))" {
		t.Errorf("%v, %v", b.Inner.Out, err)
	}
}
