package active

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
)

// Candidates are the examples that may be asked about, and what a model says of
// them, computed when a [Strategy] wants it. They are valid during Select.
type Candidates struct {
	pool   *Pool
	model  nn.Module
	index  []int // in the pool's set
	random *rand.Rand
}

// Len is the number of candidates.
func (c *Candidates) Len() int { return len(c.index) }

// Classes is the number of classes.
func (c *Candidates) Classes() int { return len(c.pool.set.Classes()) }

// Index is what candidate i is in the pool's set.
func (c *Candidates) Index(i int) int { return c.index[i] }

// Dataset is the candidates as a set. Its labels are the hidden ones, and no business
// of a strategy.
func (c *Candidates) Dataset() *data.Dataset {
	set, _ := c.pool.set.Subset(c.index) // all of them exist
	return set
}

// Labelled is the set of what is labelled, which may be empty.
func (c *Candidates) Labelled() *data.Dataset { return c.pool.Labelled() }

// Random is the chance of this question, which the pool's seed fixes.
func (c *Candidates) Random() *rand.Rand { return c.random }

// Probabilities are those that the model gives each class, [candidate][class]. It
// is an error where the labels, or the classes of the set, are one, and where a
// probability is not finite.
func (c *Candidates) Probabilities(ctx context.Context) ([][]float64, error) {
	if err := c.uncertain(); err != nil {
		return nil, err
	}
	defer nn.Evaluating(c.model)()
	return c.softmax(ctx)
}

// Draws are the probabilities that members of a dropout ensemble give,
// [member][candidate][class]; see nn.SampleDropout. Errors are as those of Probabilities,
// and [ErrNoDropout].
func (c *Candidates) Draws(ctx context.Context, members int) ([][][]float64, error) {
	if err := c.uncertain(); err != nil {
		return nil, err
	}
	defer nn.Evaluating(c.model)()
	draws := make([][][]float64, members)
	for m := range draws {
		if nn.SampleDropout(c.model, c.random.Uint64()) == 0 {
			return nil, ErrNoDropout
		}
		p, err := c.softmax(ctx)
		if err != nil {
			return nil, err
		}
		draws[m] = p
	}
	return draws, nil
}

// uncertain tells why a model cannot be asked what it does not know.
func (c *Candidates) uncertain() error {
	if err := c.pool.oneClass(); err != nil {
		return err
	}
	if c.model == nil {
		return errNoModel
	}
	return nil
}

// Top gives the n candidates with the highest scores, the highest first. Of equal
// ones chance decides. It is a [*NotFiniteError] where a score is none.
func (c *Candidates) Top(scores []float64, n int) ([]int, error) {
	if len(scores) != c.Len() {
		return nil, fmt.Errorf("active: %d scores for %d candidates", len(scores), c.Len())
	}
	for i, s := range scores {
		if math.IsNaN(s) || math.IsInf(s, 0) {
			return nil, &NotFiniteError{What: "the score", Example: c.index[i]}
		}
	}
	order := c.random.Perm(len(scores))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return order[:min(n, len(order))], nil
}

// score gives each candidate a score by its probabilities and takes the highest.
func (c *Candidates) score(ctx context.Context, n int, measure func(p []float64) float64) ([]int, error) {
	probabilities, err := c.Probabilities(ctx)
	if err != nil {
		return nil, err
	}
	scores := make([]float64, len(probabilities))
	for i, p := range probabilities {
		scores[i] = measure(p)
	}
	return c.Top(scores, n)
}
