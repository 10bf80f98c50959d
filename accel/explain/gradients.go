package explain

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/internal/training/interrupt"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
	"github.com/quernlab/quern/display"
	"github.com/quernlab/quern/plots"
)

// Gradients is what [GradientFlow] measured. It displays itself as a figure.
type Gradients struct {
	Dataset    string              // name of the data set
	Examples   int                 // that were used, at most 512
	Loss       float64             // mean over these examples
	Parameters []ParameterGradient // in the order of nn.NamedParameters
}

// ParameterGradient is the gradient of one parameter.
type ParameterGradient struct {
	Name   string  // as nn.NamedParameters
	Norm   float64 // L2 norm of the gradient; 0 if none reaches the parameter
	Weight float64 // L2 norm of the parameter
}

// Ratio returns Norm/Weight, how much of the parameter a step with the learning rate 1 would change; NaN for a
// parameter that is 0.
func (p ParameterGradient) Ratio() float64 {
	if p.Weight == 0 {
		return math.NaN()
	}
	return p.Norm / p.Weight
}

// GradientFlow returns the size of the gradient of each parameter of a model for the examples of a data set, at
// most 512 of them. If it falls from the last layers to the first ones by orders of magnitude, the first ones
// hardly learn (vanishing gradients). The loss is a function of package nn; nil means nn.CrossEntropy for
// classes and nn.MSE for targets. The model is in evaluation mode: without dropout, and with the running means
// of BatchNorm.
func GradientFlow(ctx context.Context, model nn.Module, set *data.Dataset, loss nn.Loss) (g *Gradients, err error) {
	if err := interrupt.RequireContext(ctx, "explain: GradientFlow"); err != nil {
		return nil, err
	}
	const call = "GradientFlow"
	if err := check(call, model, set); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	err = backward(call, model, set, loss, model.Forward, func(parameters []nn.Parameter, examples int, loss float64) error {
		g = &Gradients{Dataset: set.Name(), Examples: examples, Loss: loss}
		for _, p := range parameters {
			row := ParameterGradient{Name: p.Name, Weight: p.Norm().Item()}
			if grad := p.Grad(); grad != nil {
				row.Norm = grad.Norm().Item()
			}
			g.Parameters = append(g.Parameters, row)
		}
		return nil
	})
	return g, err
}

// backward computes the gradients of a batch of at most 512 examples, in evaluation mode, calls read while the parameters have
// them, and restores those of before. forward is that of the model, which may look at what it computes.
func backward(call string, model nn.Module, set *data.Dataset, loss nn.Loss, forward func(x *tensor.Tensor) *tensor.Tensor,
	read func(parameters []nn.Parameter, examples int, loss float64) error) (err error) {
	batch, err := set.First(maxGradientExamples).Tensors()
	if err != nil {
		return err
	}
	defer nn.Catch(&err)
	defer nn.Eval(model)()
	var prediction *tensor.Tensor
	batch.WithLengths(func() { prediction = forward(batch.X) })
	value := lossFor(loss, set)(prediction, batch.Y)
	parameters := nn.NamedParameters(model)
	if len(parameters) == 0 {
		return fmt.Errorf("explain: %s: the model has no parameters that are trained", call)
	}
	defer keepGradients(parameters)()
	value.Backward()
	tensor.NoGrad(func() { err = read(parameters, batch.Len(), value.Item()) })
	return err
}

// keepGradients sets the gradients of parameters to zero. restore sets them back.
func keepGradients(parameters []nn.Parameter) (restore func()) {
	before := make([]*tensor.Tensor, len(parameters))
	for i, p := range parameters {
		before[i] = p.Grad()
		p.ZeroGrad()
	}
	return func() {
		for i, p := range parameters {
			if p.ZeroGrad(); before[i] != nil {
				p.SetGrad(before[i])
			}
		}
	}
}

// maxGradientExamples is the size of the batch.
const maxGradientExamples = 512

// Figure draws the norm of the gradient of each parameter, from the first to the last.
func (g *Gradients) Figure() *plots.Figure {
	var names []string
	var values []float64
	for _, p := range g.Parameters {
		names, values = append(names, p.Name), append(values, p.Norm)
	}
	return plots.Bar("Gradients", names, values).XLabel("L2 norm of the gradient").Subtitle(g.about())
}

func (g *Gradients) about() string {
	return fmt.Sprintf("%s, %d examples, loss %.4g", g.Dataset, g.Examples, g.Loss)
}

// String returns the gradients as a table.
func (g *Gradients) String() string {
	out := new(display.Report).Table("parameter", "gradient", "weight", "ratio")
	for _, p := range g.Parameters {
		out.Row(p.Name, fmt.Sprintf("%.3g", p.Norm), fmt.Sprintf("%.3g", p.Weight), fmt.Sprintf("%.3g", p.Ratio()))
	}
	return out.Text(g.about()).String()
}

// Report returns the figure and the text.
func (g *Gradients) Report() *display.Report {
	return new(display.Report).Figure(g.Figure()).Alt(g.String())
}

// Saliency returns how strongly each pixel of some images affects the logit of their predicted class:
// the absolute value of its gradient with respect to the pixel, the largest of the channels (Simonyan,
// Vedaldi and Zisserman, Deep Inside Convolutional Networks, 2013). The indices are those of images in
// the data set.
func Saliency(ctx context.Context, model nn.Module, set *data.Dataset, indices ...int) (maps *Heatmaps, err error) {
	if err := interrupt.RequireContext(ctx, "explain: Saliency"); err != nil {
		return nil, err
	}
	const call = "Saliency"
	channels, height, width, err := checkImages(call, model, set)
	if err != nil {
		return nil, err
	}
	batch, err := selected(ctx, call, set, indices)
	if err != nil {
		return nil, err
	}
	defer nn.Catch(&err)
	pixels, classes, err := inputGradient(call, model, nn.Sequential(), batch.X)
	if err != nil {
		return nil, err
	}
	values, size := pixels.Grad().Float64s(), height*width
	relevance := make([]float64, len(indices)*size)
	for i, v := range values {
		at := i/(channels*size)*size + i%size
		relevance[at] = max(relevance[at], math.Abs(v))
	}
	return newHeatmaps("Saliency", set, indices, classes, height, width, relevance), nil
}

// inputGradient returns the input of model, which is the output of below for x, with the gradient of the
// logit of the predicted class of each example, and the predicted classes. The parameters get no gradients.
func inputGradient(call string, model, below nn.Module, x *tensor.Tensor) (input *tensor.Tensor, classes []int, err error) {
	defer nn.Eval(model)()
	defer nn.Eval(below)()
	defer nn.Freeze(model).Thaw()
	tensor.NoGrad(func() { input = below.Forward(x) })
	input = tensor.Parameter(input.Detach())
	logits := model.Forward(input)
	if classes, err = predicted(call, logits); err != nil {
		return nil, nil, err
	}
	score := logits.Mul(tensor.FromInts(classes, len(classes)).OneHot(logits.Size(1))).Sum()
	score.Backward()
	if input.Grad() == nil {
		return nil, nil, fmt.Errorf("explain: %s: no gradient reaches the input: the model does not compute with it, or rounds it", call)
	}
	return input, classes, nil
}

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
	if err := interrupt.RequireContext(ctx, "explain: GradCAM"); err != nil {
		return nil, err
	}
	const call = "GradCAM"
	_, height, width, err := checkImages(call, model, set)
	if err != nil {
		return nil, err
	}
	below, above, err := split(model, layer)
	if err != nil {
		return nil, err
	}
	batch, err := selected(ctx, call, set, indices)
	if err != nil {
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
