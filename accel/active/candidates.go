package active

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/internal/training/interrupt"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/tensor"
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
	if err := interrupt.RequireContext(ctx, "active: Probabilities"); err != nil {
		return nil, err
	}
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
	if err := interrupt.RequireContext(ctx, "active: Draws"); err != nil {
		return nil, err
	}
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

// predictionBatch is the batch size of predictions.
const predictionBatch = 512

// apply applies a function to the examples of a data set in batches and returns one row per
// example, all of the same length. It reads the rows at the end, so that it need not wait for
// the device between batches.
func apply(ctx context.Context, set *data.Dataset, f func(x *tensor.Tensor) *tensor.Tensor) ([][]float32, error) {
	var parts []*tensor.Tensor
	it := set.Batches(predictionBatch, data.Context(ctx))
	for it.Next() {
		tensor.NoGrad(func() {
			x := it.Batch().X
			var y *tensor.Tensor
			it.Batch().WithLengths(func() { y = f(x) })
			if y.NDim() == 0 || y.Size(0) != x.Size(0) {
				panic(&tensor.ShapeError{Op: "active", Shapes: [][]int{x.Shape(), y.Shape()}, Hint: "the output must have one row per example"})
			}
			parts = append(parts, y.Reshape(x.Size(0), y.Numel()/x.Size(0)))
			tensor.Flush()
		})
	}
	if err := it.Err(); err != nil {
		return nil, err
	}
	rows := make([][]float32, 0, set.Len())
	for _, part := range parts {
		width := part.Size(1)
		numbers := part.Data()
		for i := range part.Size(0) {
			rows = append(rows, numbers[i*width:(i+1)*width:(i+1)*width])
		}
		part.Release()
	}
	return rows, nil
}

// softmax returns the model's probabilities for the candidates, in the current mode of the
// model. They are computed from the logits in float64, so that very confident predictions can
// still be ranked.
func (c *Candidates) softmax(ctx context.Context) ([][]float64, error) {
	return probabilities(ctx, c.model, c.Dataset(), c.index)
}

func probabilities(ctx context.Context, model nn.Module, set *data.Dataset, index []int) ([][]float64, error) {
	logits, err := apply(ctx, set, func(x *tensor.Tensor) *tensor.Tensor {
		y := model.Forward(x)
		if y.NDim() != 2 {
			panic(&tensor.ShapeError{Op: "active", Shapes: [][]int{y.Shape()}, Hint: "the model must return one row of logits per example"})
		}
		return y
	})
	if err != nil {
		return nil, err
	}
	rows := make([][]float64, len(logits))
	all := make([]float64, len(logits)*len(set.Classes()))
	for i, row := range logits {
		if len(row) != len(set.Classes()) {
			return nil, fmt.Errorf("active: the model returns %d logits, but %s has %d classes", len(row), set.Name(), len(set.Classes()))
		}
		rows[i], all = all[:len(row):len(row)], all[len(row):]
		if !softmax(rows[i], row) {
			return nil, &NotFiniteError{What: "the model's output", Example: index[i]}
		}
	}
	return rows, nil
}

// softmax writes the softmax of logits; ok is false if a logit is not finite.
func softmax(dst []float64, logits []float32) (ok bool) {
	for k, v := range logits {
		if v-v != 0 {
			return false
		}
		dst[k] = float64(v)
	}
	normalize(dst)
	return true
}

// Features computes the features of examples, normally the input of a model's last layer: it
// maps inputs [N, …] to one row of values each.
type Features = func(x *tensor.Tensor) *tensor.Tensor

// errNoFeatures is returned if the last layer of a model is unknown.
var errNoFeatures = errors.New("active: the model is not an nn.Sequential with a layer that has parameters: pass the strategy a function that computes the features")

// features returns the features of the candidates and of the labeled examples, computed by the
// optional argument of a strategy, or by all layers of an nn.Sequential before the last one with parameters. Without a
// model they are the values of the examples.
func (c *Candidates) features(ctx context.Context, given []Features) (candidates, labeled [][]float32, err error) {
	var f Features
	if len(given) > 0 {
		f = given[0]
	}
	if f == nil {
		if f, err = c.belowLast(ctx); err != nil {
			return nil, nil, err
		}
	}
	if c.model != nil {
		defer nn.Eval(c.model)()
	}
	if candidates, err = apply(ctx, c.Dataset(), f); err != nil {
		return nil, nil, err
	}
	if labeled, err = apply(ctx, c.Labeled(), f); err != nil {
		return nil, nil, err
	}
	for i, row := range candidates {
		if !finite(row) {
			return nil, nil, &NotFiniteError{What: "a feature", Example: c.index[i]}
		}
	}
	for k, row := range labeled {
		if !finite(row) {
			return nil, nil, &NotFiniteError{What: "a feature", Example: c.pool.order[k]}
		}
	}
	return candidates, labeled, nil
}

func finite(row []float32) bool {
	return !slices.ContainsFunc(row, func(v float32) bool { return v-v != 0 })
}

// belowLast returns the part of the model before its last layer.
func (c *Candidates) belowLast(ctx context.Context) (Features, error) {
	if c.model == nil {
		return func(x *tensor.Tensor) *tensor.Tensor { return x }, nil
	}
	chain, ok := c.model.(*nn.SequentialLayer)
	if !ok {
		return nil, errNoFeatures
	}
	if len(nn.Parameters(chain)) == 0 { // layers create their parameters at their first input
		if _, err := apply(ctx, c.Dataset().First(1), chain.Forward); err != nil {
			return nil, err
		}
	}
	below, ok := before(chain)
	if !ok {
		return nil, errNoFeatures
	}
	return nn.Sequential(below...).Forward, nil
}

// before returns the layers of a chain before its last one with parameters.
func before(chain *nn.SequentialLayer) (layers []nn.Module, ok bool) {
	layers = chain.Layers()
	for k := len(layers) - 1; k >= 0; k-- {
		if len(nn.Parameters(layers[k])) == 0 {
			continue
		}
		if inner, chained := layers[k].(*nn.SequentialLayer); chained {
			below, ok := before(inner)
			return append(layers[:k:k], below...), ok
		}
		return layers[:k], true
	}
	return nil, false
}
