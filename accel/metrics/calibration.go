package metrics

import (
	"fmt"
	"math"

	"github.com/quernlab/quern/accel/tensor"
)

// CalibrationBin are the examples whose confidence is in an interval. A model is calibrated if
// the share is about the mean confidence in all bins.
type CalibrationBin struct {
	Low, High  float64 // the interval, without High except for the last bin
	Examples   int     // whose confidence is in the interval
	Confidence float64 // mean; NaN without examples
	Share      float64 // of correct predictions, or of positive examples; NaN without examples
}

// bins are sums over the examples by confidence.
type bins struct {
	Confidence []float64
	Right      []int
	Count      []int

	seen int
	s    settings
	pending
}

// defaultBins is the number of bins of torchmetrics.
const defaultBins = 15

func newBins(s settings) *bins {
	n := s.bins
	return &bins{Confidence: make([]float64, n), Right: make([]int, n), Count: make([]int, n), s: s}
}

func (c *bins) update(prediction, target *tensor.Tensor) error {
	b, err := classified("metrics.ECE", prediction, target)
	if err != nil {
		return err
	}
	if b.kind == labels {
		return &tensor.ShapeError{Op: "metrics.ECE", Shapes: [][]int{prediction.Shape(), target.Shape()}, Hint: "it takes one class for each example"}
	}
	first := c.seen
	c.seen += b.n
	var answer, top, sum *tensor.Tensor
	if b.kind == classes {
		answer, top = b.prediction.ArgMax(1), b.prediction.Max(1)
		if !c.s.probabilities {
			sum = b.prediction.LogSumExp(1)
		}
	}
	return c.later(func() error {
		t, err := b.targets(first, c.s)
		if err != nil {
			return err
		}
		if b.kind == binary {
			if err := finite(b.prediction, first, 1); err != nil {
				return err
			}
			for i, v := range b.prediction.Float64s() {
				if !c.s.probabilities {
					v = 1 / (1 + math.Exp(-v))
				}
				if err := c.add(v, t[i] == 1, t[i], first+i); err != nil {
					return err
				}
			}
			return nil
		}
		if err := finite(top, first, 1); err != nil {
			return err
		}
		confidence, answers := top.Float64s(), answer.Ints()
		if sum != nil {
			for i, s := range sum.Float64s() {
				confidence[i] = min(math.Exp(confidence[i]-s), 1)
			}
		}
		for i, v := range confidence {
			if err := c.add(v, answers[i] == t[i], t[i], first+i); err != nil {
				return err
			}
		}
		return nil
	})
}

// add counts an example.
func (c *bins) add(confidence float64, right bool, target, example int) error {
	switch {
	case !(confidence >= 0 && confidence <= 1): // NaN if the largest logit is infinite
		return &NonFiniteError{"confidence", example, confidence}
	case c.s.leavesOut(target):
		return nil
	}
	i := min(int(confidence*float64(len(c.Count))), len(c.Count)-1)
	c.Confidence[i] += confidence
	c.Count[i]++
	if right {
		c.Right[i]++
	}
	return nil
}

func (c *bins) merge(other state) error {
	o := other.(*bins)
	if len(o.Count) != len(c.Count) {
		return fmt.Errorf("metrics: the states to merge have %d and %d bins", len(c.Count), len(o.Count))
	}
	for i := range o.Count {
		c.Confidence[i] += o.Confidence[i]
		c.Right[i] += o.Right[i]
		c.Count[i] += o.Count[i]
	}
	return nil
}

// list returns the bins.
func (c *bins) list() Calibration {
	list := make(Calibration, len(c.Count))
	n := float64(len(list))
	for i, count := range c.Count {
		list[i] = CalibrationBin{
			Low: float64(i) / n, High: float64(i+1) / n, Examples: count,
			Confidence: c.Confidence[i] / float64(count), Share: float64(c.Right[i]) / float64(count),
		}
	}
	return list
}

// ECE returns the expected calibration error (Guo et al., arXiv:1706.04599): the mean over the
// examples of the difference between confidence and share of correct predictions in the bin of
// the example. The confidence is the largest probability; for two classes with one logit it is
// the probability of the positive class, and the share is that of positive examples. The options
// are [Bins], [Probabilities] and [IgnoreIndex]. [Collection.Calibration] has the bins.
func ECE(options ...Option) Metric {
	takes := []string{"Bins", "Probabilities", "IgnoreIndex"}
	s, _ := newSettings("ECE", options, takes) // define reports the error
	m := define(Metric{base: "ECE", code: "ECE", takes: takes, lower: true, share: true, key: fmt.Sprintf("bins %d", s.bins)}, nil, options, newBins,
		func(c *bins, _ settings) ([]float64, error) {
			sum, examples := 0.0, 0
			for i, n := range c.Count {
				sum += math.Abs(c.Confidence[i] - float64(c.Right[i]))
				examples += n
			}
			if examples == 0 {
				return nil, empty()
			}
			return []float64{sum / float64(examples)}, nil
		})
	return m.withoutAverage("the calibration error has no average over classes")
}

// Bins sets the number of bins of equal width of [ECE]; the default is 15.
func Bins(n int) Option {
	return Option{with(func(s *settings) { s.bins = n }, fmt.Sprintf("%d bins", n), "Bins", n).
		Require(n >= 1 && n <= maxBins, fmt.Sprintf("the number must be from 1 to %d", maxBins))}
}

// maxBins is far more than the examples of a data set can fill.
const maxBins = 1 << 20
