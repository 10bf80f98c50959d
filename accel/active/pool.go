package active

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/quernlab/quern/accel/data"
)

// Pool is a data set of which only some labels are known; see [NewPool] and [Resume]. It must
// only be used by one goroutine at a time.
type Pool struct {
	set  *data.Dataset // including examples added by Synthesize
	own  int           // number of examples without those added
	seed uint64

	labels  []int           // per example; -1: none; 0 for an example that has targets
	targets [][]float32     // per example with known targets; nil for classes
	order   []int           // the labeled examples in the order of labeling
	groups  []int           // equal for examples with the same values; nil until needed
	show    func(i int) any // what Ask shows; nil for the values of the example
	session *session
	err     error
}

// ShowAs sets what a person sees of example i in a question of [Ask], for examples that are neither
// images nor short vectors: the text of a sentence, or a figure of a sound. show returns anything
// that display.Show displays, such as a string; it is not called for examples made by
// [Synthesize]. ShowAs returns the pool.
func (p *Pool) ShowAs(show func(i int) any) *Pool {
	if p.Err() == nil {
		p.show = show
	}
	return p
}

// none is the label of an unlabeled example.
const none = -1

// NewPool returns a pool of a data set whose labels are hidden. It reveals initial labels,
// selected by the seed; with 0 the pool begins without labels. An invalid data set (nil, empty
// or without classes) is reported by [Pool.Err] and by every use of the pool. A data set whose
// labels nobody knows, such as that of data.OpenUnlabeledImages, needs 0 initial labels.
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

// newPool returns a pool without labels.
func newPool(set *data.Dataset, seed uint64) (*Pool, error) {
	switch {
	case set == nil:
		return nil, fmt.Errorf("%w: the data set is nil: check the error returned where it was created", ErrNoPool)
	case set.Len() == 0:
		return nil, fmt.Errorf("%w: %s is empty", ErrNoPool, set.Name())
	case set.SequenceLength() > 0:
		return nil, fmt.Errorf("%w: the examples of %s have a class for each position", ErrNoPool, set.Name())
	}
	p := &Pool{set: set, own: set.Len(), seed: seed, labels: slices.Repeat([]int{none}, set.Len())}
	if set.Targets() > 0 {
		p.targets = make([][]float32, set.Len())
	}
	return p, nil
}

// first returns the examples whose labels a new pool begins with.
func (p *Pool) first(initial int) ([]int, error) {
	switch {
	case initial < 0:
		return nil, fmt.Errorf("%w: the number of initial labels is %d, but must be at least 0", ErrNoPool, initial)
	case initial > 0 && p.set.Unlabeled():
		return nil, fmt.Errorf("%w: the examples of %s have no labels to begin with: use 0 initial labels and Ask", ErrNoPool, p.set.Name())
	case initial > p.own:
		return nil, fmt.Errorf("%w: %w", ErrNoPool, &TooFewError{Asked: initial, Left: p.own})
	}
	return p.random().Perm(p.own)[:initial], nil
}

// random returns the random numbers of the next query.
func (p *Pool) random() *rand.Rand { return rand.New(rand.NewPCG(p.seed, uint64(len(p.order)))) }

// Err returns why the pool cannot be used; nil if it can.
func (p *Pool) Err() error {
	if p == nil {
		return fmt.Errorf("%w: it is nil: check the error returned where it was created", ErrNoPool)
	}
	return p.err
}

// Len returns the number of labeled examples.
func (p *Pool) Len() int {
	if p.Err() != nil {
		return 0
	}
	return len(p.order)
}

// Left returns the number of unlabeled examples.
func (p *Pool) Left() int {
	if p.Err() != nil {
		return 0
	}
	return len(p.labels) - len(p.order)
}

// Dataset returns all examples, labeled or not, followed by those made by [Synthesize]. The
// indices returned by [Query] refer to it. Its labels are the hidden ones, and 0 for examples
// made by Synthesize. It returns nil if the pool could not be created.
func (p *Pool) Dataset() *data.Dataset {
	if p.Err() != nil {
		return nil
	}
	return p.set
}

// Labeled returns the data set of the labeled examples with their labels, in the order of
// labeling. It returns nil if the pool could not be created.
func (p *Pool) Labeled() *data.Dataset {
	if p.Err() != nil {
		return nil
	}
	// Nothing of this fails: the pool has checked all indices, labels and targets.
	given, _ := p.set.Subset(p.order)
	if p.targets != nil {
		given, _ = given.WithTargetValues(inOrder(p.targets, p.order))
	} else {
		given, _ = given.WithLabels(inOrder(p.labels, p.order))
	}
	return given.Named(p.set.Name() + ", labeled")
}

// inOrder returns the values at some indices.
func inOrder[T any](values []T, order []int) []T {
	some := make([]T, len(order))
	for k, i := range order {
		some[k] = values[i]
	}
	return some
}

// Unlabeled returns the indices of the unlabeled examples in ascending order.
func (p *Pool) Unlabeled() []int {
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

// Known returns the label of example i, 0 if the data set has targets; ok is false if it has none.
func (p *Pool) Known(i int) (label int, ok bool) {
	if p.Err() != nil || i < 0 || i >= len(p.labels) || p.labels[i] == none {
		return 0, false
	}
	return p.labels[i], true
}

// Label stores labels of examples: those passed, one for each, or without that argument the
// labels of the data set; an empty slice means no labels. Either all are stored or, with a
// [*LabelError] or a [*SessionError], none. It rejects an invalid index, an example that
// already has a label or occurs twice in pick, and a label that is not a class. A pool of
// [Resume] writes the labels to its file first. For a data set with targets Label reveals those of
// the data set, and [Pool.LabelTargets] stores others.
func (p *Pool) Label(pick []int, labels ...int) error {
	if err := p.Err(); err != nil {
		return err
	}
	given := labels
	if p.targets != nil {
		if labels != nil {
			return fmt.Errorf("active: Label: the examples of %s have targets, not classes: use LabelTargets", p.set.Name())
		}
		return p.LabelTargets(pick)
	}
	if labels == nil && p.set.Unlabeled() && len(pick) > 0 {
		return fmt.Errorf("active: Label: the examples of %s have no labels: pass them, or use Ask", p.set.Name())
	}
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
	return p.store(pick, given, nil)
}

// store writes labels, or targets, that have been checked to the file and to the pool.
func (p *Pool) store(pick, labels []int, targets [][]float32) error {
	if len(pick) == 0 {
		return nil
	}
	if p.session != nil {
		if err := p.session.labeled(p.set, pick, labels, targets); err != nil {
			return err
		}
	}
	for k, i := range pick {
		if targets != nil {
			p.labels[i], p.targets[i] = 0, slices.Clone(targets[k])
			continue
		}
		p.labels[i] = labels[k]
	}
	p.order = append(p.order, pick...)
	return nil
}

// unlabel removes the label of an example, if it is the last one that was labeled.
func (p *Pool) unlabel(i int) error {
	last := len(p.order) - 1
	if last < 0 || p.order[last] != i {
		return nil // it was skipped
	}
	if p.session != nil {
		if err := p.session.write(entry{Removed: []int{i}}); err != nil {
			return err
		}
	}
	p.labels[i], p.order = none, p.order[:last]
	if p.targets != nil {
		p.targets[i] = nil
	}
	return nil
}

// check returns an error if the examples cannot have the labels.
func (p *Pool) check(pick, labels []int, revealed bool) error {
	seen := make(map[int]bool, len(pick))
	classes := len(p.set.Classes())
	for k, i := range pick {
		e := &LabelError{Example: i, Label: labels[k]}
		switch {
		case i < 0 || i >= len(p.labels):
			e.Problem = fmt.Sprintf("the index is out of range: the data set has %d examples", len(p.labels))
		case seen[i]:
			e.Problem = "the example occurs twice"
		case p.labels[i] != none:
			e.Problem = fmt.Sprintf("the example already has the label %d", p.labels[i])
		case revealed && i >= p.own:
			e.Problem = "the example was made by Synthesize and has no label in the data set: pass one, or use Ask"
		case p.targets == nil && (labels[k] < 0 || labels[k] >= classes):
			e.Problem = fmt.Sprintf("the classes are 0 to %d", classes-1)
		default:
			seen[i] = true
			continue
		}
		return e
	}
	return nil
}

// add appends examples made by Synthesize and returns their indices.
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

// Close closes the file of a pool of [Resume], which then accepts no more labels. For other
// pools it does nothing.
func (p *Pool) Close() error {
	if p.Err() != nil || p.session == nil {
		return nil
	}
	err := p.session.close()
	p.err = fmt.Errorf("%w: it is closed", ErrNoPool)
	return err
}

// String returns how many examples are labeled.
func (p *Pool) String() string {
	if err := p.Err(); err != nil {
		return err.Error()
	}
	text := fmt.Sprintf("%s: %d of %d examples labeled", p.set.Name(), p.Len(), len(p.labels))
	if p.Len() > 0 && p.targets == nil {
		counts := make([]int, len(p.set.Classes()))
		for _, i := range p.order {
			counts[p.labels[i]]++
		}
		text += fmt.Sprintf(", %d to %d of a class", slices.Min(counts), slices.Max(counts))
	}
	if made := len(p.labels) - p.own; made > 0 {
		text += fmt.Sprintf(", %d synthesized", made)
	}
	return text
}

// oneClass returns an error if all labels of the pool are of one class.
func (p *Pool) oneClass() error {
	classes := p.set.Classes()
	switch {
	case len(classes) == 1:
		return &OneClassError{Class: classes[0]}
	case len(p.order) == 0:
		return errors.New("active: there are no labels yet: select the first examples by Random or TypiClust")
	}
	first := p.labels[p.order[0]]
	for _, i := range p.order {
		if p.labels[i] != first {
			return nil
		}
	}
	return &OneClassError{Class: classes[first], Labeled: len(p.order)}
}

// LabelTargets is [Pool.Label] for data sets with targets, for regression or for several labels that
// are each 0 or 1: it stores a vector of targets for each example, or without that argument those
// of the data set. Its errors are those of Label; a target that is NaN or infinite is a
// [*LabelError].
func (p *Pool) LabelTargets(pick []int, targets ...[]float32) error {
	if err := p.Err(); err != nil {
		return err
	}
	if p.targets == nil {
		return fmt.Errorf("active: LabelTargets: the examples of %s have classes: use Label", p.set.Name())
	}
	labels := make([]int, len(pick))
	if err := p.check(pick, labels, false); err != nil {
		return err
	}
	if targets == nil {
		targets = make([][]float32, len(pick))
		for k, i := range pick {
			targets[k] = p.set.Target(i)
		}
	}
	if len(targets) != len(pick) {
		return fmt.Errorf("active: LabelTargets: %d vectors of targets for %d examples", len(targets), len(pick))
	}
	for k, v := range targets {
		if len(v) != p.set.Targets() {
			return &LabelError{Example: pick[k], Problem: fmt.Sprintf("%d targets were given, but examples have %d", len(v), p.set.Targets())}
		}
		for _, f := range v {
			if math.IsNaN(float64(f)) || math.IsInf(float64(f), 0) {
				return &LabelError{Example: pick[k], Problem: fmt.Sprintf("the target %g is not finite", f)}
			}
		}
	}
	return p.store(pick, labels, targets)
}

// KnownTargets returns the targets of example i; ok is false if they are unknown, or if the data set
// has classes.
func (p *Pool) KnownTargets(i int) (targets []float32, ok bool) {
	if p.Err() != nil || i < 0 || i >= len(p.targets) || p.targets[i] == nil {
		return nil, false
	}
	return slices.Clone(p.targets[i]), true
}
