package models

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// BERTConfig is the size of a [BERT] model. The names in JSON are those of config.json.
type BERTConfig struct {
	VocabSize int     `json:"vocab_size"`              // number of different tokens
	Positions int     `json:"max_position_embeddings"` // the longest sequence
	Types     int     `json:"type_vocab_size"`         // kinds of segments; 0 for 2
	Width     int     `json:"hidden_size"`             // of the vector of a token
	Inner     int     `json:"intermediate_size"`       // width between the linear layers
	Layers    int     `json:"num_hidden_layers"`       // blocks of attention and two linear layers
	Heads     int     `json:"num_attention_heads"`     // of attention, in each layer
	Epsilon   float64 `json:"layer_norm_eps"`          // 0 for 1e-12
}

// BERTModel is a BERT with the head for masked tokens (Devlin et al., 2019); [BERT] returns it. Its
// parameters have the names of transformers' BertForMaskedLM. It has no dropouts.
type BERTModel struct {
	config    BERTConfig
	Tokens    nn.Module    `nn:"bert.embeddings.word_embeddings"`       // embedding [VocabSize, Width]
	Positions nn.Module    `nn:"bert.embeddings.position_embeddings"`   // embedding [Positions, Width]
	Types     nn.Module    `nn:"bert.embeddings.token_type_embeddings"` // embedding [Types, Width] of segments
	Norm      nn.Module    `nn:"bert.embeddings.LayerNorm"`             // of the sum of the three
	Blocks    []*bertBlock `nn:"bert.encoder.layer"`                    // in the order in which they run

	Transform     nn.Module      `nn:"cls.predictions.transform.dense"`     // linear layer before Head, Width to Width
	TransformNorm nn.Module      `nn:"cls.predictions.transform.LayerNorm"` // after Transform and GELU
	Head          nn.Module      `nn:"cls.predictions.decoder"`             // tied to Tokens
	Bias          *tensor.Tensor `nn:"cls.predictions.bias"`                // [VocabSize], of Head
}

type bertBlock struct {
	heads int
	Query nn.Module `nn:"attention.self.query"`
	Key   nn.Module `nn:"attention.self.key"`
	Value nn.Module `nn:"attention.self.value"`
	Out   nn.Module `nn:"attention.output.dense"`
	Norm1 nn.Module `nn:"attention.output.LayerNorm"`
	Up    nn.Module `nn:"intermediate.dense"`
	Down  nn.Module `nn:"output.dense"`
	Norm2 nn.Module `nn:"output.LayerNorm"`
}

// BERT returns a BERT with random weights.
func BERT(c BERTConfig) *BERTModel {
	c.Types = cmp.Or(c.Types, 2)
	c.Epsilon = cmp.Or(c.Epsilon, 1e-12)
	norm := func() nn.Module { return nn.LayerNorm(nn.Epsilon(c.Epsilon)) }
	m := &BERTModel{
		config: c, Tokens: embedding(c.VocabSize, c.Width), Positions: embedding(c.Positions, c.Width), Types: embedding(c.Types, c.Width),
		Norm: norm(), Transform: nn.Dense(c.Width), TransformNorm: norm(), Bias: tensor.Parameter(tensor.Zeros(c.VocabSize)),
	}
	m.Head = nn.TiedDense(m.Tokens)
	for range c.Layers {
		m.Blocks = append(m.Blocks, &bertBlock{
			heads: c.Heads, Query: nn.Dense(c.Width), Key: nn.Dense(c.Width), Value: nn.Dense(c.Width), Out: nn.Dense(c.Width),
			Norm1: norm(), Up: nn.Dense(c.Inner), Down: nn.Dense(c.Width), Norm2: norm(),
		})
	}
	return m
}

func bertFromConfig(text []byte) (nn.Module, []nn.Option, error) {
	c := struct {
		BERTConfig
		Activation string `json:"hidden_act"`
		Kind       string `json:"position_embedding_type"`
	}{Activation: "gelu", Kind: "absolute"}
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, nil, err
	}
	err := require(map[string]bool{
		"hidden_act gelu":                                   c.Activation == "gelu",
		"position_embedding_type absolute":                  c.Kind == "absolute",
		"positive sizes":                                    min(c.VocabSize, c.Positions, c.Width, c.Inner, c.Layers, c.Heads) > 0,
		"a width that is a multiple of num_attention_heads": c.Heads > 0 && c.Width%c.Heads == 0,
	})
	if err != nil {
		return nil, nil, err
	}
	return BERT(c.BERTConfig), []nn.Option{
		nn.Rename(`\.LayerNorm\.gamma$`, ".LayerNorm.weight"), nn.Rename(`\.LayerNorm\.beta$`, ".LayerNorm.bias"), // old files
		nn.Rename(`^(cls\.predictions\.decoder\..*|bert\.pooler\..*|cls\.seq_relationship\..*|bert\.embeddings\.position_ids)$`, ""),
	}, nil
}

// Forward maps tokens [N, T] of one segment to logits for each position, [N, T, vocabulary], and
// ignores the padding of data.Sequences. A
// sequence longer than the table of positions is a *nn.LengthError.
func (m *BERTModel) Forward(tokens *tensor.Tensor) *tensor.Tensor {
	lengths, _ := tensor.Lengths()
	var s scratch
	defer s.release()
	return m.logits(&s, s.keep(m.Encode(tokens, nil, lengths)))
}

// Encode maps tokens [N, T] to vectors [N, T, width]. types [N, T] are the segments, nil for zeros,
// and lengths [N], of type int32, the lengths of padded sequences, nil for T.
func (m *BERTModel) Encode(tokens, types, lengths *tensor.Tensor) *tensor.Tensor {
	checkTokens("BERT", tokens, 0, m.config.Positions)
	var s scratch
	defer s.release()
	if types == nil {
		types = s.keep(tensor.FromInts(make([]int, tokens.Numel()), tokens.Shape()...))
	}
	at := s.keep(positions(nil, tokens.Size(1)))
	x := s.keep(s.keep(s.run(m.Tokens, tokens).Add(s.run(m.Types, types))).Add(s.run(m.Positions, at)))
	x = s.result(s.run(m.Norm, x))
	for _, b := range m.Blocks {
		x = step(x, func(s *scratch, x *tensor.Tensor) *tensor.Tensor {
			head := func(of nn.Module) *tensor.Tensor { return split(s, s.run(of, x), b.heads) }
			mixed := s.keep(tensor.MaskedAttention(head(b.Query), head(b.Key), head(b.Value), tensor.AttentionMask{Lengths: lengths}))
			return s.run(b.Norm1, s.keep(x.Add(s.run(b.Out, merge(s, mixed)))))
		})
		x = step(x, func(s *scratch, x *tensor.Tensor) *tensor.Tensor {
			return s.run(b.Norm2, s.keep(x.Add(s.run(b.Down, s.keep(s.run(b.Up, x).GELU())))))
		})
	}
	return x
}

// Logits maps the vectors of [BERTModel.Encode] to logits for each position, [N, T, vocabulary].
func (m *BERTModel) Logits(x *tensor.Tensor) *tensor.Tensor {
	var s scratch
	defer s.release()
	return m.logits(&s, x)
}

func (m *BERTModel) logits(s *scratch, x *tensor.Tensor) *tensor.Tensor {
	return s.run(m.Head, s.run(m.TransformNorm, s.keep(s.run(m.Transform, x).GELU()))).Add(m.Bias)
}

// MaxLength returns the length of the longest sequence.
func (m *BERTModel) MaxLength() int { return m.config.Positions }

// String returns the configuration.
func (m *BERTModel) String() string { return fmt.Sprintf("BERT(%+v)", m.config) }
