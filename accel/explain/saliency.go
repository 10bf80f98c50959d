package explain

import (
	"context"
	"fmt"
	"math"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// Saliency returns how strongly each pixel of some images affects the logit of their predicted class:
// the absolute value of its gradient with respect to the pixel, the largest of the channels (Simonyan,
// Vedaldi and Zisserman, Deep Inside Convolutional Networks, 2013). The indices are those of images in
// the data set.
func Saliency(ctx context.Context, model nn.Module, set *data.Dataset, indices ...int) (maps *Heatmaps, err error) {
	const call = "Saliency"
	channels, height, width, err := checkImages(call, model, set)
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
