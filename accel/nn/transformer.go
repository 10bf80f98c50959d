package nn

import (
	"github.com/quernlab/quern/accel/internal/training/option"
	"github.com/quernlab/quern/accel/tensor"
)

// FeedForward sets the width of the two linear layers in a layer of a transformer; the default is 2048.
func FeedForward(width int) Option {
	return Option{option.New(func(o *options) { o.feedForward = width }, "FeedForward", width)}
}

// TransformerDropout sets the probability of the dropouts in a layer of a transformer, also of that of
// attention weights; the default is 0.1.
func TransformerDropout(share float64) Option {
	return Option{option.New(func(o *options) { o.dropout = share }, "TransformerDropout", share)}
}

// NormFirst makes a layer of a transformer normalize the inputs of attention and linear layers, as most
// models since GPT-2 do, instead of the sums with their outputs.
func NormFirst() Option {
	return Option{option.New(func(o *options) { o.normFirst = true }, "NormFirst")}
}

// WithGELU makes a layer of a transformer use [GELU] instead of [ReLU].
func WithGELU() Option { return Option{option.New(func(o *options) { o.gelu = true }, "WithGELU")} }

// feedForward is what encoder and decoder layers have in common: two linear layers, and how to add
// the outputs of a part to its inputs.
type feedForward struct {
	linear1, linear2 *DenseLayer
	activation       Module
	dropout          Module
	options          options
	heads            int
}

func newFeedForward(layer string, heads int, given []Option) feedForward {
	o := options{feedForward: 2048, dropout: 0.1}.read(layer, given, "FeedForward", "TransformerDropout", "NormFirst", "WithGELU")
	f := feedForward{linear1: Dense(o.feedForward), linear2: &DenseLayer{}, activation: ReLU(), dropout: Dropout(o.dropout), options: o, heads: heads}
	if o.gelu {
		f.activation = GELU()
	}
	return f
}

// feed computes the two linear layers.
func (f *feedForward) feed(x *Tensor) *Tensor {
	f.linear2.out = x.Size(-1 + x.NDim())
	var s scratch
	defer s.release()
	return f.linear2.Forward(f.dropFeatures(&s, s.keep(f.activation.Forward(s.keep(f.linear1.Forward(x))))))
}

// dropFeatures is drop between the linear layers, where in tensor parallelism each rank has other features.
func (f *feedForward) dropFeatures(s *scratch, x *Tensor) *Tensor {
	if d, ok := f.dropout.(*dropout); ok && f.linear1.split != nil {
		d.Vary(f.linear1.split.Rank)
		defer d.Vary(0)
	}
	return f.drop(s, x)
}

// drop applies the dropout, which in evaluation mode returns its input.
func (f *feedForward) drop(s *scratch, x *Tensor) *Tensor {
	if y := f.dropout.Forward(x); y != x {
		return s.keep(y)
	}
	return x
}

// add returns x plus the part's output with dropout, normalized before or after.
func (f *feedForward) add(x *Tensor, norm Module, part func(x *Tensor) *Tensor) *Tensor {
	var s scratch
	defer s.release()
	if f.options.normFirst {
		return x.Add(f.drop(&s, s.keep(part(s.keep(norm.Forward(x))))))
	}
	return norm.Forward(s.keep(x.Add(f.drop(&s, s.keep(part(x))))))
}

// TransformerEncoderLayer returns PyTorch's TransformerEncoderLayer with batch_first=True (Vaswani et
// al., 2017): self-attention and two linear layers, each added to its input, and a [LayerNorm] after
// each sum. Options are [FeedForward], [TransformerDropout], [NormFirst] and [WithGELU]. The first
// input determines the width, which must be a multiple of heads.
func TransformerEncoderLayer(heads int, given ...Option) *TransformerEncoderLayerModule {
	f := newFeedForward("TransformerEncoderLayer", heads, given)
	return &TransformerEncoderLayerModule{selfAttn: MultiHeadAttention(heads, AttentionDropout(f.options.dropout)), feedForward: f, norm1: LayerNorm(), norm2: LayerNorm()}
}

// TransformerEncoderLayerModule is a layer of a transformer's encoder; [TransformerEncoderLayer]
// returns it.
type TransformerEncoderLayerModule struct {
	selfAttn *MultiHeadAttentionLayer
	feedForward
	norm1, norm2 Module
}

// Forward maps sequences [N, T, width] to [N, T, width]. No position attends to the padding of
// data.Sequences.
func (l *TransformerEncoderLayerModule) Forward(x *Tensor) *Tensor {
	var s scratch
	defer s.release()
	return l.Encode(x, ownSequence(&s, "TransformerEncoderLayer", x))
}

// Encode is Forward with hidden keys, for instance those of padding, as PyTorch's src_mask and
// src_key_padding_mask.
func (l *TransformerEncoderLayerModule) Encode(x *Tensor, see tensor.AttentionMask) *Tensor {
	attended := l.add(x, l.norm1, func(x *Tensor) *Tensor { return l.selfAttn.Attend(x, x, see) })
	defer attended.Release()
	return l.add(attended, l.norm2, l.feed)
}

func (*TransformerEncoderLayerModule) retainsNothing() bool { return true }

// String returns the layer as Go code.
func (l *TransformerEncoderLayerModule) String() string {
	return l.options.call("TransformerEncoderLayer", l.heads)
}

// TransformerDecoderLayer returns PyTorch's TransformerDecoderLayer with batch_first=True (Vaswani et
// al., 2017): causal self-attention, attention to the encoder's outputs, and two linear layers, each
// added to its input, and a [LayerNorm] after each sum. Options are those of
// [TransformerEncoderLayer].
func TransformerDecoderLayer(heads int, given ...Option) *TransformerDecoderLayerModule {
	f := newFeedForward("TransformerDecoderLayer", heads, given)
	dropout := AttentionDropout(f.options.dropout)
	return &TransformerDecoderLayerModule{
		selfAttn: MultiHeadAttention(heads, Causal(), dropout), multiheadAttn: MultiHeadAttention(heads, dropout),
		feedForward: f, norm1: LayerNorm(), norm2: LayerNorm(), norm3: LayerNorm(),
	}
}

// TransformerDecoderLayerModule is a layer of a transformer's decoder; [TransformerDecoderLayer]
// returns it. It is no [Module], since it has two inputs.
type TransformerDecoderLayerModule struct {
	selfAttn, multiheadAttn *MultiHeadAttentionLayer
	feedForward
	norm1, norm2, norm3 Module
}

// Decode maps sequences x [N, T, width] to [N, T, width]. Each position attends to itself and to
// earlier ones, of which see can hide some, and to the encoder's outputs memory [N, S, width], of
// which seeMemory can hide some, such as padding.
func (l *TransformerDecoderLayerModule) Decode(x, memory *Tensor, see, seeMemory tensor.AttentionMask) *Tensor {
	attended := l.add(x, l.norm1, func(x *Tensor) *Tensor { return l.selfAttn.Attend(x, x, see) })
	defer attended.Release()
	crossed := l.add(attended, l.norm2, func(x *Tensor) *Tensor { return l.multiheadAttn.Attend(x, memory, seeMemory) })
	defer crossed.Release()
	return l.add(crossed, l.norm3, l.feed)
}

// String returns the layer as Go code.
func (l *TransformerDecoderLayerModule) String() string {
	return l.options.call("TransformerDecoderLayer", l.heads)
}
