package explain

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/tensors"
	"github.com/quernlab/quern/accel/internal/training/interrupt"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/plots"
)

// Attention has the attention weights of a model for one example; [AttentionMaps] returns it. It
// displays itself as a figure with one map for each head.
type Attention struct {
	Layers []LayerAttention // in the order of computation
	Names  []string         // of the positions, such as tokens; nil without
}

// LayerAttention are the weights of one attention layer.
type LayerAttention struct {
	Path, Layer string // such as "2.0" and SelfAttention(4); empty outside of an nn.Sequential
	// Weights [heads][queries][keys] say how much of the value of each key a query takes. Those of a
	// query sum to 1; the weight of a hidden key is 0.
	Weights [][][]float64
}

// AttentionMaps returns the weights of the attention layers of a model for one example x [1, …], such
// as the tokens [1, T] of a sentence: those that PyTorch's MultiheadAttention returns with
// average_attn_weights=False, before dropout. They say where a layer looks, not what matters to the
// prediction. names are those of the positions; they are optional. Layers are those that compute with
// tensor.Attention or tensor.MaskedAttention, as all layers of packages nn and models do.
func AttentionMaps(ctx context.Context, model nn.Module, x *tensor.Tensor, names ...string) (_ *Attention, err error) {
	if err := interrupt.RequireContext(ctx, "explain: AttentionMaps"); err != nil {
		return nil, err
	}
	const call = "AttentionMaps"
	switch {
	case model == nil:
		return nil, fmt.Errorf("explain: %s: the model is nil", call)
	case x == nil:
		return nil, fmt.Errorf("explain: %s: the input is nil", call)
	case x.NDim() < 2 || x.Size(0) != 1:
		return nil, fmt.Errorf("explain: %s: the input has shape %v, but one example is needed, [1, …]", call, x.Shape())
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	defer nn.Catch(&err)
	defer nn.Eval(model)()
	var recorded []tensors.RecordedAttention[*tensor.Tensor]
	tensor.NoGrad(func() {
		recorded = tensors.RecordAttention[*tensor.Tensor](func() { model.Forward(x) })
	})
	if len(recorded) == 0 {
		return nil, fmt.Errorf("explain: %s: the model has no attention layer", call)
	}
	a := &Attention{Names: slices.Clone(names)}
	for _, r := range recorded {
		shape := r.Weights.Shape()
		if shape[0] != 1 {
			return nil, fmt.Errorf("explain: %s: an attention layer has %d sequences, but the input is one example", call, shape[0])
		}
		if n := len(names); n > 0 && n != shape[2] && n != shape[3] {
			return nil, fmt.Errorf("explain: %s: %d names for %d positions", call, n, shape[2])
		}
		a.Layers = append(a.Layers, LayerAttention{Path: r.Path, Layer: r.Layer, Weights: nested(r.Weights.Float64s(), shape[1], shape[2], shape[3])})
	}
	return a, nil
}

// nested returns values [heads, queries, keys] in row-major order as slices.
func nested(values []float64, heads, queries, keys int) [][][]float64 {
	all := make([][][]float64, heads)
	for h := range all {
		for range queries {
			all[h] = append(all[h], values[:keys:keys])
			values = values[keys:]
		}
	}
	return all
}

// ErrNoHead is the error of a layer or a head that a model does not have.
var ErrNoHead = errors.New("explain: there is no such layer or head")

// Head draws the weights of one head of a layer, with a row for each query.
func (a *Attention) Head(layer, head int) (*plots.Figure, error) {
	if layer < 0 || layer >= len(a.Layers) || head < 0 || head >= len(a.Layers[layer].Weights) {
		return nil, fmt.Errorf("%w: layer %d, head %d; there are %d layers", ErrNoHead, layer, head, len(a.Layers))
	}
	weights := a.Layers[layer].Weights[head]
	named := func(n int) []string {
		if len(a.Names) == n {
			return a.Names
		}
		return nil
	}
	title := fmt.Sprintf("Attention of layer %d, head %d", layer, head)
	return plots.HeatMap(title, weights, named(len(weights)), named(len(weights[0]))).XLabel("key").YLabel("query"), nil
}

// Figure draws a map for each head, with a row of pixels for each query: the darker, the larger the
// weight of the key. [Attention.Head] draws one head with names and numbers.
func (a *Attention) Figure() *plots.Figure {
	var images []image.Image
	var captions []string
	for i, l := range a.Layers {
		for h, weights := range l.Weights {
			images, captions = append(images, weightsImage(weights)), append(captions, fmt.Sprintf("layer %d, head %d", i, h))
		}
	}
	return plots.Images(images, captions...).Title("Attention").Subtitle(a.String())
}

// weightsImage draws the weights of a head in shades of gray, the largest one in black.
func weightsImage(weights [][]float64) image.Image {
	largest := 0.0
	for _, row := range weights {
		largest = max(largest, slices.Max(row))
	}
	m := image.NewGray(image.Rect(0, 0, len(weights[0]), len(weights)))
	for y, row := range weights {
		for x, w := range row {
			m.SetGray(x, y, color.Gray{Y: uint8(math.Round(255 * (1 - w/max(largest, math.SmallestNonzeroFloat64))))})
		}
	}
	return m
}

// String returns the number of layers, heads and positions.
func (a *Attention) String() string {
	first := a.Layers[0].Weights
	return fmt.Sprintf("%d layers, %d heads, %d positions", len(a.Layers), len(first), len(first[0]))
}

// Report returns the figure and the text.
func (a *Attention) Report() *display.Report {
	return new(display.Report).Figure(a.Figure()).Alt(a.String())
}
