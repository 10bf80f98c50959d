package metrics

import (
	"fmt"
	"math"
	"slices"

	"github.com/quernlab/quern/accel/tensor"
)

// residuals are sums over the examples for each output.
type residuals struct {
	Examples int
	Absolute []float64 // Σ |y - ŷ|
	Squared  []float64 // Σ (y - ŷ)²
	Mean     []float64 // of y
	Variance []float64 // Σ (y - mean)², by Welford's and Chan's formulas, which do not cancel
	Relative []float64 // Σ |y - ŷ|/|y|
	Zeros    int       // targets that are 0
	// The same as Mean and Variance for ŷ, and Σ (y - mean)·(ŷ - mean).
	PredictedMean, PredictedVariance, Covariance []float64

	seen int
	pending
}

func (c *residuals) update(prediction, target *tensor.Tensor) error {
	outputs, err := outputsOf(prediction, target, len(c.Absolute))
	if err != nil {
		return err
	}
	c.begin(outputs)
	first := c.seen
	c.seen += prediction.Size(0)
	return c.later(func() error {
		predicted, target := prediction.Float64s(), target.Float64s()
		for i, y := range target {
			if err := finitePair(first+i/outputs, predicted[i], y); err != nil {
				return err
			}
			k := i % outputs
			if k == 0 {
				c.Examples++
			}
			d := y - predicted[i]
			c.Absolute[k] += math.Abs(d)
			c.Squared[k] += d * d
			if y == 0 {
				c.Zeros++
			} else {
				c.Relative[k] += math.Abs(d / y)
			}
			before, other := y-c.Mean[k], predicted[i]-c.PredictedMean[k]
			c.Mean[k] += before / float64(c.Examples)
			c.PredictedMean[k] += other / float64(c.Examples)
			c.Variance[k] += before * (y - c.Mean[k])
			c.PredictedVariance[k] += other * (predicted[i] - c.PredictedMean[k])
			c.Covariance[k] += before * (predicted[i] - c.PredictedMean[k])
		}
		return nil
	})
}

// outputsOf returns the number of outputs of examples of regression; before is that of the batches before
// it, 0 for none.
func outputsOf(prediction, target *tensor.Tensor, before int) (outputs int, err error) {
	p, t := prediction.Shape(), target.Shape()
	if !slices.Equal(p, t) || len(p) == 0 || len(p) > 2 || prediction.Numel() == 0 {
		return 0, &tensor.ShapeError{Op: "metrics", Shapes: [][]int{p, t}, Hint: "metrics of regression take predictions and targets of the same shape [N] or [N, K], with at least one element"}
	}
	outputs = prediction.Numel() / p[0]
	if before != 0 && before != outputs {
		return 0, &tensor.ShapeError{Op: "metrics", Shapes: [][]int{p}, Hint: fmt.Sprintf("the batches before had %d outputs; use another Collection for another model", before)}
	}
	return outputs, nil
}

// finitePair returns an error unless the prediction and the target of an example are finite.
func finitePair(example int, predicted, y float64) error {
	switch d := y - predicted; {
	case !math.IsNaN(d) && !math.IsInf(d, 0):
		return nil
	case math.IsNaN(y) || math.IsInf(y, 0):
		return &NonFiniteError{"target", example, y}
	}
	return &NonFiniteError{"prediction", example, predicted}
}

// begin allocates the sums of an empty state.
func (c *residuals) begin(outputs int) {
	if c.Absolute != nil {
		return
	}
	for _, sums := range []*[]float64{&c.Absolute, &c.Squared, &c.Mean, &c.Variance, &c.Relative, &c.PredictedMean, &c.PredictedVariance, &c.Covariance} {
		*sums = make([]float64, outputs)
	}
}

func (c *residuals) merge(other state) error {
	o := other.(*residuals)
	if o.Examples == 0 {
		return nil
	}
	if c.Absolute != nil && len(c.Absolute) != len(o.Absolute) {
		return fmt.Errorf("metrics: the states to merge have %d and %d outputs", len(c.Absolute), len(o.Absolute))
	}
	c.begin(len(o.Absolute))
	a, b := float64(c.Examples), float64(o.Examples)
	for k := range c.Absolute {
		d := o.Mean[k] - c.Mean[k]
		c.Absolute[k] += o.Absolute[k]
		c.Squared[k] += o.Squared[k]
		c.Mean[k] += d * b / (a + b)
		c.Variance[k] += o.Variance[k] + d*d*a*b/(a+b)
		other := o.PredictedMean[k] - c.PredictedMean[k]
		c.PredictedMean[k] += other * b / (a + b)
		c.PredictedVariance[k] += o.PredictedVariance[k] + other*other*a*b/(a+b)
		c.Covariance[k] += o.Covariance[k] + d*other*a*b/(a+b)
		c.Relative[k] += o.Relative[k]
	}
	c.Zeros += o.Zeros
	c.Examples += o.Examples
	return nil
}

// MAE returns the mean absolute error over all elements.
func MAE() Metric {
	return regression("MAE", true, func(c *residuals) float64 { return c.mean(c.Absolute) })
}

// MSE returns the mean squared error over all elements.
func MSE() Metric {
	return regression("MSE", true, func(c *residuals) float64 { return c.mean(c.Squared) })
}

// RMSE returns the square root of [MSE].
func RMSE() Metric {
	return regression("RMSE", true, func(c *residuals) float64 { return math.Sqrt(c.mean(c.Squared)) })
}

// R2 returns the coefficient of determination, 1 - Σ(y - ŷ)²/Σ(y - mean)², as the mean over the
// outputs. As in scikit-learn, an output whose targets are all equal has 1 if all predictions are
// exact, else 0. With fewer than two examples it is undefined.
func R2() Metric {
	return checkedRegression("R2", false, func(c *residuals) (float64, error) {
		if c.Examples == 1 {
			return 0, &UndefinedError{Class: -1, Reason: "there is only one example"}
		}
		sum := 0.0
		for k, squared := range c.Squared {
			switch {
			case c.Variance[k] > 0:
				sum += 1 - squared/c.Variance[k]
			case squared == 0:
				sum++
			}
		}
		return sum / float64(len(c.Squared)), nil
	})
}

// MAPE returns the mean absolute percentage error as a share, the mean over all elements of |y - ŷ|/|y|. A
// target of 0, for which scikit-learn and torchmetrics divide by a small number, is an [*UndefinedError].
func MAPE() Metric {
	return checkedRegression("MAPE", true, func(c *residuals) (float64, error) {
		if c.Zeros > 0 {
			return 0, &UndefinedError{Class: -1, Reason: fmt.Sprintf("of the targets, %d are 0: use MAE, or leave these out", c.Zeros)}
		}
		return c.mean(c.Relative), nil
	})
}

// Pearson returns Pearson's correlation of predictions and targets, from -1 to 1, as the mean over the
// outputs. It is an [*UndefinedError] with fewer than two examples, and for an output whose predictions
// or targets are all equal.
func Pearson() Metric {
	return checkedRegression("Pearson", false, func(c *residuals) (float64, error) {
		sum := 0.0
		for k := range c.Covariance {
			r, err := correlation(c.Examples, c.Covariance[k], c.Variance[k], c.PredictedVariance[k])
			if err != nil {
				return 0, err
			}
			sum += r
		}
		return sum / float64(len(c.Covariance)), nil
	})
}

// correlation returns the correlation of examples with these sums of products.
func correlation(examples int, covariance, variance, other float64) (float64, error) {
	switch {
	case examples < 2:
		return 0, &UndefinedError{Class: -1, Reason: "there is only one example"}
	case variance == 0:
		return 0, &UndefinedError{Class: -1, Reason: "all targets are equal"}
	case other == 0:
		return 0, &UndefinedError{Class: -1, Reason: "all predictions are equal"}
	}
	return max(-1, min(covariance/math.Sqrt(variance)/math.Sqrt(other), 1)), nil
}

// mean returns the mean of sums over all elements.
func (c *residuals) mean(sums []float64) float64 {
	sum := 0.0
	for _, v := range sums {
		sum += v
	}
	return sum / float64(c.Examples*len(sums))
}

func regression(name string, lower bool, of func(*residuals) float64) Metric {
	return checkedRegression(name, lower, func(c *residuals) (float64, error) { return of(c), nil })
}

// checkedRegression is regression for a value that may be undefined.
func checkedRegression(name string, lower bool, of func(*residuals) (float64, error)) Metric {
	return Metric{
		base: name, name: name, code: "metrics." + name + "()", lower: lower, key: "residuals",
		create: func() state { return &residuals{} },
		values: func(s state) ([]float64, error) {
			c := s.(*residuals)
			if c.Examples == 0 {
				return nil, empty()
			}
			v, err := of(c)
			return []float64{v}, err
		},
	}
}
