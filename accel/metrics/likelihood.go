package metrics

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
)

// likelihood is the sum of the negative logarithms of the predicted probabilities of the targets.
type likelihood struct {
	Sum   float64
	Count int // of examples, for labels of labels

	seen int
	s    settings
	pending
}

func newLikelihood(s settings) *likelihood { return &likelihood{s: s} }

func (c *likelihood) update(prediction, target *tensor.Tensor) error {
	b, err := classified("metrics", prediction, target)
	if err != nil {
		return err
	}
	first := c.seen
	c.seen += b.n
	if b.kind == classes && !c.s.probabilities { // on the device, since there may be a large vocabulary
		var options []nn.Option
		if c.s.ignored != nil {
			options = append(options, nn.IgnoreIndex(*c.s.ignored))
		}
		loss := nn.CrossEntropyLoss(options...)(b.prediction, b.target)
		return c.later(func() error {
			t, err := b.targets(first, c.s)
			if err != nil {
				return err
			}
			n := 0
			for _, t := range t {
				if !c.s.leavesOut(t) {
					n++
				}
			}
			if n == 0 {
				return nil
			}
			mean := loss.Item()
			if math.IsNaN(mean) {
				return undefinedRow(b, first)
			}
			c.Sum += mean * float64(n)
			c.Count += n
			return nil
		})
	}
	return c.later(func() error {
		if err := finite(b.prediction, first, b.width); err != nil {
			return err
		}
		t, err := b.targets(first, c.s)
		if err != nil {
			return err
		}
		values := b.prediction.Float64s()
		for i, t := range t {
			if c.s.leavesOut(t) {
				continue
			}
			if b.kind == classes {
				c.Sum -= math.Log(values[i*b.width+t])
			} else {
				c.Sum += c.ofLabel(values[i], t)
			}
			c.Count++
		}
		return nil
	})
}

// ofLabel returns the negative logarithm of the probability of a label, 0 or 1.
func (c *likelihood) ofLabel(v float64, label int) float64 {
	if c.s.probabilities {
		if label == 0 {
			return -math.Log1p(-v)
		}
		return -math.Log(v)
	}
	if label == 1 {
		v = -v
	}
	return max(v, 0) + math.Log1p(math.Exp(-math.Abs(v))) // ln(1 + exp(v))
}

// undefinedRow returns the error of a batch whose logits have no softmax: an example has a NaN or
// an infinite largest logit.
func undefinedRow(b batch, first int) error {
	values := b.prediction.Float64s()
	for i := range b.n {
		if v := floats.LogSumExp(values[i*b.width : (i+1)*b.width]); math.IsNaN(v) || math.IsInf(v, 0) {
			return &NonFiniteError{"prediction", first + i, v}
		}
	}
	return &NonFiniteError{"prediction", first, math.NaN()}
}

func (c *likelihood) merge(other state) error { //nolint:unparam // a state
	o := other.(*likelihood)
	c.Sum += o.Sum
	c.Count += o.Count
	return nil
}

// LogLoss returns the mean of -ln p over the examples, where p is the predicted probability of
// the target; for several labels it is the mean over the labels. It is infinite if a target has
// probability 0. The options are [Probabilities] and [IgnoreIndex].
func LogLoss(options ...Option) Metric {
	return ofLikelihood("log loss", "LogLoss", options, func(mean float64) float64 { return mean })
}

// Perplexity returns exp of the mean of -ln p over the tokens, where p is the predicted
// probability of the token. It is infinite if a token has probability 0. The options are
// [Probabilities] and [IgnoreIndex].
func Perplexity(options ...Option) Metric {
	return ofLikelihood("perplexity", "Perplexity", options, math.Exp)
}

func ofLikelihood(base, code string, options []Option, of func(float64) float64) Metric {
	m := define(Metric{base: base, code: code, takes: []string{"Probabilities", "IgnoreIndex"}, lower: true, key: "likelihood"}, nil, options, newLikelihood,
		func(c *likelihood, _ settings) ([]float64, error) {
			if c.Count == 0 {
				return nil, empty()
			}
			return []float64{of(c.Sum / float64(c.Count))}, nil
		})
	return m.withoutAverage("a likelihood has no average over classes")
}
