package metrics

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/quernlab/quern/accel/tensor"
)

// pairs are the predictions and targets of all examples of a regression, whose ranks cannot be added up.
type pairs struct {
	Outputs           int
	Predicted, Target []float64 // Outputs for each example

	seen int
	pending
}

func (c *pairs) update(prediction, target *tensor.Tensor) error {
	outputs, err := outputsOf(prediction, target, c.Outputs)
	if err != nil {
		return err
	}
	c.Outputs = outputs
	first := c.seen
	c.seen += prediction.Size(0)
	return c.later(func() error {
		p, y := prediction.Float64s(), target.Float64s()
		for i := range p {
			if err := finitePair(first+i/outputs, p[i], y[i]); err != nil {
				return err
			}
		}
		c.Predicted, c.Target = append(c.Predicted, p...), append(c.Target, y...)
		return nil
	})
}

func (c *pairs) merge(other state) error {
	o := other.(*pairs)
	if c.Outputs != 0 && o.Outputs != 0 && c.Outputs != o.Outputs {
		return fmt.Errorf("metrics: the states to merge have %d and %d outputs", c.Outputs, o.Outputs)
	}
	c.Outputs = max(c.Outputs, o.Outputs)
	c.Predicted, c.Target = append(c.Predicted, o.Predicted...), append(c.Target, o.Target...)
	return nil
}

// output returns the values of one output.
func (c *pairs) output(k int) (predicted, target []float64) {
	for i := k; i < len(c.Target); i += c.Outputs {
		predicted, target = append(predicted, c.Predicted[i]), append(target, c.Target[i])
	}
	return predicted, target
}

// Spearman returns Spearman's rank correlation, Pearson's correlation of the ranks of predictions and
// targets, from -1 to 1, as the mean over the outputs: 1 for predictions in the order of the targets. Equal
// values share the mean of their ranks. It keeps the predictions of all examples. It is undefined as
// [Pearson] is.
func Spearman() Metric {
	return Metric{
		base: "Spearman", name: "Spearman", code: "metrics.Spearman()", key: "pairs",
		create: func() state { return &pairs{} },
		values: func(s state) ([]float64, error) {
			c := s.(*pairs)
			if len(c.Target) == 0 {
				return nil, empty()
			}
			sum := 0.0
			for k := range c.Outputs {
				predicted, target := c.output(k)
				r, err := rankCorrelation(ranks(predicted), ranks(target))
				if err != nil {
					return nil, err
				}
				sum += r
			}
			return []float64{sum / float64(c.Outputs)}, nil
		},
	}
}

// ranks returns the position of each value in ascending order, from 1.
func ranks(values []float64) []float64 {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	result := make([]float64, len(values))
	for first := 0; first < len(order); {
		end := first + 1
		for end < len(order) && values[order[end]] == values[order[first]] {
			end++
		}
		for _, i := range order[first:end] {
			result[i] = float64(first+1+end) / 2
		}
		first = end
	}
	return result
}

// rankCorrelation returns the correlation of ranks, whose mean is known.
func rankCorrelation(predicted, target []float64) (float64, error) {
	mean := float64(len(target)+1) / 2
	var covariance, variance, other float64
	for i, y := range target {
		covariance += (y - mean) * (predicted[i] - mean)
		variance += (y - mean) * (y - mean)
		other += (predicted[i] - mean) * (predicted[i] - mean)
	}
	return correlation(len(target), covariance, variance, other)
}

// neighbors are the embeddings and classes of all examples.
type neighbors struct {
	Width      int
	Embeddings []float64 // Width for each example, of length 1
	Classes    []int

	seen int
	s    settings
	pending
}

func (c *neighbors) update(prediction, target *tensor.Tensor) error {
	p, t := prediction.Shape(), target.Shape()
	if len(p) != 2 || len(t) != 1 || p[0] != t[0] || prediction.Numel() == 0 {
		return &tensor.ShapeError{Op: "metrics.RecallAtK", Shapes: [][]int{p, t}, Hint: "it takes embeddings [N, D] and classes [N], with at least one element"}
	}
	if c.Width != 0 && c.Width != p[1] {
		return &tensor.ShapeError{Op: "metrics.RecallAtK", Shapes: [][]int{p}, Hint: fmt.Sprintf("the batches before had embeddings of %d elements; use another Collection for another model", c.Width)}
	}
	c.Width = p[1]
	first := c.seen
	c.seen += p[0]
	return c.later(func() error {
		values, classes := prediction.Float64s(), target.Float64s()
		for i, class := range classes {
			if class != math.Trunc(class) || math.Abs(class) > 1<<53 {
				return &TargetError{first + i, class, "a class"}
			}
			if c.s.leavesOut(int(class)) {
				continue
			}
			row := values[i*c.Width : (i+1)*c.Width]
			for _, v := range row {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					return &NonFiniteError{"prediction", first + i, v}
				}
			}
			c.Embeddings, c.Classes = append(c.Embeddings, normalized(row)...), append(c.Classes, int(class))
		}
		return nil
	})
}

// normalized returns a vector of length 1 in the same direction; 0 stays 0.
func normalized(v []float64) []float64 {
	largest, sum := 0.0, 0.0
	for _, x := range v {
		largest = max(largest, math.Abs(x))
	}
	if largest == 0 {
		return v
	}
	for _, x := range v {
		sum += (x / largest) * (x / largest)
	}
	length, unit := math.Sqrt(sum), make([]float64, len(v))
	for i, x := range v {
		unit[i] = x / largest / length
	}
	return unit
}

func (c *neighbors) merge(other state) error {
	o := other.(*neighbors)
	if c.Width != 0 && o.Width != 0 && c.Width != o.Width {
		return fmt.Errorf("metrics: the states to merge have embeddings of %d and %d elements", c.Width, o.Width)
	}
	c.Width = max(c.Width, o.Width)
	c.Embeddings, c.Classes = append(c.Embeddings, o.Embeddings...), append(c.Classes, o.Classes...)
	return nil
}

// RecallAtK returns the share of examples that have an example of their class among the k nearest others,
// for embeddings [N, D] and classes [N] (Oh Song et al., Deep Metric Learning via Lifted Structured Feature
// Embedding, 2016). The nearest ones have the largest cosine of their embeddings; of equal ones the first
// count as nearer. Examples without another one of their class have no answer and do not count; if there are
// no others, the metric is undefined. It keeps the embeddings of all N examples, and compares each with each
// in time proportional to N²·D. The option is [IgnoreIndex].
func RecallAtK(k int, options ...Option) Metric {
	base := Metric{base: fmt.Sprintf("recall@%d", k), code: "RecallAtK", takes: []string{"IgnoreIndex"}, share: true, key: "neighbors"}
	if k < 1 {
		base.err = fmt.Errorf("metrics: RecallAtK(%d): the number must be at least 1", k)
	}
	m := define(base, []string{fmt.Sprint(k)}, options, func(s settings) *neighbors { return &neighbors{s: s} },
		func(c *neighbors, _ settings) ([]float64, error) {
			if len(c.Classes) == 0 {
				return nil, empty()
			}
			found, asked := c.recall(k)
			if asked == 0 {
				return nil, &UndefinedError{Class: -1, Reason: "no two examples have the same class"}
			}
			return []float64{float64(found) / float64(asked)}, nil
		})
	return m.withoutAverage("RecallAtK has no average over classes")
}

// recall returns the number of examples with one of their class among the k nearest, and the number of
// those that have another one of their class.
func (c *neighbors) recall(k int) (found, asked int) {
	n := len(c.Classes)
	all := tensor.FromFloat64s(c.Embeddings, n, c.Width)
	defer all.Release()
	columns := all.T()
	defer columns.Release()
	const rows = 256 // of the matrix of cosines that are in memory at once
	for first := 0; first < n; first += rows {
		part := all.Slice(0, first, min(first+rows, n))
		product := part.MatMul(columns)
		cosines := product.Float64s()
		part.Release()
		product.Release()
		for i := first; i < min(first+rows, n); i++ {
			nearer, ok := c.nearer(i, cosines[(i-first)*n:(i-first+1)*n])
			if !ok {
				continue
			}
			if asked++; nearer < k {
				found++
			}
		}
	}
	return found, asked
}

// nearer returns the number of examples that are nearer to example i than any other one of its class.
func (c *neighbors) nearer(i int, cosines []float64) (nearer int, ok bool) {
	best := -1
	for j, class := range c.Classes {
		if j != i && class == c.Classes[i] && (best < 0 || cosines[j] > cosines[best]) {
			best = j
		}
	}
	if best < 0 {
		return 0, false
	}
	for j, v := range cosines {
		if j != i && (v > cosines[best] || v == cosines[best] && j < best) {
			nearer++
		}
	}
	return nearer, true
}
