package nn_test

import (
	"testing"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// TestKVCacheInParts decodes more tokens than a layer collects before it stores them, one by one and in parts,
// also again after a pass that failed before the positions were recorded.
func TestKVCacheInParts(t *testing.T) {
	const length, width = 150, 8
	for name, layer := range map[string]interface {
		nn.Module
		Decode(x *nn.Tensor, cache *nn.KVCache) *nn.Tensor
	}{
		"one head each":     nn.MultiHeadAttention(2, nn.Causal()),
		"shared keys":       nn.GroupedQueryAttention(4, 2, nn.Causal(), nn.RoPE(100)),
		"all share the key": nn.GroupedQueryAttention(4, 1, nn.Causal()),
	} {
		for parts, sizes := range map[string][]int{"tokens": {1}, "a prompt": {70, 1}, "parts": {1, 40, 1, 1, 1, 3}} {
			t.Run(name+", "+parts, func(t *testing.T) {
				x := tensor.Randn(tensor.NewGenerator(1), 2, length, width)
				want := layer.Forward(x)
				cache := nn.NewKVCache()
				for k := 0; cache.Len() < length; k++ {
					from := cache.Len()
					n := min(sizes[min(k, len(sizes)-1)], length-from)
					if parts == "parts" {
						n = min(sizes[k%len(sizes)], length-from)
					}
					if k%7 == 2 && from+5 <= length { // as after a failure in a later layer
						layer.Decode(x.Slice(1, from, from+5), cache).Data()
					}
					y := layer.Decode(x.Slice(1, from, from+n), cache)
					cache.Advance(n)
					closeTo(t, "positions", y.Float64s(), want.Slice(1, from, from+n).Float64s(), 1e-5)
				}
				cache.Release()
				if cache.Len() != 0 {
					t.Errorf("%v after Release", cache)
				}
			})
		}
	}
}

// TestKVCacheFloat64 decodes in float64.
func TestKVCacheFloat64(t *testing.T) {
	q := tensor.Randn(tensor.NewGenerator(2), 1, 2, 40, 4).Cast(tensor.Float64)
	want := tensor.Attention(q, q, q, true)
	cache := nn.NewKVCache()
	for i := range 40 {
		part := q.Slice(2, i, i+1)
		y := cache.Attend("layer", part, part, part)
		cache.Advance(1)
		if y.DType() != tensor.Float64 {
			t.Fatalf("the outputs are %v", y.DType())
		}
		closeTo(t, "position", y.Float64s(), want.Slice(2, i, i+1).Float64s(), 1e-12)
	}
}
