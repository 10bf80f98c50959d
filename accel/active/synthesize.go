package active

import (
	"context"
	"errors"
	"fmt"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
)

// halvings is how often Synthesize halves the way between two examples: to less
// than a millionth.
const halvings = 20

// maxEnds is the number of labelled examples that it looks for ends among.
const maxEnds = 2000

// Synthesize makes new examples where the model cannot tell two classes apart:
// between two labelled examples that it takes for different classes, it looks for
// the point at which both classes are equally likely (Wang and others, Active
// Learning via Query Synthesis and Nearest Neighbour Search, 2015). [Query] puts
// them behind the examples of the pool's set and gives their indices, so that
// pool.Set().Subset(pick) shows them; nobody knows their labels, so that
// [Pool.Label] must be given them. A person may find that they are neither
// (Baum and Lang, 1992).
func Synthesize() Strategy { return synthesize{} }

type synthesize struct{}

func (synthesize) Select(context.Context, *Candidates, int) ([]int, error) {
	return nil, errors.New("active: Synthesize makes examples and does not choose; give it to Query itself")
}

func (synthesize) String() string { return "synthesize" }

func (synthesize) make(ctx context.Context, model nn.Module, pool *Pool, n int) ([]int, error) {
	c := &Candidates{pool: pool, model: model, random: pool.random()}
	if err := c.uncertain(); err != nil {
		return nil, err
	}
	defer nn.Evaluating(model)()
	ends := pool.Labelled()
	order := c.random.Perm(ends.Len())[:min(ends.Len(), maxEnds)]
	some, _ := ends.Subset(order) // all of them exist
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

// segments are n pairs of examples that the model takes for different classes,
// by chance.
func (c *Candidates) segments(set *data.Dataset, p [][]float64, n int) ([]segment, error) {
	class := make([]int, len(p))
	mixed := false
	for i := range p {
		class[i], _ = twoHighest(p[i])
		mixed = mixed || class[i] != class[0]
	}
	if !mixed {
		return nil, fmt.Errorf("active: the model takes all labelled examples for %q, so that there is no boundary to find: train it first", set.Classes()[class[0]])
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

// segment is the way from an example of one class to one of another.
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

// halve keeps the half in which the first class becomes less likely than the
// other.
func (s *segment) halve(p []float64) {
	if p[s.a] > p[s.b] {
		s.from = s.middle()
	} else {
		s.to = s.middle()
	}
}
