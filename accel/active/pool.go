package active

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/quernlab/quern/accel/data"
)

// Pool is a set of which only some labels are known. [NewPool] and [Resume] make
// one. It is for one goroutine at a time.
type Pool struct {
	set  *data.Dataset // with what Synthesize has added
	own  int           // examples of the set as it was given
	seed uint64

	labels  []int // of each example, -1 for none
	order   []int // the labelled examples in the order of labelling
	groups  []int // examples with the same numbers have the same; nil until asked for
	session *session
	err     error
}

// none is the label of an example that has none.
const none = -1

// NewPool makes a pool of a set whose labels are known but hidden: initial of
// them, chosen by the seed, are revealed at once. With 0 the pool begins without
// labels. What is wrong, a set that is nil or has no classes, is the error of
// [Pool.Err] and of whatever is done with the pool.
func NewPool(set *data.Dataset, initial int, seed uint64) *Pool {
	p, err := newPool(set, seed)
	if err != nil {
		return &Pool{err: err}
	}
	first, err := p.first(initial)
	if err != nil {
		return &Pool{err: err}
	}
	if err := p.Label(first); err != nil {
		return &Pool{err: fmt.Errorf("active: NewPool: %w", err)}
	}
	return p
}

// newPool is a pool without labels.
func newPool(set *data.Dataset, seed uint64) (*Pool, error) {
	switch {
	case set == nil:
		return nil, fmt.Errorf("%w: there is no set; was the error of making it read?", ErrNoPool)
	case set.Len() == 0:
		return nil, fmt.Errorf("%w: %s is empty", ErrNoPool, set.Name())
	case set.Targets() > 0 || set.SequenceLength() > 0:
		return nil, fmt.Errorf("%w: the examples of %s have no single class", ErrNoPool, set.Name())
	}
	p := &Pool{set: set, own: set.Len(), seed: seed, labels: make([]int, set.Len())}
	for i := range p.labels {
		p.labels[i] = none
	}
	return p, nil
}

// first are the examples whose labels a new pool begins with.
func (p *Pool) first(initial int) ([]int, error) {
	switch {
	case initial < 0:
		return nil, fmt.Errorf("%w: %d initial labels", ErrNoPool, initial)
	case initial > p.own:
		return nil, fmt.Errorf("%w: %w", ErrNoPool, &TooFewError{Asked: initial, Left: p.own})
	}
	return p.random().Perm(p.own)[:initial], nil
}

// random is the chance of the next question.
func (p *Pool) random() *rand.Rand { return rand.New(rand.NewPCG(p.seed, uint64(len(p.order)))) }

// Err is why the pool could not be made; nil if it was.
func (p *Pool) Err() error {
	if p == nil {
		return ErrNoPool
	}
	return p.err
}

// Len is the number of examples that are labelled.
func (p *Pool) Len() int {
	if p.Err() != nil {
		return 0
	}
	return len(p.order)
}

// Left is the number of examples that are not labelled.
func (p *Pool) Left() int {
	if p.Err() != nil {
		return 0
	}
	return len(p.labels) - len(p.order)
}

// Dataset is all examples, labelled or not, and behind them those that [Synthesize]
// has made. The numbers that [Query] gives are indices of it; its own labels are
// those that the pool hides, and 0 for examples that were made. It is nil where
// the pool could not be made.
func (p *Pool) Dataset() *data.Dataset {
	if p.Err() != nil {
		return nil
	}
	return p.set
}

// Labelled is the set of the labelled examples, with the labels that they were
// given, in the order of labelling. It is nil where the pool could not be made.
func (p *Pool) Labelled() *data.Dataset {
	if p.Err() != nil {
		return nil
	}
	labels := make([]int, len(p.order))
	for k, i := range p.order {
		labels[k] = p.labels[i]
	}
	// Neither fails: the pool has looked at all indices and labels.
	some, _ := p.set.Subset(p.order)
	given, _ := some.WithLabels(labels)
	return given.Named(p.set.Name() + ", labelled")
}

// Unlabelled are the indices of the examples that are not labelled, ascending.
func (p *Pool) Unlabelled() []int {
	if p.Err() != nil {
		return nil
	}
	left := make([]int, 0, p.Left())
	for i, label := range p.labels {
		if label == none {
			left = append(left, i)
		}
	}
	return left
}

// Known is the label that example i was given; ok is false where there is none.
func (p *Pool) Known(i int) (label int, ok bool) {
	if p.Err() != nil || i < 0 || i >= len(p.labels) || p.labels[i] == none {
		return 0, false
	}
	return p.labels[i], true
}

// Label takes the labels of examples: those given, one for each, or without the
// argument the labels that the set has; an empty slice is no label for any. All are taken or, with a [*LabelError] or a
// [*SessionError], none: an example that there is not, that is labelled already
// or twice in pick, and a label outside of the classes are refused. A pool of
// [Resume] writes them to its file first.
func (p *Pool) Label(pick []int, labels ...int) error {
	if err := p.Err(); err != nil {
		return err
	}
	given := labels
	if labels == nil {
		given = make([]int, len(pick))
		for k, i := range pick {
			if i >= 0 && i < len(p.labels) {
				given[k] = p.set.Label(i)
			}
		}
	}
	if len(given) != len(pick) {
		return fmt.Errorf("active: Label: %d labels for %d examples", len(given), len(pick))
	}
	if err := p.check(pick, given, labels == nil); err != nil {
		return err
	}
	if len(pick) == 0 {
		return nil
	}
	if p.session != nil {
		if err := p.session.labelled(pick, given); err != nil {
			return err
		}
	}
	p.take(pick, given)
	return nil
}

// check tells whether the examples can have the labels.
func (p *Pool) check(pick, labels []int, revealed bool) error {
	seen := make(map[int]bool, len(pick))
	classes := len(p.set.Classes())
	for k, i := range pick {
		e := &LabelError{Example: i, Label: labels[k]}
		switch {
		case i < 0 || i >= len(p.labels):
			e.Problem = fmt.Sprintf("there is no such example; the set has %d", len(p.labels))
		case seen[i]:
			e.Problem = "the example comes twice"
		case p.labels[i] != none:
			e.Problem = fmt.Sprintf("the example has the label %d already", p.labels[i])
		case revealed && i >= p.own:
			e.Problem = "the example was made by Synthesize and nobody knows its label: give one, or Ask"
		case labels[k] < 0 || labels[k] >= classes:
			e.Problem = fmt.Sprintf("the classes are 0 to %d", classes-1)
		default:
			seen[i] = true
			continue
		}
		return e
	}
	return nil
}

// take enters labels that have been checked.
func (p *Pool) take(pick, labels []int) {
	for k, i := range pick {
		p.labels[i] = labels[k]
	}
	p.order = append(p.order, pick...)
}

// add puts examples that were made behind the others and returns their indices.
func (p *Pool) add(examples [][]float32) ([]int, error) {
	set, err := p.set.Append(examples, make([]int, len(examples)))
	if err != nil {
		return nil, err
	}
	if p.session != nil {
		if err := p.session.made(examples); err != nil {
			return nil, err
		}
	}
	p.set, p.groups = set, nil
	indices := make([]int, len(examples))
	for k := range indices {
		indices[k] = len(p.labels)
		p.labels = append(p.labels, none)
	}
	return indices, nil
}

// Close closes the file of a pool of [Resume]; labels are no longer taken then.
// Other pools have nothing to close.
func (p *Pool) Close() error {
	if p.Err() != nil || p.session == nil {
		return nil
	}
	err := p.session.close()
	p.err = fmt.Errorf("%w: it was closed", ErrNoPool)
	return err
}

// String says how much is labelled.
func (p *Pool) String() string {
	if err := p.Err(); err != nil {
		return err.Error()
	}
	counts := make([]int, len(p.set.Classes()))
	for _, i := range p.order {
		counts[p.labels[i]]++
	}
	text := fmt.Sprintf("%s: %d of %d examples labelled", p.set.Name(), p.Len(), len(p.labels))
	if p.Len() > 0 {
		text += fmt.Sprintf(", %d to %d of a class", slices.Min(counts), slices.Max(counts))
	}
	if made := len(p.labels) - p.own; made > 0 {
		text += fmt.Sprintf(", %d were made", made)
	}
	return text
}

// oneClass is the error of a pool whose labels are all of one class, nil of
// others.
func (p *Pool) oneClass() error {
	classes := p.set.Classes()
	switch {
	case len(classes) == 1:
		return &OneClassError{Class: classes[0]}
	case len(p.order) == 0:
		return errors.New("active: nothing is labelled, so a model has learned nothing: choose the first examples by Random or TypiClust")
	}
	first := p.labels[p.order[0]]
	for _, i := range p.order {
		if p.labels[i] != first {
			return nil
		}
	}
	return &OneClassError{Class: classes[first], Labelled: len(p.order)}
}
