package metrics

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/quernlab/quern/accel/internal/training/divisor"
	"github.com/quernlab/quern/accel/tensor"
)

// Direction says which values of a metric are better.
type Direction int

// The directions.
const (
	HigherIsBetter Direction = iota
	LowerIsBetter
)

// Mean returns a metric of your own that is a mean over the examples. of returns the mean over a
// batch, a tensor of one element, as a loss does. Batches are weighted by their numbers of
// examples, or by what nn.WeightedMean and losses with class weights divide by.
func Mean(name string, better Direction, of func(prediction, target *tensor.Tensor) *tensor.Tensor) Metric {
	m := own("Mean", name, better, of == nil)
	m.create = func() state { return &mean{of: of} }
	m.values = func(s state) ([]float64, error) {
		c := s.(*mean)
		if c.Weight == 0 {
			return nil, empty()
		}
		return []float64{c.Sum / c.Weight}, nil
	}
	return m
}

// Of returns a metric of your own that needs all examples at once: of gets the predictions and
// the targets of all batches, concatenated along the first axis on the CPU's side. All batches
// must have the same shape but for the number of examples.
func Of(name string, better Direction, of func(predictions, targets *tensor.Tensor) (float64, error)) Metric {
	m := own("Of", name, better, of == nil)
	m.create = func() state { return &everything{} }
	m.values = func(s state) ([]float64, error) {
		c := s.(*everything)
		if c.Examples == 0 {
			return nil, empty()
		}
		v, err := of(c.tensors())
		return []float64{v}, err
	}
	return m
}

// own returns what user-defined metrics have in common.
func own(function, name string, better Direction, missing bool) Metric {
	m := Metric{base: name, name: name, code: fmt.Sprintf("metrics.%s(%q, …)", function, name), lower: better == LowerIsBetter}
	switch {
	case name == "":
		m.err = fmt.Errorf("metrics: %s: the name is empty", function)
	case missing:
		m.err = fmt.Errorf("metrics: %s(%q): the function is nil", function, name)
	}
	return m
}

// mean is a mean over the examples.
type mean struct {
	Sum, Weight float64
	Examples    int

	of func(prediction, target *tensor.Tensor) *tensor.Tensor
	pending
}

func (c *mean) update(prediction, target *tensor.Tensor) error {
	if prediction.NDim() == 0 || prediction.Numel() == 0 {
		return &tensor.ShapeError{Op: "metrics.Mean", Shapes: [][]int{prediction.Shape()}, Hint: "the batch is empty"}
	}
	n := prediction.Size(0)
	v, by := divisor.Of(func() *tensor.Tensor { return c.of(prediction, target) })
	if v == nil || v.Numel() != 1 {
		return errors.New("metrics: Mean: the function must return a tensor of one element, the mean over the batch")
	}
	return c.later(func() error {
		value := v.Item()
		if math.IsNaN(value) {
			return &NonFiniteError{"mean of the batch after", c.Examples, value}
		}
		weight := float64(n)
		if by != nil {
			weight = by.Item()
		}
		c.Sum += value * weight
		c.Weight += weight
		c.Examples += n
		return nil
	})
}

func (c *mean) merge(other state) error {
	o := other.(*mean)
	c.Sum += o.Sum
	c.Weight += o.Weight
	c.Examples += o.Examples
	return nil
}

// everything is all predictions and targets.
type everything struct {
	Examples           int
	Prediction, Target []float64
	Shapes             [2][]int // of a prediction and a target, without the batch axis
	Classes            bool     // the targets are int32

	pending
}

func (c *everything) update(prediction, target *tensor.Tensor) error {
	p, t := prediction.Shape(), target.Shape()
	if len(p) == 0 || len(t) == 0 || p[0] != t[0] || p[0] == 0 {
		return &tensor.ShapeError{Op: "metrics.Of", Shapes: [][]int{p, t}, Hint: "predictions and targets need the same number of examples, at least one"}
	}
	shapes := [2][]int{p[1:], t[1:]}
	if c.Shapes[0] != nil && !(slices.Equal(c.Shapes[0], shapes[0]) && slices.Equal(c.Shapes[1], shapes[1])) {
		return &tensor.ShapeError{Op: "metrics.Of", Shapes: [][]int{p, t}, Hint: fmt.Sprintf("the batches before had examples of shapes %v and %v", c.Shapes[0], c.Shapes[1])}
	}
	c.Shapes, c.Classes = shapes, !target.DType().IsFloat()
	return c.later(func() error {
		c.Prediction = append(c.Prediction, prediction.Float64s()...)
		c.Target = append(c.Target, target.Float64s()...)
		c.Examples += p[0]
		return nil
	})
}

func (c *everything) merge(other state) error {
	o := other.(*everything)
	if o.Examples == 0 {
		return nil
	}
	if c.Examples > 0 && !(slices.Equal(c.Shapes[0], o.Shapes[0]) && slices.Equal(c.Shapes[1], o.Shapes[1])) {
		return fmt.Errorf("metrics: the states to merge have examples of shapes %v and %v", c.Shapes, o.Shapes)
	}
	c.Shapes, c.Classes = o.Shapes, o.Classes
	c.Prediction = append(c.Prediction, o.Prediction...)
	c.Target = append(c.Target, o.Target...)
	c.Examples += o.Examples
	return nil
}

// tensors returns all predictions and targets.
func (c *everything) tensors() (predictions, targets *tensor.Tensor) {
	shape := func(i int) []int { return append([]int{c.Examples}, c.Shapes[i]...) }
	predictions = tensor.FromFloat64s(c.Prediction, shape(0)...).Cast(tensor.Float32)
	if !c.Classes {
		return predictions, tensor.FromFloat64s(c.Target, shape(1)...).Cast(tensor.Float32)
	}
	ints := make([]int, len(c.Target))
	for i, v := range c.Target {
		ints[i] = int(v)
	}
	return predictions, tensor.FromInts(ints, shape(1)...)
}
