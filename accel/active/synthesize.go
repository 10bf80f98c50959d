package active

import (
	"context"
	"errors"
	"fmt"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
)

// halvings is the number of bisection steps between two examples: to less than a millionth.
const halvings = 20

// maxEnds is the maximum number of labeled examples used as end points.
const maxEnds = 2000

// Synthesize makes new examples for which the model cannot decide between two classes: between
// two labeled examples that it assigns to different classes, it searches the point where both
// classes are equally likely (Wang and others, Active Learning via Query Synthesis and Nearest
// Neighbor Search, 2015). [Query] appends them to the pool's data set and returns their
// indices, so pool.Dataset().Subset(pick) shows them. Their labels are unknown: pass them to
// [Pool.Label]. A person may not recognize such examples (Baum and Lang, 1992).
func Synthesize() Strategy { return synthesize{} }

type synthesize struct{}

func (synthesize) Select(context.Context, *Candidates, int) ([]int, error) {
	return nil, errors.New("active: Synthesize makes examples instead of selecting them: pass it to Query directly")
}

func (synthesize) String() string { return "synthesize" }

func (synthesize) make(ctx context.Context, model nn.Module, pool *Pool, n int) ([]int, error) {
	c := &Candidates{pool: pool, model: model, random: pool.random()}
	if err := c.uncertain(); err != nil {
		return nil, err
	}
	defer nn.Eval(model)()
	ends := pool.Labeled()
	order := c.random.Perm(ends.Len())[:min(ends.Len(), maxEnds)]
	some, _ := ends.Subset(order) // all indices are valid
	index := make([]int, len(order))
	for k, at := range order {
		index[k] = pool.order[at]
	}
	p, err := probabilities(ctx, model, some, index)
	if err != nil {
		return nil, err
	}
	segments, err := c.segments(some, p, n)
	if err != nil {
		return nil, err
	}
	for range halvings {
		middles := make([][]float32, n)
		for k, s := range segments {
			middles[k] = s.middle()
		}
		made, err := pool.set.First(0).Append(middles, make([]int, n))
		if err != nil {
			return nil, err
		}
		index := make([]int, n)
		for k := range index {
			index[k] = len(pool.labels) + k
		}
		p, err := probabilities(ctx, model, made, index)
		if err != nil {
			return nil, err
		}
		for k := range segments {
			segments[k].halve(p[k])
		}
	}
	made := make([][]float32, n)
	for k, s := range segments {
		made[k] = s.middle()
	}
	return pool.add(made)
}

// segments returns n random pairs of examples that the model assigns to different classes.
func (c *Candidates) segments(set *data.Dataset, p [][]float64, n int) ([]segment, error) {
	class := make([]int, len(p))
	mixed := false
	for i := range p {
		class[i], _ = twoHighest(p[i])
		mixed = mixed || class[i] != class[0]
	}
	if !mixed {
		return nil, fmt.Errorf("active: the model predicts %q for all labeled examples, so there is no class boundary: train it first", set.Classes()[class[0]])
	}
	segments := make([]segment, 0, n)
	for len(segments) < n {
		a := c.random.IntN(len(class))
		others := make([]int, 0, len(class))
		for b := range class {
			if class[b] != class[a] {
				others = append(others, b)
			}
		}
		b := others[c.random.IntN(len(others))]
		segments = append(segments, segment{set.Example(a), set.Example(b), class[a], class[b]})
	}
	return segments, nil
}

// segment is the line from an example of one class to one of another.
type segment struct {
	from, to []float32
	a, b     int
}

func (s segment) middle() []float32 {
	m := make([]float32, len(s.from))
	for i, v := range s.from {
		m[i] = v + (s.to[i]-v)/2
	}
	return m
}

// halve keeps the half in which the first class becomes less likely than the second.
func (s *segment) halve(p []float64) {
	if p[s.a] > p[s.b] {
		s.from = s.middle()
	} else {
		s.to = s.middle()
	}
}
