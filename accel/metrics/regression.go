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

	seen int
	pending
}

func (c *residuals) update(prediction, target *tensor.Tensor) error {
	p, t := prediction.Shape(), target.Shape()
	if !slices.Equal(p, t) || len(p) == 0 || len(p) > 2 || prediction.Numel() == 0 {
		return &tensor.ShapeError{Op: "metrics", Shapes: [][]int{p, t}, Hint: "metrics of regression take predictions and targets of the same shape [N] or [N, K], with at least one element"}
	}
	outputs := prediction.Numel() / p[0]
	if c.Absolute != nil && len(c.Absolute) != outputs {
		return &tensor.ShapeError{Op: "metrics", Shapes: [][]int{p}, Hint: fmt.Sprintf("the batches before had %d outputs; use another Collection for another model", len(c.Absolute))}
	}
	c.begin(outputs)
	first := c.seen
	c.seen += p[0]
	return c.later(func() error {
		predicted, target := prediction.Float64s(), target.Float64s()
		for i, y := range target {
			if d := y - predicted[i]; math.IsNaN(d) || math.IsInf(d, 0) {
				e := &NonFiniteError{"prediction", first + i/outputs, predicted[i]}
				if math.IsNaN(y) || math.IsInf(y, 0) {
					e.What, e.Value = "target", y
				}
				return e
			}
			k := i % outputs
			if k == 0 {
				c.Examples++
			}
			d := y - predicted[i]
			c.Absolute[k] += math.Abs(d)
			c.Squared[k] += d * d
			before := y - c.Mean[k]
			c.Mean[k] += before / float64(c.Examples)
			c.Variance[k] += before * (y - c.Mean[k])
		}
		return nil
	})
}

// begin allocates the sums of an empty state.
func (c *residuals) begin(outputs int) {
	if c.Absolute == nil {
		c.Absolute, c.Squared = make([]float64, outputs), make([]float64, outputs)
		c.Mean, c.Variance = make([]float64, outputs), make([]float64, outputs)
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
	}
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
	m := regression("R2", false, func(c *residuals) float64 {
		sum := 0.0
		for k, squared := range c.Squared {
			switch {
			case c.Variance[k] > 0:
				sum += 1 - squared/c.Variance[k]
			case squared == 0:
				sum++
			}
		}
		return sum / float64(len(c.Squared))
	})
	of := m.values
	m.values = func(s state) ([]float64, error) {
		if s.(*residuals).Examples == 1 {
			return nil, &UndefinedError{Class: -1, Reason: "there is only one example"}
		}
		return of(s)
	}
	return m
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
	return Metric{
		base: name, name: name, code: "metrics." + name + "()", lower: lower, key: "residuals",
		create: func() state { return &residuals{} },
		values: func(s state) ([]float64, error) {
			c := s.(*residuals)
			if c.Examples == 0 {
				return nil, empty()
			}
			return []float64{of(c)}, nil
		},
	}
}
