package active

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
)

// Candidates are the unlabeled examples to select from, with the predictions of the model,
// which are computed when a [Strategy] requests them. They are only valid during Select.
type Candidates struct {
	pool   *Pool
	model  nn.Module
	index  []int // indices in the pool's data set
	random *rand.Rand
}

// Len returns the number of candidates.
func (c *Candidates) Len() int { return len(c.index) }

// Classes returns the number of classes.
func (c *Candidates) Classes() int { return len(c.pool.set.Classes()) }

// Index returns the index of candidate i in the pool's data set.
func (c *Candidates) Index(i int) int { return c.index[i] }

// Dataset returns the candidates as a data set. Its labels are the hidden ones, which a
// strategy must not use.
func (c *Candidates) Dataset() *data.Dataset {
	set, _ := c.pool.set.Subset(c.index) // all indices are valid
	return set
}

// Labeled returns the data set of labeled examples, which may be empty.
func (c *Candidates) Labeled() *data.Dataset { return c.pool.Labeled() }

// Random returns the random numbers for this query, which depend only on the pool's seed and
// the number of labels.
func (c *Candidates) Random() *rand.Rand { return c.random }

// Probabilities returns the class probabilities of the model, [candidate][class]. It returns an
// error if the labels or the data set have only one class, or if a probability is not finite.
func (c *Candidates) Probabilities(ctx context.Context) ([][]float64, error) {
	if err := c.uncertain(); err != nil {
		return nil, err
	}
	defer nn.Eval(c.model)()
	return c.softmax(ctx)
}

// Draws returns the probabilities of the members of a dropout ensemble,
// [member][candidate][class]; see nn.SampleDropout. The errors are those of Probabilities, and
// [ErrNoDropout].
func (c *Candidates) Draws(ctx context.Context, members int) ([][][]float64, error) {
	if err := c.uncertain(); err != nil {
		return nil, err
	}
	defer nn.Eval(c.model)()
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

// uncertain returns an error if the uncertainty of the model about a class is not meaningful.
func (c *Candidates) uncertain() error {
	if c.pool.targets != nil {
		return fmt.Errorf("active: the examples of %s have targets, not classes: use Deviation for regression, BinaryEntropy for labels that are each 0 or 1, CoreSet or Random", c.pool.set.Name())
	}
	if err := c.pool.oneClass(); err != nil {
		return err
	}
	if c.model == nil {
		return errNoModel
	}
	return nil
}

// Top returns the n candidates with the highest scores, the highest first. Ties are broken at
// random. It returns a [*NotFiniteError] if a score is not finite.
func (c *Candidates) Top(scores []float64, n int) ([]int, error) {
	if len(scores) != c.Len() {
		return nil, fmt.Errorf("active: Candidates.Top: %d scores for %d candidates: pass one score for each candidate", len(scores), c.Len())
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

// score computes a score for each candidate from its probabilities and returns the highest.
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

// duplicateGroups assigns the same group to examples with the same values.
func (p *Pool) duplicateGroups() []int {
	if p.groups != nil {
		return p.groups
	}
	seed := maphash.MakeSeed()
	first := make(map[uint64]int, len(p.labels))
	groups := make([]int, len(p.labels))
	var raw []byte
	for i := range groups {
		raw = raw[:0]
		for _, v := range p.set.Example(i) {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v+0)) // -0 becomes 0
		}
		key := maphash.Bytes(seed, raw)
		if _, ok := first[key]; !ok {
			first[key] = i
		}
		groups[i] = first[key]
	}
	p.groups = groups
	return groups
}

// candidates returns the unlabeled examples: first one of each group without a label, then the
// rest.
func (p *Pool) candidates() (fresh, repeated []int) {
	groups := p.duplicateGroups()
	taken := make(map[int]bool, len(p.labels))
	for _, i := range p.order {
		taken[groups[i]] = true
	}
	for i, label := range p.labels {
		switch {
		case label != none:
		case taken[groups[i]]:
			repeated = append(repeated, i)
		default:
			taken[groups[i]] = true
			fresh = append(fresh, i)
		}
	}
	return fresh, repeated
}
