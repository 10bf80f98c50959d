package models

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// LlamaConfig is the size of a [Llama] model. The names in JSON are those of config.json.
type LlamaConfig struct {
	VocabSize     int     `json:"vocab_size"`              // number of different tokens
	Positions     int     `json:"max_position_embeddings"` // the longest sequence
	Width         int     `json:"hidden_size"`             // of the vector of a token
	Inner         int     `json:"intermediate_size"`       // width between the linear layers
	Layers        int     `json:"num_hidden_layers"`       // blocks of attention and gated linear layers
	Heads         int     `json:"num_attention_heads"`     // of attention, in each layer
	KVHeads       int     `json:"num_key_value_heads"`     // 0 for Heads
	HeadSize      int     `json:"head_dim"`                // 0 for Width/Heads
	Epsilon       float64 `json:"rms_norm_eps"`            // 0 for 1e-6
	RopeBase      float64 `json:"rope_theta"`              // 0 for 10,000
	Tied          bool    `json:"tie_word_embeddings"`     // the last layer has the weights of Tokens
	AttentionBias bool    `json:"attention_bias"`          // the layers of the attention have biases
	MLPBias       bool    `json:"mlp_bias"`                // the other linear layers have biases
}

// LlamaModel is a decoder like Llama (Touvron et al., 2023), with rotary positions, RMS
// normalization, gated linear layers and shared keys and values; [Llama] returns it. Its parameters
// have the names of transformers' LlamaForCausalLM.
type LlamaModel struct {
	config    LlamaConfig
	Tokens    nn.Module     `nn:"model.embed_tokens"` // embedding [VocabSize, Width]
	Blocks    []*llamaBlock `nn:"model.layers"`       // in the order in which they run
	FinalNorm nn.Module     `nn:"model.norm"`         // before Head
	Head      nn.Module     `nn:"lm_head"`            // Width to VocabSize; tied to Tokens if the configuration says so
}

type llamaBlock struct {
	Norm1     nn.Module                      `nn:"input_layernorm"`
	Attention *nn.GroupedQueryAttentionLayer `nn:"self_attn"`
	Norm2     nn.Module                      `nn:"post_attention_layernorm"`
	Gate      nn.Module                      `nn:"mlp.gate_proj"`
	Up        nn.Module                      `nn:"mlp.up_proj"`
	Down      nn.Module                      `nn:"mlp.down_proj"`
}

// Llama returns a Llama with random weights.
func Llama(c LlamaConfig) *LlamaModel {
	c.KVHeads = cmp.Or(c.KVHeads, c.Heads)
	c.HeadSize = cmp.Or(c.HeadSize, c.Width/max(c.Heads, 1))
	c.Epsilon = cmp.Or(c.Epsilon, 1e-6)
	c.RopeBase = cmp.Or(c.RopeBase, 1e4)
	norm := func() nn.Module { return nn.RMSNorm(nn.Epsilon(c.Epsilon)) }
	dense := func(out int) nn.Module {
		if c.MLPBias {
			return nn.Dense(out)
		}
		return nn.Dense(out, nn.NoBias())
	}
	attention := []nn.Option{nn.Causal(), nn.RoPE(c.RopeBase), nn.HeadSize(c.HeadSize)}
	if !c.AttentionBias {
		attention = append(attention, nn.NoBias())
	}
	m := &LlamaModel{config: c, Tokens: embedding(c.VocabSize, c.Width), FinalNorm: norm(), Head: nn.Dense(c.VocabSize, nn.NoBias())}
	if c.Tied {
		m.Head = nn.TiedDense(m.Tokens)
	}
	for range c.Layers {
		m.Blocks = append(m.Blocks, &llamaBlock{
			Norm1: norm(), Attention: nn.GroupedQueryAttention(c.Heads, c.KVHeads, attention...),
			Norm2: norm(), Gate: dense(c.Inner), Up: dense(c.Inner), Down: dense(c.Width),
		})
	}
	return m
}

func llamaFromConfig(text []byte) (nn.Module, []nn.Option, error) {
	type rope struct {
		Base float64 `json:"rope_theta"`
		Type string  `json:"rope_type"`
		Old  string  `json:"type"`
	}
	c := struct {
		LlamaConfig
		Activation string `json:"hidden_act"`
		Rope       rope   `json:"rope_parameters"`
		Scaling    *rope  `json:"rope_scaling"`
	}{Activation: "silu"}
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, nil, err
	}
	if c.Scaling == nil {
		c.Scaling = &c.Rope
	}
	if c.Rope.Base > 0 {
		c.RopeBase = c.Rope.Base
	}
	plain := func(kind string) bool { return kind == "" || kind == "default" }
	c.KVHeads = cmp.Or(c.KVHeads, c.Heads)
	err := require(map[string]bool{
		"hidden_act silu":           c.Activation == "silu",
		"rope_type default":         plain(c.Rope.Type) && plain(c.Scaling.Type) && plain(c.Scaling.Old),
		"positive sizes":            min(c.VocabSize, c.Positions, c.Width, c.Inner, c.Layers, c.Heads, c.KVHeads) > 0,
		"heads that fit each other": c.KVHeads > 0 && c.Heads%max(c.KVHeads, 1) == 0,
	})
	if err != nil {
		return nil, nil, err
	}
	rules := []nn.Option{nn.Rename(`^.*\.rotary_emb\.inv_freq$`, "")}
	if c.Tied {
		rules = append(rules, nn.Rename(`^lm_head\.weight$`, ""))
	}
	return Llama(c.LlamaConfig), rules, nil
}

// Forward maps tokens [N, T] to the logits of each next token, [N, T, vocabulary]. A sequence longer
// than the model's positions is a *tensor.ShapeError.
func (m *LlamaModel) Forward(tokens *tensor.Tensor) *tensor.Tensor {
	checkTokens("Llama", tokens, 0, m.config.Positions)
	var s scratch
	defer s.release()
	return m.logits(&s, s.keep(m.forward(tokens, (*nn.GroupedQueryAttentionLayer).Forward)))
}

// Decode continues sequences of which cache has the keys and values: it returns the logits of the token
// after the last one, [N, 1, vocabulary].
func (m *LlamaModel) Decode(tokens *tensor.Tensor, cache *nn.KVCache) *tensor.Tensor {
	checkTokens("Llama", tokens, cache.Len(), m.config.Positions)
	y := m.forward(tokens, func(a *nn.GroupedQueryAttentionLayer, x *tensor.Tensor) *tensor.Tensor { return a.Decode(x, cache) })
	cache.Advance(tokens.Size(1))
	var s scratch
	defer s.release()
	return m.logits(&s, s.keep(lastPosition(s.keep(y))))
}

func (m *LlamaModel) forward(tokens *tensor.Tensor, attend func(a *nn.GroupedQueryAttentionLayer, x *tensor.Tensor) *tensor.Tensor) *tensor.Tensor {
	x := m.Tokens.Forward(tokens)
	for _, b := range m.Blocks {
		x = step(x, func(s *scratch, x *tensor.Tensor) *tensor.Tensor {
			return x.Add(s.keep(attend(b.Attention, s.run(b.Norm1, x))))
		})
		x = step(x, func(s *scratch, x *tensor.Tensor) *tensor.Tensor {
			normal := s.run(b.Norm2, x)
			gate := s.keep(s.run(b.Gate, normal).SiLU())
			return x.Add(s.run(b.Down, s.keep(gate.Mul(s.run(b.Up, normal)))))
		})
	}
	return x
}

// logits maps the outputs of the blocks to logits.
func (m *LlamaModel) logits(s *scratch, x *tensor.Tensor) *tensor.Tensor {
	return s.result(s.run(m.Head, s.run(m.FinalNorm, x)))
}

// MaxLength returns the length of the longest sequence.
func (m *LlamaModel) MaxLength() int { return m.config.Positions }

// String returns the configuration.
func (m *LlamaModel) String() string { return fmt.Sprintf("Llama(%+v)", m.config) }
