package baseline

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// Linear is logistic regression, or ridge regression for targets, on standardized features. It has the
// penalty ½‖w‖² (ridge: ‖w‖²) beside the sum of the losses over the examples, without the biases: the
// defaults of scikit-learn's LogisticRegression and Ridge after a StandardScaler. The model is
// a linear layer after Flatten, which includes the standardization.
func Linear() Method { return linear{} }

type linear struct{}

func (linear) String() string { return "linear" }

func (linear) Fit(ctx context.Context, train *data.Dataset) (model nn.Module, err error) {
	defer nn.Catch(&err)
	all, err := read(train)
	if err != nil {
		return nil, err
	}
	s := newScale(all.x)
	all.x = s.apply(all.x)
	var weight, bias []float64 // [out, D], [out]
	if all.classes > 0 {
		weight, bias, err = logistic(ctx, all)
	} else {
		weight, bias, err = ridge(all)
	}
	if err != nil {
		return nil, err
	}
	width := all.x.Size(1)
	mean, deviation := s.mean.Float64s(), s.deviation.Float64s()
	for i := range weight { // for features that are not standardized
		weight[i] /= deviation[i%width]
		bias[i/width] -= weight[i] * mean[i%width]
	}
	out := len(bias)
	layer := nn.Dense(out)
	layer.Weight = parameter(weight, out, width)
	layer.Bias = parameter(bias, out)
	return nn.Sequential(nn.Flatten(), layer), nil
}

func parameter(values []float64, shape ...int) *tensor.Tensor {
	return tensor.Parameter(tensor.FromFloat64s(values, shape...).Cast(tensor.Float32))
}

// maxIterations is scikit-learn's max_iter. The loss then hardly changes any more.
const maxIterations = 100

// tolerance is the relative change of the loss at which the search ends; the loss is a float32.
const tolerance = 1e-7

// logistic returns the weights that minimize the sum of the cross-entropies and the penalty. The
// losses and their gradients are computed by tensors, the steps of L-BFGS by gonum.
func logistic(ctx context.Context, all examples) (weight, bias []float64, err error) {
	width, size := all.x.Size(1), all.classes*all.x.Size(1)
	w := tensor.Parameter(tensor.Zeros(all.classes, width))
	b := tensor.Parameter(tensor.Zeros(all.classes))
	n := float64(all.x.Size(0))
	// With two classes, scikit-learn penalizes the difference of the two rows of weights.
	penalty := 1.0
	if all.classes == 2 {
		penalty = 2
	}
	value, gradient := 0.0, make([]float64, size+all.classes)
	at := make([]float64, size+all.classes)
	evaluate := func(p []float64) {
		w.SetData(float32s(p[:size]))
		b.SetData(float32s(p[size:]))
		w.ZeroGrad()
		b.ZeroGrad()
		loss := tensor.CrossEntropy(tensor.Linear(all.x, w, b), all.y)
		loss.Backward()
		value = n * loss.Item()
		for i, g := range append(w.Grad().Float64s(), b.Grad().Float64s()...) {
			gradient[i] = n * g
		}
		for i, v := range p[:size] {
			value += penalty * v * v / 2
			gradient[i] += penalty * v
		}
		copy(at, p)
	}
	evaluate(at)
	update := func(p []float64) { // the loss and the gradient are requested at the same point
		if !slices.Equal(p, at) {
			evaluate(p)
		}
	}
	problem := optimize.Problem{
		Func:   func(p []float64) float64 { update(p); return value },
		Grad:   func(g, p []float64) { update(p); copy(g, gradient) },
		Status: func() (optimize.Status, error) { return optimize.NotTerminated, ctx.Err() },
	}
	settings := &optimize.Settings{
		MajorIterations: maxIterations,
		Converger:       &optimize.FunctionConverge{Relative: tolerance, Iterations: 3},
	}
	result, err := optimize.Minimize(problem, make([]float64, size+all.classes), settings, &optimize.LBFGS{})
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	if result == nil || math.IsNaN(result.F) || math.IsInf(result.F, 0) {
		return nil, nil, fmt.Errorf("cannot fit a logistic regression: %w", errors.Join(err, errors.New("the loss is not finite")))
	}
	// A line search that cannot improve the loss at the precision of float32 has reached the optimum.
	return result.X[:size], result.X[size:], nil
}

func float32s(values []float64) []float32 {
	out := make([]float32, len(values))
	for i, v := range values {
		out[i] = float32(v)
	}
	return out
}

// ridge returns the weights that minimize the sum of the squared errors and the penalty, in float64: it
// solves (XᵀX + 1)w = XᵀY for standardized features X and centered targets Y.
func ridge(all examples) (weight, bias []float64, err error) {
	n, width, out := all.x.Size(0), all.x.Size(1), all.y.Size(1)
	x := mat.NewDense(n, width, all.x.Float64s())
	y := mat.NewDense(n, out, all.y.Float64s())
	bias = make([]float64, out)
	for j := range out {
		column := mat.Col(nil, j, y)
		for _, v := range column {
			bias[j] += v / float64(n)
		}
		floats.AddConst(-bias[j], column)
		y.SetCol(j, column)
	}
	var gram mat.SymDense
	gram.SymOuterK(1, x.T())
	for d := range width {
		gram.SetSym(d, d, gram.At(d, d)+1)
	}
	var solver mat.Cholesky
	if !solver.Factorize(&gram) {
		return nil, nil, errors.New("cannot fit a ridge regression: the features or targets are too large")
	}
	var right, w mat.Dense
	right.Mul(x.T(), y)
	if err := solver.SolveTo(&w, &right); err != nil {
		return nil, nil, fmt.Errorf("cannot fit a ridge regression: %w", err)
	}
	weight = make([]float64, out*width)
	for j := range out {
		copy(weight[j*width:], mat.Col(nil, j, &w))
	}
	return weight, bias, nil
}
