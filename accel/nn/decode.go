package nn

import (
	"github.com/quernlab/quern/accel/internal/training/layer"
	"github.com/quernlab/quern/accel/tensor"
)

// Decodes reports whether [Decode] can continue sequences with a model. It can with an nn.Sequential
// of causal attention layers, of [PositionEmbedding] and of layers that compute each position alone,
// such as [Embedding], [Dense], [LayerNorm] and activations, also in [Residual], [Repeat] and
// [Recompute].
func Decodes(model Module) bool {
	switch m := model.(type) {
	case *SequentialLayer:
		for _, part := range m.layers {
			if !Decodes(part) {
				return false
			}
		}
		return true
	case *residual:
		return Decodes(m.chain)
	case *recompute:
		return Decodes(m.chain)
	case *MultiHeadAttentionLayer:
		return m.causal
	case *GroupedQueryAttentionLayer:
		return m.causal
	case *posEmbedding:
		return true
	}
	return positionwise(model)
}

// positionwise reports whether a layer computes each position of a sequence alone.
func positionwise(m Module) bool {
	switch m := m.(type) {
	case *DenseLayer, *embedding, *tiedDense, *rowNorm, *dropout:
		return true
	case *activation:
		switch m.Layer().(type) {
		case layer.ReLU, layer.Elementwise:
			return true
		}
	}
	return false
}

// Decode computes a model for the next positions of sequences, x [N, T] or [N, T, width], of whose
// earlier positions cache has the keys and values, and adds theirs. It returns the output for the last
// position only, with 1 instead of T. Call [KVCache.Advance] with T afterwards. It panics with a
// *tensor.StateError unless [Decodes] reports true.
func Decode(model Module, x *Tensor, cache *KVCache) *Tensor {
	if !Decodes(model) {
		panic(&tensor.StateError{Op: "Decode", Hint: describe(model) + " has layers other than causal attention and those that compute each position alone"})
	}
	d := decoding{cache: cache, positions: x.Size(1)}
	y := d.forward(model, x, true)
	return d.lastPosition(y)
}

// decoding is one call of Decode.
type decoding struct {
	cache     *KVCache
	positions int // T
}

// forward computes a module. If last, only the last position of its output is needed.
func (d decoding) forward(m Module, x *Tensor, last bool) *Tensor {
	switch m := m.(type) {
	case *SequentialLayer:
		return d.chain(m, x, last)
	case *recompute:
		return d.chain(m.chain, x, last)
	case *residual:
		y := d.chain(m.chain, x, false)
		defer y.Release()
		return x.Add(y)
	case *MultiHeadAttentionLayer:
		return m.Decode(x, d.cache)
	case *GroupedQueryAttentionLayer:
		return m.Decode(x, d.cache)
	case *posEmbedding:
		return m.at(x, d.cache)
	}
	return m.Forward(x)
}

// chain computes a chain of modules, the layers after the last one that looks at other positions only
// for the last position if no more is needed.
func (d decoding) chain(c *SequentialLayer, x *Tensor, last bool) *Tensor {
	alone := len(c.layers) // from here on, each position is computed alone
	for alone > 0 && positionwise(c.layers[alone-1]) {
		alone--
	}
	y := x
	for i, part := range c.numbered() {
		in := y
		if last && i == alone && i > 0 {
			in = d.lastPosition(y)
		}
		out := forward(part.path, &decodedLayer{part.module, d, last && i == len(c.layers)-1 && i < alone}, in)
		if in != y && in != out {
			in.Release()
		}
		if y != x && y != out {
			y.Release()
		}
		y = out
	}
	return y
}

// lastPosition returns the last position of a tensor [N, T, …], unless it has only one.
func (d decoding) lastPosition(x *Tensor) *Tensor {
	n := x.Size(1)
	if n == 1 {
		return x
	}
	return x.Slice(1, n-1, n)
}

// decodedLayer is a layer of a chain that is decoded.
type decodedLayer struct {
	Module
	decoding
	last bool
}

func (l *decodedLayer) Forward(x *Tensor) *Tensor { return l.decoding.forward(l.Module, x, l.last) }
func (l *decodedLayer) String() string            { return describe(l.Module) }

// at is Forward for positions that follow those in a cache.
func (e *posEmbedding) at(x *Tensor, cache *KVCache) *Tensor {
	if end := cache.Len() + x.Size(1); end > e.length {
		panic(&LengthError{Layer: e.String(), Length: end, Longest: e.length})
	}
	e.prepare(x.Shape(), false)
	positions := cache.Positions(x.Size(1))
	defer positions.Release()
	vectors := tensor.Embedding(e.weight, positions)
	defer vectors.Release()
	return x.Add(vectors)
}
