package plan

import (
	"cmp"
	"fmt"
)

// Transformer describes a decoder: GPT-2's architecture, or, if Gated, Llama's.
type Transformer struct {
	Name          string // for the report
	Layers        int    // blocks of attention and linear layers
	Width         int    // of the vector of a token
	Heads         int    // of attention
	KeyValueHeads int    // heads of keys and values; 0 for Heads
	Inner         int    // width between the linear layers; 0 for 4·Width
	Vocabulary    int    // number of different tokens
	Sequence      int    // tokens in an example
	Positions     int    // of GPT-2's table of positions; 0 for Sequence
	Gated         bool   // Llama's linear layers with a gate, norms without biases, and rotary embeddings
	Tied          bool   // the output layer has the weights of the embedding
	Dropout       bool   // after attention scores and in front of each residual addition
	// Unfused attention writes the scores of all pairs of tokens to memory. Otherwise it is FlashAttention, which neither writes
	// them nor computes those of later tokens.
	Unfused bool
}

// Model returns the costs of the transformer.
//
// Parameters, FLOPs and activations follow from the shapes; with dropout and unfused attention the activations are those of Korthikanti et
// al., Reducing Activation Recomputation in Large Transformer Models, 2022: 34·s·h + 5·a·s² bytes of each block in
// 16-bit floats. The memory traffic counts what norms, residual additions, activation functions and softmax read and write.
func (t Transformer) Model(p Precision) Model {
	if wrong := t.wrong(); wrong != "" {
		return Model{Name: t.Name, Precision: p, wrong: wrong}
	}
	width, sequence, vocabulary := float64(t.Width), float64(t.Sequence), float64(t.Vocabulary)
	embedding := Block{Name: "embedding", Parameters: vocabulary * width, Divisible: true}
	if !t.Gated {
		embedding.Parameters += float64(cmp.Or(t.Positions, t.Sequence)) * width
	}
	embedding.Output = p.Activation * sequence * width
	embedding.Forward.WholeBytes = 2 * embedding.Output
	embedding.Backward = embedding.Forward
	embedding.Reduced = embedding.Output
	blocks := []Block{embedding}
	for range t.Layers {
		blocks = append(blocks, t.block(p))
	}
	return Model{Name: t.Name, Blocks: append(blocks, t.head(p)), Precision: p, Heads: cmp.Or(t.KeyValueHeads, t.Heads), Tokens: t.Sequence}
}

// wrong says which sizes no transformer has; predictions then fail.
func (t Transformer) wrong() string {
	for _, q := range []struct {
		name  string
		value int
	}{{"Layers", t.Layers}, {"Width", t.Width}, {"Heads", t.Heads}, {"Vocabulary", t.Vocabulary}, {"Sequence", t.Sequence}} {
		if q.value < 1 {
			return fmt.Sprintf("%s must be at least 1, it is %d", q.name, q.value)
		}
	}
	for _, q := range []struct {
		name  string
		value int
	}{{"KeyValueHeads", t.KeyValueHeads}, {"Inner", t.Inner}, {"Positions", t.Positions}} {
		if q.value < 0 {
			return fmt.Sprintf("%s must not be negative, it is %d", q.name, q.value)
		}
	}
	switch kv := cmp.Or(t.KeyValueHeads, t.Heads); {
	case t.Width%t.Heads != 0:
		return fmt.Sprintf("Width %d cannot be divided by %d Heads", t.Width, t.Heads)
	case t.Heads%kv != 0:
		return fmt.Sprintf("%d Heads cannot be divided by %d KeyValueHeads", t.Heads, kv)
	}
	return ""
}

// block returns the costs of a block of attention and linear layers.
func (t Transformer) block(p Precision) Block {
	width, sequence, heads := float64(t.Width), float64(t.Sequence), float64(t.Heads)
	inner := float64(cmp.Or(t.Inner, 4*t.Width))
	keys := width / heads * float64(cmp.Or(t.KeyValueHeads, t.Heads)) // width of keys, and of values
	linear := width*(width+2*keys) + width*width
	middle := 2 * inner // elements of a token before and after the activation function
	if t.Gated {
		linear += 3 * width * inner
		middle = 3 * inner
	} else {
		linear += 2 * width * inner
	}
	b := Block{Name: "block", Parameters: linear + 2*width, Divisible: true}
	if !t.Gated {
		b.Parameters += 2*width + (width + 2*keys) + width + inner + width // biases of norms and linear layers
	}
	b.Output = p.Activation * sequence * width
	b.Reduced = 2 * b.Output // after attention and after the linear layers

	pairs := heads * sequence * sequence
	b.Attention.AttentionFLOPs = 4 * width * sequence * sequence
	if t.Unfused {
		passes := 4.0 // scores: written, softmax, read
		b.Kept.Attention = p.Activation * pairs
		if t.Dropout {
			passes += 2.5 // the scores again, and a mask of bytes
			b.Kept.Attention += (1 + p.Activation) * pairs
		}
		b.Attention.Bytes = p.Activation * passes * pairs
	} else {
		b.Attention.AttentionFLOPs /= 2
		b.Attention.Bytes = p.Activation * sequence * (2*width + 2*keys)
	}
	b.Forward = b.Attention.plus(Work{
		FLOPs:      2 * linear * sequence,
		Bytes:      p.Activation * sequence * middle,
		WholeBytes: (4 + 6) * b.Output, // two norms and two residual additions
	})
	if p.Type == Float8 { // each input of a linear layer is read, and written in 8 bits and transposed; in the backward pass each gradient, too
		b.Forward.Bytes += (p.Activation + 2) * sequence * (3*width + inner)
	}
	b.Backward = b.Forward.times(2)
	if !t.Unfused { // FlashAttention computes the scores again
		b.Backward.AttentionFLOPs *= 1.25
	}
	b.Kept.Divided = p.Activation * sequence * (width + 2*keys + width + middle)
	b.Kept.Whole = 4 * b.Output
	if t.Dropout {
		b.Kept.Whole += 2 * sequence * width // masks of bytes
	}
	return b
}

// head returns the costs of the last norm, the output layer and the loss.
func (t Transformer) head(p Precision) Block {
	width, sequence, vocabulary := float64(t.Width), float64(t.Sequence), float64(t.Vocabulary)
	b := Block{Name: "head", Parameters: width, Divisible: true}
	if t.Tied {
		b.Tied = width * vocabulary
	} else {
		b.Parameters += width * vocabulary
	}
	if !t.Gated {
		b.Parameters += width // bias of the norm
	}
	state, logits := p.Activation*sequence*width, p.Activation*sequence*vocabulary
	b.Forward = Work{FLOPs: 2 * width * sequence * vocabulary, Bytes: 4 * logits, WholeBytes: 2 * state}
	b.Backward = Work{FLOPs: 2 * b.Forward.FLOPs, Bytes: 2 * logits, WholeBytes: 4 * state}
	b.Kept = Kept{Divided: 2 * logits, Whole: 2 * state} // the logits and their gradients
	b.Reduced = state
	return b
}
