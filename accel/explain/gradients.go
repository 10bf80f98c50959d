package explain

import (
	"context"
	"fmt"
	"math"

	"github.com/quernlab/quern/accel/data"
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
