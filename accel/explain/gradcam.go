package explain

import (
	"context"
	"errors"
	"fmt"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// GradCAM returns the regions of some images in which a layer finds evidence for their predicted class
// (Selvaraju et al., Grad-CAM: Visual Explanations from Deep Networks via Gradient-based Localization,
// 2017). For the output A [K, H, W] of the layer and the logit y of the class it computes
//
//	max(0, Σₖ αₖ·Aₖ)   with αₖ the mean of ∂y/∂Aₖ over the H·W positions
//
// and scales it bilinearly to the size of the image. The layer is one of an nn.Sequential, at any depth
// of nested ones, whose output is [N, K, H, W]; usually the last convolution, or the ReLU after it. The
// indices are those of images in the data set.
func GradCAM(ctx context.Context, model, layer nn.Module, set *data.Dataset, indices ...int) (maps *Heatmaps, err error) {
	const call = "GradCAM"
	_, height, width, err := checkImages(call, model, set)
	if err != nil {
		return nil, err
	}
	below, above, err := split(model, layer)
	if err != nil {
		return nil, err
	}
	batch, err := selected(call, set, indices)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	defer nn.Catch(&err)
	activations, classes, err := inputGradient(call, above, below, batch.X)
	if err != nil {
		return nil, err
	}
	shape := activations.Shape()
	if len(shape) != 4 {
		return nil, fmt.Errorf("explain: %s: the output of the layer has shape %v, but [N, K, H, W] is needed: select a convolution, or a layer after it and before Flatten", call, shape)
	}
	var relevance []float64
	tensor.NoGrad(func() {
		weights := activations.Grad().Mean(2, 3).Reshape(shape[0], shape[1], 1, 1)
		relevance = activations.Mul(weights).Sum(1).ReLU().Float64s()
	})
	scaled := make([]float64, 0, len(indices)*height*width)
	size := shape[2] * shape[3]
	for i := range indices {
		scaled = append(scaled, bilinear(relevance[i*size:(i+1)*size], shape[2], shape[3], height, width)...)
	}
	return newHeatmaps("Grad-CAM", set, indices, classes, height, width, scaled), nil
}

// split divides a chain into the layers up to the given one, and those after it.
func split(model, layer nn.Module) (below, above *nn.SequentialLayer, err error) {
	if layer == nil {
		return nil, nil, errors.New("explain: GradCAM: the layer is nil")
	}
	chain, ok := model.(*nn.SequentialLayer)
	if !ok {
		return nil, nil, fmt.Errorf("explain: GradCAM: the model is a %T, but only an nn.Sequential can be split at a layer", model)
	}
	before, after, ok := divide(chain, layer)
	if !ok {
		return nil, nil, fmt.Errorf("explain: GradCAM: %v is not a layer of the model's nn.Sequential", layer)
	}
	return nn.Sequential(before...), nn.Sequential(after...), nil
}

// divide returns the layers of a chain up to and after one of them; ok is false if there is no such layer.
func divide(chain *nn.SequentialLayer, layer nn.Module) (before, after []nn.Module, ok bool) {
	all := chain.Layers()
	for i, l := range all {
		if l == layer {
			return all[:i+1], all[i+1:], true
		}
		if inner, chained := l.(*nn.SequentialLayer); chained {
			if b, a, ok := divide(inner, layer); ok {
				return append(all[:i:i], b...), append(a[:len(a):len(a)], all[i+1:]...), true
			}
		}
	}
	return nil, nil, false
}

// bilinear scales an image [h × w] to another size, with the centers of the corner pixels at half a pixel
// from the border (PyTorch's align_corners=False).
func bilinear(values []float64, h, w, height, width int) []float64 {
	at := func(i, n, size int) (low, high int, share float64) {
		p := max((float64(i)+0.5)*float64(size)/float64(n)-0.5, 0)
		low = min(int(p), size-1)
		return low, min(low+1, size-1), p - float64(low)
	}
	out := make([]float64, 0, height*width)
	for y := range height {
		top, bottom, dy := at(y, height, h)
		for x := range width {
			left, right, dx := at(x, width, w)
			upper := (1-dx)*values[top*w+left] + dx*values[top*w+right]
			lower := (1-dx)*values[bottom*w+left] + dx*values[bottom*w+right]
			out = append(out, (1-dy)*upper+dy*lower)
		}
	}
	return out
}
