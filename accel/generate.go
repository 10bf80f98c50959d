package accel

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/display"
)

// GenerateOption changes how [Generate] chooses tokens.
type GenerateOption struct {
	text string
	set  func(*generating)
}

// String returns the option as it is written in Go.
func (o GenerateOption) String() string { return o.text }

// Temperature divides the logits: below 1 likely tokens become likelier, above 1
// less so; at 0 the likeliest is always taken. The default is 1.
func Temperature(t float64) GenerateOption {
	return GenerateOption{fmt.Sprintf("Temperature(%g)", t), func(g *generating) { g.temperature = t }}
}

// TopK chooses among the k likeliest tokens only.
func TopK(k int) GenerateOption {
	return GenerateOption{fmt.Sprintf("TopK(%d)", k), func(g *generating) { g.most = k }}
}

type generating struct {
	temperature float64
	most        int // 0 for all
	length      int // of the longest sequence that the model takes
}

// contextLength is what a model that names no length gets to see.
const contextLength = 1024

// Generate goes on with a text: it gives the prompt's tokens and n more, each
// drawn by the probabilities that the model gives to what follows. The model
// maps tokens [1, T] to logits [1, T, C], and no place may depend on later ones
// ([nn.Causal]); it is in evaluation mode meanwhile. It sees as many of the last
// tokens as its nn.PositionEmbedding has places. Draws come from the stream that
// [Seed] fixes. Errors are as those of [Fit]; when ctx is done, the tokens so far
// come with its error.
func Generate(ctx context.Context, model nn.Module, prompt []int, n int, options ...GenerateOption) (tokens []int, err error) {
	g := generating{temperature: 1}
	for _, o := range options {
		if o.set != nil {
			o.set(&g)
		}
	}
	switch {
	case model == nil:
		return nil, errors.New("accel: Generate: the model is nil")
	case len(prompt) == 0:
		return nil, errors.New("accel: Generate: the prompt is empty; one token is needed to begin with")
	case !(g.temperature >= 0) || g.most < 0:
		return nil, fmt.Errorf("accel: Generate: temperature %g and the %d likeliest: neither may be negative", g.temperature, g.most)
	}
	if g.length = nn.MaxLength(model); g.length == 0 {
		g.length = contextLength
	}
	defer nn.Catch(&err)
	defer nn.Eval(model)()
	tokens = slices.Clone(prompt)
	meter, ctx := display.Measure(ctx, "tokens", float64(n))
	defer meter.End()
	for drawn := range n {
		meter.Set(float64(drawn), "")
		if ctx.Err() != nil {
			return tokens, ctx.Err()
		}
		var logits []float32
		tensor.NoGrad(func() { logits = g.logits(model, tokens) })
		next, err := g.draw(logits)
		if err != nil {
			return tokens, err
		}
		tokens = append(tokens, next)
	}
	meter.Set(float64(n), "")
	return tokens, nil
}

// logits returns those of the token after the last. The input is filled up behind to
// a power of two, or to the model's length, so that few shapes are planned for;
// the model does not look there.
func (g *generating) logits(model nn.Module, tokens []int) []float32 {
	seen := tokens[max(0, len(tokens)-g.length):]
	size := 1
	for size < len(seen) {
		size *= 2
	}
	size = min(size, g.length)
	padded := append(slices.Clone(seen), make([]int, size-len(seen))...)
	x := tensor.FromInts(padded, 1, size)
	y := model.Forward(x)
	if shape := y.Shape(); len(shape) != 3 || shape[0] != 1 || shape[1] != size || shape[2] < 1 {
		panic(&tensor.ShapeError{Op: "Generate", Shapes: [][]int{shape}, Hint: fmt.Sprintf("the model must map tokens [1 %d] to logits [1 %d C]", size, size)})
	}
	return y.Slice(1, len(seen)-1, len(seen)).Data()
}

// draw chooses a token by its logits.
func (g *generating) draw(logits []float32) (int, error) {
	order := make([]int, len(logits))
	for i, v := range logits {
		if v != v {
			return 0, errors.New("accel: Generate: the model's output is NaN")
		}
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case logits[a] > logits[b]:
			return -1
		case logits[a] < logits[b]:
			return 1
		}
		return 0
	})
	if g.temperature == 0 {
		return order[0], nil
	}
	if g.most > 0 && g.most < len(order) {
		order = order[:g.most]
	}
	highest, total := float64(logits[order[0]]), 0.0
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
