package metrics

import (
	"fmt"

	"github.com/quernlab/quern/accel/tensor"
)

// counts is the number of right and wrong predictions of each class.
type counts struct {
	Kind      kind
	Width     int     // logits of an example
	Counted   int     // examples, or labels of examples, without those left out
	True      []int   // correct predictions of each class
	Predicted []int   // predictions of each class
	Actual    []int   // examples of each class
	Entries   []int   // examples that have each label or do not, without those left out; nil for classes
	Matrix    [][]int // by class and predicted class; nil unless a metric needs it

	keepMatrix bool
	seen       int // examples, with those left out
	s          settings
	pending
}

func newCounts(s settings) *counts { return &counts{s: s} }

func (c *counts) update(prediction, target *tensor.Tensor) error {
	b, err := classified("metrics", prediction, target)
	if err != nil {
		return err
	}
	if err := b.fits("metrics", c.Kind, c.Width); err != nil {
		return err
	}
	if c.keepMatrix && b.kind == labels {
		return &tensor.ShapeError{Op: "metrics.ConfusionMatrix", Shapes: [][]int{prediction.Shape(), target.Shape()}, Hint: "a confusion matrix needs one class for each example"}
	}
	c.begin(b.kind, b.width)
	read, err := b.decisions(c.seen, c.s)
	if err != nil {
		return err
	}
	c.seen += b.n
	return c.later(func() error {
		predicted, target, err := read()
		if err != nil {
			return err
		}
		c.add(predicted, target)
		return nil
	})
}

// begin allocates the counts of an empty state.
func (c *counts) begin(k kind, width int) {
	if c.Kind != 0 {
		return
	}
	c.Kind, c.Width = k, width
	n := width
	if k == binary {
		n = 2
	}
	c.True, c.Predicted, c.Actual = make([]int, n), make([]int, n), make([]int, n)
	if k == labels {
		c.Entries = make([]int, n)
	}
	if c.keepMatrix {
		c.Matrix = make([][]int, n)
		for i := range c.Matrix {
			c.Matrix[i] = make([]int, n)
		}
	}
}

// add counts predictions that have been read.
func (c *counts) add(predicted, target []int) {
	if c.Kind == labels {
		for i, t := range target {
			if t < 0 {
				continue // left out
			}
			k := i % c.Width
			c.Predicted[k] += predicted[i]
			c.Actual[k] += t
			c.True[k] += predicted[i] * t
			c.Entries[k]++
			c.Counted++
		}
		return
	}
	for i, t := range target {
		p := predicted[i]
		c.Predicted[p]++
		c.Actual[t]++
		if p == t {
			c.True[t]++
		}
		if c.Matrix != nil {
			c.Matrix[t][p]++
		}
	}
	c.Counted += len(target)
}

func (c *counts) merge(other state) error {
	o := other.(*counts)
	if o.Kind == 0 {
		return nil
	}
	if c.Kind != 0 && (c.Kind != o.Kind || c.Width != o.Width) {
		return fmt.Errorf("metrics: the states to merge have %d and %d logits for each example", c.Width, o.Width)
	}
	c.begin(o.Kind, o.Width)
	for k := range o.True {
		c.True[k] += o.True[k]
		c.Predicted[k] += o.Predicted[k]
		c.Actual[k] += o.Actual[k]
	}
	for k, n := range o.Entries {
		c.Entries[k] += n
	}
	for i, row := range o.Matrix {
		for j, n := range row {
			c.Matrix[i][j] += n
		}
	}
	c.Counted += o.Counted
	return nil
}

// tally are the numbers of one class, or of all classes together.
type tally struct{ right, predicted, actual, all int } // correct predictions, predictions, examples of the class, and all examples

// of returns the numbers of a class.
func (c *counts) of(class int) tally {
	all := c.Counted
	if c.Kind == labels {
		all = c.Entries[class]
	}
	return tally{c.True[class], c.Predicted[class], c.Actual[class], all}
}

// averaged reduces a value of each class as the settings say.
func (c *counts) averaged(s settings, of func(tally) float64) ([]float64, error) {
	if c.Counted == 0 {
		return nil, empty()
	}
	a := s.average
	if a == natural {
		a = macro
		if c.Kind == binary {
			a, s.class = ofClass, 1
		}
	}
	if a == micro {
		var sum tally
		for k := range c.True {
			one := c.of(k)
			sum = tally{sum.right + one.right, sum.predicted + one.predicted, sum.actual + one.actual, sum.all + one.all}
		}
		return []float64{of(sum)}, nil
	}
	each := make([]float64, len(c.True))
	sum, weights := 0.0, 0.0
	for k := range each {
		each[k] = of(c.of(k))
		weight := 1.0
		switch {
		case a == weighted:
			weight = float64(c.Actual[k])
		case c.Kind != labels && c.Predicted[k]+c.Actual[k] == 0, s.dropsIgnored && s.leavesOut(k): // the class does not occur
			weight = 0
		}
		sum += weight * each[k]
		weights += weight
	}
	switch a {
	case perClass:
		return each, nil
	case ofClass:
		return pick(each, s.class)
	}
	return []float64{share(sum, weights)}, nil
}

// pick returns the value of one class.
func pick(each []float64, class int) ([]float64, error) {
	if class >= len(each) {
		return nil, &UndefinedError{Class: class, Reason: fmt.Sprintf("there are only %d classes", len(each))}
	}
	return each[class : class+1], nil
}

// share returns a/b, and 0 for 0/0.
func share(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

func total(counts []int) (sum int) {
	for _, n := range counts {
		sum += n
	}
	return sum
}

// empty is the error of a metric without examples.
func empty() error { return &UndefinedError{Class: -1, Reason: "there are no examples"} }
