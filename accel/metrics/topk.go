package metrics

import (
	"fmt"
	"slices"

	"github.com/quernlab/quern/accel/tensor"
)

// hits is the number of examples whose class is among the first predictions.
type hits struct {
	Right, Examples int

	k    int
	seen int
	s    settings
	pending
}

func (c *hits) update(prediction, target *tensor.Tensor) error {
	b, err := classified("metrics.TopK", prediction, target)
	if err != nil {
		return err
	}
	if b.kind != classes || c.k > b.width {
		return &tensor.ShapeError{Op: "metrics.TopK", Shapes: [][]int{prediction.Shape(), target.Shape()}, Hint: fmt.Sprintf("it takes logits of at least %d classes and a class for each example", c.k)}
	}
	first := c.seen
	c.seen += b.n
	values, indices := b.prediction.TopK(c.k, 1, true)
	return c.later(func() error {
		if err := finite(values, first, c.k); err != nil {
			return err
		}
		t, err := b.targets(first, c.s)
		if err != nil {
			return err
		}
		predicted := indices.Ints()
		for i, t := range t {
			if c.s.leavesOut(t) {
				continue
			}
			if slices.Contains(predicted[i*c.k:(i+1)*c.k], t) {
				c.Right++
			}
			c.Examples++
		}
		return nil
	})
}

func (c *hits) merge(other state) error { //nolint:unparam // a state
	o := other.(*hits)
	c.Right += o.Right
	c.Examples += o.Examples
	return nil
}

// TopK returns the share of examples, or tokens, whose class is among the k with the largest
// logits; of equal logits the first count as larger, so that TopK(1) is [Accuracy]. With ties, PyTorch's
// topk may choose any, and scikit-learn's top_k_accuracy_score chooses the last. The option is [IgnoreIndex].
func TopK(k int, options ...Option) Metric {
	base := Metric{base: fmt.Sprintf("top-%d accuracy", k), code: "TopK", takes: []string{"IgnoreIndex"}, share: true, key: fmt.Sprintf("hits %d", k)}
	if k < 1 {
		base.err = fmt.Errorf("metrics: TopK(%d): the number must be at least 1", k)
	}
	m := define(base, []string{fmt.Sprint(k)}, options, func(s settings) *hits { return &hits{k: k, s: s} },
		func(c *hits, _ settings) ([]float64, error) {
			if c.Examples == 0 {
				return nil, empty()
			}
			return []float64{float64(c.Right) / float64(c.Examples)}, nil
		})
	return m.withoutAverage("TopK has no average over classes")
}
