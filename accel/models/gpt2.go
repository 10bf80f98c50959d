package models

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// GPT2Config is the size of a [GPT2] model. The names in JSON are those of config.json.
type GPT2Config struct {
	VocabSize int     `json:"vocab_size"`         // number of different tokens
	Positions int     `json:"n_positions"`        // the longest sequence
	Width     int     `json:"n_embd"`             // of the vector of a token
	Layers    int     `json:"n_layer"`            // blocks of attention and two linear layers
	Heads     int     `json:"n_head"`             // of attention, in each layer
	Inner     int     `json:"n_inner"`            // width between the linear layers; 0 for 4·Width
	Epsilon   float64 `json:"layer_norm_epsilon"` // 0 for 1e-5
}

// GPT2Small is the configuration of the smallest published model, with 124 million parameters.
func GPT2Small() GPT2Config {
	return GPT2Config{VocabSize: 50257, Positions: 1024, Width: 768, Layers: 12, Heads: 12}
}

// GPT2Model is a GPT-2 (Radford et al., 2019); [GPT2] returns it. Its parameters have the names of
// transformers' GPT2LMHeadModel.
type GPT2Model struct {
	config    GPT2Config
	Tokens    nn.Module    `nn:"transformer.wte"`  // embedding [VocabSize, Width]
	Positions nn.Module    `nn:"transformer.wpe"`  // embedding [Positions, Width]
	Blocks    []*gpt2Block `nn:"transformer.h"`    // in the order in which they run
	FinalNorm nn.Module    `nn:"transformer.ln_f"` // before Head
	Head      nn.Module    `nn:"lm_head"`          // tied to Tokens
}

type gpt2Block struct {
	heads int
	Norm1 nn.Module `nn:"ln_1"`
	QKV   *conv1D   `nn:"attn.c_attn"`
	Out   *conv1D   `nn:"attn.c_proj"`
	Norm2 nn.Module `nn:"ln_2"`
	Up    *conv1D   `nn:"mlp.c_fc"`
	Down  *conv1D   `nn:"mlp.c_proj"`
}

// conv1D is a linear layer with a transposed weight, transformers' Conv1D.
type conv1D struct {
	Weight *tensor.Tensor `nn:"weight"` // [in, out]
	Bias   *tensor.Tensor `nn:"bias"`   // [out]

	*nn.Adapter // of nn.LoRA; nil for none
}

// Adapted returns the weight, for nn.LoRA.
func (c *conv1D) Adapted() nn.Adapted {
	return nn.Adapted{Weight: c.Weight, Transposed: true, Adapter: &c.Adapter}
}

func newConv1D(in, out int) *conv1D {
	return &conv1D{
		Weight: tensor.Parameter(tensor.Randn(tensor.WeightGenerator(), in, out).MulScalar(initStd)),
		Bias:   tensor.Parameter(tensor.Zeros(out)),
	}
}

func (c *conv1D) apply(s *scratch, x *tensor.Tensor) *tensor.Tensor {
	y := s.keep(tensor.Linear(x, s.keep(c.Weight.Permute(1, 0)), c.Bias))
	if c.Adapter != nil {
		y = s.keep(y.Add(s.keep(c.Change(x))))
	}
	return y
}

// initStd is the standard deviation of random weights, transformers' initializer_range.
const initStd = 0.02

// embedding returns an embedding with such weights. Wider ones must not be those of the output layer, too.
func embedding(tokens, width int) nn.Module {
	return nn.Embedding(tokens, width, nn.InitStd(initStd))
}

// GPT2 returns a GPT-2 with random weights.
func GPT2(c GPT2Config) *GPT2Model {
	c.Inner = cmp.Or(c.Inner, 4*c.Width)
	c.Epsilon = cmp.Or(c.Epsilon, 1e-5)
	norm := func() nn.Module { return nn.LayerNorm(nn.Epsilon(c.Epsilon)) }
	m := &GPT2Model{config: c, Tokens: embedding(c.VocabSize, c.Width), Positions: embedding(c.Positions, c.Width), FinalNorm: norm()}
	m.Head = nn.TiedDense(m.Tokens)
	for range c.Layers {
		m.Blocks = append(m.Blocks, &gpt2Block{
			heads: c.Heads, Norm1: norm(), QKV: newConv1D(c.Width, 3*c.Width), Out: newConv1D(c.Width, c.Width),
			Norm2: norm(), Up: newConv1D(c.Width, c.Inner), Down: newConv1D(c.Inner, c.Width),
		})
	}
	return m
}

func gpt2FromConfig(text []byte) (nn.Module, []nn.Option, error) {
	c := struct {
		GPT2Config
		Activation string `json:"activation_function"`
		ScaleLayer bool   `json:"scale_attn_by_inverse_layer_idx"`
	}{Activation: "gelu_new"}
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, nil, err
	}
	err := require(map[string]bool{
		"activation_function gelu_new":         c.Activation == "gelu_new",
		"no scale_attn_by_inverse_layer_idx":   !c.ScaleLayer,
		"positive sizes":                       min(c.VocabSize, c.Positions, c.Width, c.Layers, c.Heads) > 0,
		"a width that is a multiple of n_head": c.Heads > 0 && c.Width%c.Heads == 0,
	})
	if err != nil {
		return nil, nil, err
	}
	return GPT2(c.GPT2Config), []nn.Option{
		nn.Rename(`^(wte|wpe|h|ln_f)\.`, "transformer.$1."), // files without the head
		nn.Rename(`^transformer\.h\.\d+\.attn\.(masked_)?bias$`, ""),
		nn.Rename(`^lm_head\.weight$`, ""), // equal to wte
	}, nil
}

// Forward maps tokens [N, T] to the logits of each next token, [N, T, vocabulary]. A sequence longer
// than the table of positions is a *nn.LengthError.
func (m *GPT2Model) Forward(tokens *tensor.Tensor) *tensor.Tensor { return m.forward(tokens, nil) }

// Decode continues sequences of which cache has the keys and values: it returns the logits of the token
// after the last one, [N, 1, vocabulary].
func (m *GPT2Model) Decode(tokens *tensor.Tensor, cache *nn.KVCache) *tensor.Tensor {
	y := m.forward(tokens, cache)
	cache.Advance(tokens.Size(1))
	return y
}

func (m *GPT2Model) forward(tokens *tensor.Tensor, cache *nn.KVCache) *tensor.Tensor {
	before := 0
	if cache != nil {
		before = cache.Len()
	}
	checkTokens("GPT2", tokens, before, m.config.Positions)
	var s scratch
	defer s.release()
	at := s.keep(positions(cache, tokens.Size(1)))
	x := s.run(m.Tokens, tokens).Add(s.run(m.Positions, at))
	for _, b := range m.Blocks {
		x = step(x, func(s *scratch, x *tensor.Tensor) *tensor.Tensor { return x.Add(b.attend(s, s.run(b.Norm1, x), cache)) })
		x = step(x, func(s *scratch, x *tensor.Tensor) *tensor.Tensor {
			return x.Add(b.Down.apply(s, s.keep(b.Up.apply(s, s.run(b.Norm2, x)).GELUTanh())))
		})
	}
	s.keep(x)
	if cache != nil {
		x = s.keep(lastPosition(x))
	}
	return s.result(s.run(m.Head, s.run(m.FinalNorm, x)))
}

func (b *gpt2Block) attend(s *scratch, x *tensor.Tensor, cache *nn.KVCache) *tensor.Tensor {
	width := x.Size(2)
	all := b.QKV.apply(s, x)
	part := func(i int) *tensor.Tensor { return split(s, s.keep(all.Slice(2, i*width, (i+1)*width)), b.heads) }
	var mixed *tensor.Tensor
	if cache != nil {
		mixed = cache.Attend(b, part(0), part(1), part(2))
	} else {
		mixed = tensor.Attention(part(0), part(1), part(2), true)
	}
	return b.Out.apply(s, merge(s, s.keep(mixed)))
}

// positions returns the positions of the next t tokens.
func positions(cache *nn.KVCache, t int) *tensor.Tensor {
	if cache != nil {
		return cache.Positions(t)
	}
	return tensor.Arange(0, float64(t), 1, tensor.Int32)
}

// MaxLength returns the length of the longest sequence.
func (m *GPT2Model) MaxLength() int { return m.config.Positions }

// String returns the configuration.
func (m *GPT2Model) String() string { return fmt.Sprintf("GPT2(%+v)", m.config) }
