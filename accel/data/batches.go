package data

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quernlab/quern/accel/internal/engine/trace"
	"github.com/quernlab/quern/accel/internal/training/option"
	"github.com/quernlab/quern/accel/tensor"
)

// Batch is a batch of examples.
type Batch struct {
	// X has shape [N, shape of one example…] and type float32.
	X *tensor.Tensor
	// Y is the class indices with shape [N] and type int32, for sequences one per position with
	// shape [N, T], or for regression the targets with shape [N, targets] and type float32. It is
	// nil for a data set without labels; see [OpenUnlabeledImages].
	Y *tensor.Tensor
	// Lengths holds the lengths of sequences that are padded at the end, in a data set of
	// [Sequences]; nil for others. Padded is the number of positions to which they are padded.
	Lengths []int
	Padded  int // 0 without Lengths
	// Positions holds, for each row of packed sequences, the position of each token in its sequence; nil
	// for other examples. See [Dataset.PackSequences].
	Positions [][]int
	// Ignores reports whether classes in Y may be [Ignored].
	Ignores bool
	// Index holds the indices of the examples in the data set.
	Index []int
	// Whole is the number of examples of the batch over all ranks; without [Shard] it equals Len.
	Whole int
}

// Len returns the number of examples in the batch.
func (b Batch) Len() int { return len(b.Index) }

// Slice returns the examples from to to-1 of the batch.
func (b Batch) Slice(from, to int) Batch {
	if from == 0 && to == b.Len() {
		return b
	}
	part := Batch{X: b.X.Slice(0, from, to), Index: b.Index[from:to], Whole: to - from, Ignores: b.Ignores}
	if b.Y != nil {
		part.Y = b.Y.Slice(0, from, to)
	}
	if b.Lengths != nil {
		part.Lengths, part.Padded = b.Lengths[from:to], b.Padded
	}
	if b.Positions != nil {
		part.Positions = b.Positions[from:to]
	}
	return part
}

// Longest returns which example of the batch is the first of the longest sequences; 0 without
// lengths.
func (b Batch) Longest() (i int) {
	for k, n := range b.Lengths {
		if n > b.Lengths[i] {
			i = k
		}
	}
	return i
}

// Share returns Len divided by Whole: 1 without [Shard]. The loss of the whole batch is the sum
// over the ranks of loss times share.
func (b Batch) Share() float64 { return float64(len(b.Index)) / float64(max(b.Whole, 1)) }

// Option configures how a data set is divided into batches.
type Option struct{ setting }

type setting = option.Of[loader]

// batchOptions are the options of [Dataset.Batches].
var batchOptions = []string{"Workers", "Shuffle", "Epoch", "DropLast", "Skip", "Shard", "Context", "WeightedRandomSampler", "GroupByLength"}

// Workers prepares up to n batches in advance, each in its own goroutine; with 0 each batch is
// made when it is requested. The default is 2. The batches and their order do not depend on n.
func Workers(n int) Option {
	return Option{option.New(func(l *loader) { l.workers = n }, "Workers", n)}
}

// Shuffle shuffles the examples with a seed. Without it they are in the order of the data set.
func Shuffle(seed uint64) Option {
	return Option{option.New(func(l *loader) { l.shuffle, l.seed = true, seed }, "Shuffle", seed)}
}

// Epoch sets the number of the epoch: with the same seed each epoch has a different order. accel.Fit counts
// epochs from 1 and shuffles with the seed that its Run has.
func Epoch(n int) Option { return Option{option.New(func(l *loader) { l.epoch = n }, "Epoch", n)} }

// DropLast drops the last batch if it is smaller than the others. Without it the last batch may
// be smaller, and all examples are used.
func DropLast() Option {
	return Option{option.New(func(l *loader) { l.dropLast = true }, "DropLast")}
}

// Skip begins with batch n instead of batch 0.
func Skip(n int) Option {
	return Option{option.New(func(l *loader) { l.skip = max(n, 0) }, "Skip", n)}
}

// Shard divides each batch among ranks, which iterate with the same seed: this rank gets the
// examples rank, rank+ranks, rank+2·ranks and so on of each batch. Together the ranks see each
// example once, in the same batches as without Shard. The parts of a batch differ in length by
// at most one example. If the last batch has fewer examples than there are ranks, some ranks
// get a batch with nil X and Y and Len 0.
func Shard(rank, ranks int) Option {
	return Option{option.New(func(l *loader) { l.rank, l.ranks = rank, ranks }, "Shard", rank, ranks).
		Require(ranks >= 0 && rank >= 0 && rank < max(ranks, 1), "the rank must be at least 0 and less than the number of ranks")}
}

// Context ends the iteration when ctx is done: Next returns false and Err returns the error of
// ctx.
func Context(ctx context.Context) Option {
	return Option{option.New(func(l *loader) { l.ctx = ctx }, "Context", option.Code("ctx")).Require(ctx != nil, "the context is nil")}
}

// loader holds the values of the options.
type loader struct {
	workers  int
	shuffle  bool
	seed     uint64
	epoch    int
	dropLast bool
	byLength bool
	skip     int
	weights  []float64 // nil without WeightedRandomSampler
	rank     int       // rank among ranks; ranks is 0 or 1 without Shard
	ranks    int
	ctx      context.Context
}

// Batches iterates over a data set in batches:
//
//	it := train.Batches(256)
//	for it.Next() {
//		b := it.Batch()
//		…
//	}
//	if err := it.Err(); err != nil { … }
//
// It must only be used by one goroutine. An iteration may be abandoned at any point: it has
// prepared a few batches at most, and no goroutine blocks.
type Batches struct {
	set    *Dataset
	size   int
	loader loader
	order  []int // nil: the order of the data set
	count  int   // total number of batches

	issued int // number of batches started
	taken  int // number of batches returned
	ahead  []chan rawBatch
	batch  Batch
	err    error
	waited time.Duration
	making atomic.Int64 // nanoseconds, of all workers together
	spare  sync.Pool    // *[]float32: buffers for X that have been copied to tensors
}

// rawBatch is a batch before the conversion to tensors.
type rawBatch struct {
	x       []float32
	labels  []int
	targets []float32
	index   []int
	lengths []int // of padded sequences
	padded  int
	at      [][]int // positions of packed sequences
	err     error
	panic   any // the value of a panic of the source or a transform; nil if there was none
}

// ErrBatchSize is returned by [Batches.Err] for a batch size below 1.
var ErrBatchSize = errors.New("data: the batch size must be positive")

// Batches starts an iteration over the data set in batches of the given size. A size below 1 is
// reported by [Batches.Err].
func (s *Dataset) Batches(size int, options ...Option) *Batches {
	l := loader{workers: 2, ctx: context.Background()}
	b := &Batches{set: s, size: size}
	b.err = option.Apply("data.Batches", &l, options, batchOptions...)
	if b.loader = l; b.err != nil {
		return b
	}
	if size < 1 {
		b.err = fmt.Errorf("%w, not %d", ErrBatchSize, size)
		return b
	}
	if s.Len() == 0 {
		return b
	}
	b.size = min(size, s.Len())
	b.count = s.Len() / b.size
	if !l.dropLast && s.Len()%b.size > 0 {
		b.count++
	}
	switch {
	case l.weights != nil:
		if b.err = option.CheckWeights(l.weights, s.Len()); b.err != nil {
			return b
		}
		b.order = weightedOrder(l.weights, l.seed, l.epoch)
	case l.shuffle:
		b.order = permutation(s.Len(), l.seed, l.epoch)
	}
	if l.byLength {
		switch {
		case s.positions() == 0:
			b.err = fmt.Errorf("data: GroupByLength: the examples of %s are not sequences of different lengths", s.name)
			return b
		case b.order == nil:
			b.err = errors.New("data: GroupByLength needs the option Shuffle")
			return b
		}
		b.order = s.lengthOrder(b.order, b.size, l.seed, l.epoch)
	}
	b.taken = min(l.skip, b.count)
	b.issued = b.taken
	b.ahead = make([]chan rawBatch, max(l.workers, 0)+1)
	return b
}

// Count returns the total number of batches.
func (b *Batches) Count() int { return b.count }

// Next advances to the next batch. It returns false at the end, when the context is done, or if
// a batch cannot be made; see Err.
func (b *Batches) Next() bool {
	b.batch = Batch{}
	if b.err != nil || b.taken == b.count {
		return false
	}
	if b.err = b.loader.ctx.Err(); b.err != nil {
		return false
	}
	begin := time.Now()
	whole := b.whole(b.taken)
	if r := b.set.resident; r != nil {
		if index := b.examples(b.taken); len(index) > 0 {
			b.batch = r.batch(b.set, index, &b.loader)
		}
		b.batch.Whole = whole
		b.taken++
		b.waited += time.Since(begin)
		b.making.Add(int64(time.Since(begin)))
		return true
	}
	raw := b.take()
	b.waited += time.Since(begin)
	if c := trace.Active(); c != nil {
		c.Event(trace.Waiting, b.set.name, begin.Sub(c.Begun()), 0)
	}
	if raw.err != nil {
		b.err = raw.err
		return false
	}
	b.issue() // prepare batches while the caller uses this one
	b.batch.Whole = whole
	if len(raw.index) == 0 {
		return true
	}
	shape := append([]int{len(raw.index)}, b.set.Shape()...)
	if raw.padded > 0 && b.set.cutsPadding() {
		shape[1] = raw.padded
	}
	b.batch = Batch{Whole: whole, X: tensor.New(raw.x, shape...), Index: raw.index, Lengths: raw.lengths, Padded: raw.padded, Positions: raw.at}
	b.spare.Put(&raw.x)
	b.batch.Ignores = b.set.Ignores()
	switch form := b.set.source.form(); {
	case form.unlabeled: // Y is nil
	case form.targets == 0:
		labels := b.set.labelShape(len(raw.index))
		if len(labels) == 2 {
			labels[1] = len(raw.labels) / labels[0]
		}
		b.batch.Y = tensor.FromInts(raw.labels, labels...)
	default:
		b.batch.Y = tensor.New(raw.targets, len(raw.index), form.targets)
	}
	return true
}

// Batch returns the current batch. It is valid after Next has returned true.
func (b *Batches) Batch() Batch { return b.batch }

// Err returns why the iteration ended early; nil at its regular end.
func (b *Batches) Err() error { return b.err }

// Waited returns the time that Next has waited for batches so far.
func (b *Batches) Waited() time.Duration { return b.waited }

// Making returns how long it has taken so far to make the batches, those in advance included: the time of each worker, added up.
// More [Workers] can shorten only a wait that is not longer than that. If [Batches.Waited] is longer, as for a small data set in
// memory on a busy machine, Next has waited for a core instead.
func (b *Batches) Making() time.Duration { return time.Duration(b.making.Load()) }

// String returns the progress of the iteration.
func (b *Batches) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "batch %d of %d of %s", b.taken, b.count, b.set.name)
	if b.err != nil {
		fmt.Fprintf(&text, ", ended: %v", b.err)
	}
	return text.String()
}

// take waits for the next batch, or makes it.
func (b *Batches) take() rawBatch {
	k := b.taken
	b.taken++
	if k == b.issued {
		b.issued++
		return b.make(k)
	}
	select {
	case raw := <-b.ahead[k%len(b.ahead)]:
		if raw.panic != nil {
			panic(raw.panic)
		}
		return raw
	case <-b.loader.ctx.Done():
		return rawBatch{err: b.loader.ctx.Err()}
	}
}

// issue starts the batches that may be prepared in advance. Their channels have a buffer of
// one, so that no goroutine outlives its work.
func (b *Batches) issue() {
	for b.issued < b.count && b.issued < b.taken+b.loader.workers {
		k, result := b.issued, make(chan rawBatch, 1)
		b.ahead[k%len(b.ahead)] = result
		b.issued++
		go func() {
			raw := rawBatch{err: errExited}
			defer func() {
				if p := recover(); p != nil {
					raw = rawBatch{panic: p} // Next panics with it
				}
				result <- raw
			}()
			raw = b.make(k)
		}()
	}
}

// errExited is the error of a batch whose goroutine has ended without making it.
var errExited = errors.New("data: the source or a transform has called runtime.Goexit, or its cell has ended")

// make gathers batch k. It does not read anything that Next changes.
func (b *Batches) make(k int) (raw rawBatch) {
	begin := time.Now()
	defer func() { b.making.Add(int64(time.Since(begin))) }()
	form := b.set.source.form()
	width, _ := volume(b.set.Shape())
	raw.index = b.examples(k)
	raw.x = b.buffer(len(raw.index) * width)
	if form.targets == 0 {
		raw.labels = make([]int, len(raw.index)*form.labels())
	} else {
		raw.targets = make([]float32, len(raw.index)*form.targets)
	}
	for i, e := range raw.index {
		if i%256 == 0 && b.loader.ctx.Err() != nil {
			return rawBatch{err: b.loader.ctx.Err()}
		}
		v := values{x: rowOf(raw.x, i, width), labels: rowOf(raw.labels, i, form.labels()), targets: rowOf(raw.targets, i, form.targets)}
		if form.packed {
			v.positions = make([]int, form.sequence)
			raw.at = append(raw.at, v.positions)
		}
		if err := b.set.readTransformed(e, v, &b.loader); err != nil {
			return rawBatch{err: b.set.exampleError(e, err)}
		}
	}
	if raw.lengths, raw.padded = b.set.paddingOf(raw.index); raw.padded > 0 && b.set.cutsPadding() {
		raw.x = cut(raw.x, width, raw.padded)
		if form.sequence > 0 {
			raw.labels = cut(raw.labels, form.sequence, raw.padded)
		}
	}
	return raw
}

// whole returns the number of examples of batch k over all ranks.
func (b *Batches) whole(k int) int { return min((k+1)*b.size, b.set.Len()) - k*b.size }

// examples returns the examples of batch k on this rank.
func (b *Batches) examples(k int) []int {
	ranks := max(b.loader.ranks, 1)
	first := k*b.size + b.loader.rank
	end := k*b.size + b.whole(k)
	index := make([]int, 0, (max(end-first, 0)+ranks-1)/ranks)
	for at := first; at < end; at += ranks {
		if b.order != nil {
			index = append(index, b.order[at])
		} else {
			index = append(index, at)
		}
	}
	return index
}

// buffer returns a slice of n values with arbitrary content.
func (b *Batches) buffer(n int) []float32 {
	if spare, ok := b.spare.Get().(*[]float32); ok && cap(*spare) >= n {
		return (*spare)[:n]
	}
	return make([]float32, n)
}

// Tensors returns all examples as one batch in the order of the data set.
func (s *Dataset) Tensors() (Batch, error) {
	it := s.Batches(max(s.Len(), 1), Workers(0))
	if !it.Next() {
		if err := it.Err(); err != nil {
			return Batch{}, err
		}
		return Batch{}, fmt.Errorf("data: %s is empty", s.name)
	}
	return it.Batch(), nil
}

// WeightedRandomSampler draws the examples of an epoch at random with replacement, each with a
// probability proportional to its weight, like PyTorch's WeightedRandomSampler. An epoch has as
// many examples as the data set; [Shuffle] sets the seed. [Dataset.BalancedWeights] returns weights
// that make all classes equally frequent.
func WeightedRandomSampler(weights []float64) Option {
	weights = append([]float64{}, weights...) // not nil, which stands for no sampler
	return Option{option.New(func(l *loader) { l.weights = weights }, "WeightedRandomSampler", option.Code(fmt.Sprintf("%d weights", len(weights))))}
}

// HardExampleWeights returns weights with which [WeightedRandomSampler] draws examples in proportion to their
// losses, or to other scores that are high for hard examples, and a share of all draws uniformly, so that no
// example is forgotten: (1-uniform)·loss/Σloss + uniform/n. If all losses are 0, all draws are uniform. Each
// loss must be finite and not negative, and uniform from 0 to 1.
//
//	weights, err := data.HardExampleWeights(losses, 0.2)
//	it := train.Batches(64, data.Shuffle(1), data.Epoch(epoch), data.WeightedRandomSampler(weights))
func HardExampleWeights(losses []float64, uniform float64) ([]float64, error) {
	if !(uniform >= 0 && uniform <= 1) {
		return nil, fmt.Errorf("data: HardExampleWeights: the share %v of uniform draws must be from 0 to 1", uniform)
	}
	largest, sum := 0.0, 0.0
	for i, l := range losses {
		if !(l >= 0) || math.IsInf(l, 1) {
			return nil, fmt.Errorf("data: HardExampleWeights: the loss %v of example %d must not be negative and must be finite", l, i)
		}
		largest = max(largest, l)
	}
	for _, l := range losses {
		sum += l / max(largest, math.SmallestNonzeroFloat64) // the sum of large ones may be infinite
	}
	weights := make([]float64, len(losses))
	for i, l := range losses {
		weights[i] = 1 / float64(len(losses))
		if sum > 0 {
			weights[i] = (1-uniform)*(l/largest/sum) + uniform*weights[i]
		}
	}
	return weights, nil
}

// BalancedWeights returns for each example one divided by the number of examples of its class, the
// weights with which [WeightedRandomSampler] draws all classes equally often.
func (s *Dataset) BalancedWeights() ([]float64, error) {
	labels, counts, err := s.strata("BalancedWeights", 0)
	if err != nil {
		return nil, err
	}
	weights := make([]float64, len(labels))
	for i, c := range labels {
		weights[i] = 1 / float64(counts[c])
	}
	return weights, nil
}

// weightedOrder draws as many examples as there are weights.
func weightedOrder(weights []float64, seed uint64, epoch int) []int {
	sums := slices.Clone(weights)
	for i := range sums[1:] {
		sums[i+1] += sums[i]
	}
	random := rand.New(rand.NewPCG(seed, uint64(epoch)))
	order := make([]int, len(weights))
	for k := range order {
		at := random.Float64() * sums[len(sums)-1]
		i, _ := slices.BinarySearchFunc(sums, at, func(sum, at float64) int {
			if sum > at {
				return 1 // the first sum above at
			}
			return -1
		})
		order[k] = min(i, len(weights)-1)
	}
	return order
}
