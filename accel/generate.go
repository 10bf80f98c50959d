package accel

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/internal/training/interrupt"
	"github.com/quernlab/quern/accel/internal/training/loop"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/display"
)

// Temperature makes [Generate] divide the logits: below 1 likely tokens become likelier, above 1 less likely.
// At 0 the most likely token is always selected. The default is 1.
func Temperature(t float64) Option {
	return plain(fmt.Sprintf("Temperature(%g)", t), func(c *loop.Settings) { c.Temperature = t }).in(inGenerate)
}

// TopK makes [Generate] sample only from the k most likely tokens; 0, the default, stands for all.
func TopK(k int) Option {
	return plain(fmt.Sprintf("TopK(%d)", k), func(c *loop.Settings) { c.TopK = k }).in(inGenerate)
}

type generating struct {
	temperature float64
	topK        int // of TopK; 0 for all tokens
	length      int // longest sequence that the model takes
}

// decoder is a model that continues sequences with a cache of keys and values. Decode returns the
// logits for the last token, [N, 1, C], or for all of them, [N, T, C].
type decoder interface {
	nn.Module
	Decode(tokens *tensor.Tensor, cache *nn.KVCache) *tensor.Tensor
}

// contextLength is the length of the context for models that have no maximum.
const contextLength = 1024

// Generate continues a sequence: it returns the tokens of the prompt and n more, each sampled
// from the probabilities that the model predicts for the next token. The model maps tokens [1,
// T] to logits [1, T, C], and a position must not depend on later ones ([nn.Causal]). The model
// is in evaluation mode during the call and sees as many of the last tokens as its
// nn.PositionEmbedding, or its method MaxLength() int, allows. While the sequence is not longer than
// that, each new token needs only its own computations with a model that [nn.Decodes], or that has a
// method Decode, as those of package models have. [Seed] determines the samples. Errors are those of [Fit]; when
// ctx is done, Generate returns its error with the tokens so far.
func Generate(ctx context.Context, model nn.Module, prompt []int, n int, options ...Option) (tokens []int, err error) {
	if err := interrupt.RequireContext(ctx, "accel: Generate"); err != nil {
		return nil, err
	}
	c := &loop.Settings{Temperature: 1}
	if err := apply(c, inGenerate, options); err != nil {
		return nil, err
	}
	g := generating{temperature: c.Temperature, topK: c.TopK}
	switch {
	case model == nil:
		return nil, errors.New("accel: Generate: the model is nil")
	case len(prompt) == 0:
		return nil, errors.New("accel: Generate: the prompt is empty: it needs at least one token")
	case n < 0:
		return nil, fmt.Errorf("accel: Generate: the number of tokens is %d, but must be at least 0", n)
	case !(g.temperature >= 0) || g.topK < 0:
		return nil, fmt.Errorf("accel: Generate: temperature %g and TopK(%d) must be at least 0", g.temperature, g.topK)
	}
	if g.length = nn.MaxLength(model); g.length == 0 {
		g.length = contextLength
	}
	defer nn.Catch(&err)
	defer nn.Eval(model)()
	tokens = slices.Clone(prompt)
	next := func() []float32 { return g.logits(model, tokens) }
	if d := asDecoder(model); d != nil {
		cache, all := nn.NewKVCache(), next
		defer cache.Release()
		next = func() []float32 {
			if len(tokens) > g.length {
				return all()
			}
			return decode(d, tokens[cache.Len():], cache)
		}
	}
	meter, ctx := display.Measure(ctx, "tokens", float64(n))
	defer meter.End()
	for drawn := range n {
		meter.Set(float64(drawn), "")
		if ctx.Err() != nil {
			return tokens, ctx.Err()
		}
		var logits []float32
		tensor.NoGrad(func() { logits = next() })
		token, err := g.draw(logits)
		if err != nil {
			return tokens, err
		}
		tokens = append(tokens, token)
	}
	meter.Set(float64(n), "")
	return tokens, nil
}

// asDecoder returns the model as a decoder, nil if it is none.
func asDecoder(model nn.Module) decoder {
	if d, ok := model.(decoder); ok {
		return d
	}
	if nn.Decodes(model) {
		return layers{model}
	}
	return nil
}

// layers is a model of layers that nn.Decode knows.
type layers struct{ nn.Module }

func (m layers) Decode(tokens *tensor.Tensor, cache *nn.KVCache) *tensor.Tensor {
	y := nn.Decode(m.Module, tokens, cache)
	cache.Advance(tokens.Size(1))
	return y
}

// decode returns the logits of the token after the given ones, which follow those in the cache.
func decode(model decoder, tokens []int, cache *nn.KVCache) []float32 {
	y := model.Decode(tensor.FromInts(tokens, 1, len(tokens)), cache)
	shape := y.Shape()
	if len(shape) != 3 || shape[0] != 1 || shape[1] != 1 && shape[1] != len(tokens) || shape[2] < 1 {
		panic(&tensor.ShapeError{Op: "Generate", Shapes: [][]int{shape}, Hint: fmt.Sprintf("the model must map tokens [1 %d] to logits [1 %[1]d C], or to those of the last token, [1 1 C]", len(tokens))})
	}
	return y.Slice(1, shape[1]-1, shape[1]).Data()
}

// logits returns the logits of the token after the last. It pads the input at the end to a
// power of two, or to the model's maximum, so that few shapes need plans; a causal model does
// not look at the padding.
func (g *generating) logits(model nn.Module, tokens []int) []float32 {
	seen := tokens[max(0, len(tokens)-g.length):]
	size := 1
	for size < len(seen) {
		size *= 2
	}
	size = min(size, g.length)
	padded := append(slices.Clone(seen), make([]int, size-len(seen))...)
	x := tensor.FromInts(padded, 1, size)
	y := loop.Forward(model, data.Batch{X: x})
	if shape := y.Shape(); len(shape) != 3 || shape[0] != 1 || shape[1] != size || shape[2] < 1 {
		panic(&tensor.ShapeError{Op: "Generate", Shapes: [][]int{shape}, Hint: fmt.Sprintf("the model must map tokens [1 %d] to logits [1 %d C]", size, size)})
	}
	return y.Slice(1, len(seen)-1, len(seen)).Data()
}

// draw samples a token.
func (g *generating) draw(logits []float32) (int, error) {
	likeliest := 0
	for i, v := range logits {
		if v != v {
			return 0, errors.New("accel: Generate: the output of the model has a NaN: check the weights and the training loss")
		}
		if v > logits[likeliest] {
			likeliest = i
		}
	}
	if g.temperature == 0 {
		return likeliest, nil
	}
	highest, total := float64(logits[likeliest]), 0.0
	if math.IsInf(highest, 0) {
		return 0, fmt.Errorf("accel: Generate: the largest output of the model is %v, so that no token has a probability: check the weights and the training loss", highest)
	}
	order := g.candidates(logits)
	shares := make([]float64, len(order))
	for i, t := range order {
		shares[i] = math.Exp((float64(logits[t]) - highest) / g.temperature)
		total += shares[i]
	}
	at := (*tensor.Generator)(nil).Float64() * total
	for i, share := range shares {
		if at -= share; at < 0 {
			return order[i], nil
		}
	}
	return order[len(order)-1], nil
}

// candidates returns the tokens to sample from: all of them, or the most likely ones, of which the
// first come first if several are equally likely.
func (g *generating) candidates(logits []float32) []int {
	order := make([]int, len(logits))
	for i := range order {
		order[i] = i
	}
	if g.topK == 0 || g.topK >= len(order) {
		return order
	}
	// below reports whether token a is less likely than b; order[:topK] is a heap with the least
	// likely of the most likely tokens so far at its root.
	below := func(a, b int) bool { return logits[a] < logits[b] || logits[a] == logits[b] && a > b }
	top := order[:g.topK:g.topK]
	sink := func(i int) {
		for {
			child := 2*i + 1
			if child >= len(top) {
				return
			}
			if child+1 < len(top) && below(top[child+1], top[child]) {
				child++
			}
			if !below(top[child], top[i]) {
				return
			}
			top[i], top[child] = top[child], top[i]
			i = child
		}
	}
	for i := len(top)/2 - 1; i >= 0; i-- {
		sink(i)
	}
	for _, t := range order[g.topK:] {
		if below(top[0], t) {
			top[0] = t
			sink(0)
		}
	}
	slices.Sort(top)
	return top
}
