package data

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/quernlab/quern/accel/internal/trace"
	"github.com/quernlab/quern/accel/tensor"
)

// Batch is some examples at once.
type Batch struct {
	// X has shape [N, shape of one example…] and type float32.
	X *tensor.Tensor
	// Y is the class indices, of shape [N] and type int32, for sequences one at
	// each place, of shape [N, T], or for regression the targets, of shape
	// [N, targets] and type float32.
	Y *tensor.Tensor
	// Index says which examples of the set these are.
	Index []int
	// Whole is the number of examples of the batch on all ranks together; without
	// [Shard] it is Len.
	Whole int
}

// Len is the number of examples in the batch.
func (b Batch) Len() int { return len(b.Index) }

// Share is the part of the batch that these examples are: 1 without [Shard]. The loss
// of a batch on all ranks is the sum of the losses of the parts times their shares.
func (b Batch) Share() float64 { return float64(len(b.Index)) / float64(max(b.Whole, 1)) }

// Option changes how a set is cut into batches.
type Option struct {
	text string
	set  func(*loader)
}

// String is the option as it is written in Go.
func (o Option) String() string { return o.text }

// Workers makes up to n batches ahead of the one in use, each on a goroutine
// of its own; 0 makes each batch when it is asked for. The default is 2. The
// batches are the same and come in the same order for every n.
func Workers(n int) Option {
	return Option{fmt.Sprintf("Workers(%d)", n), func(l *loader) { l.workers = n }}
}

// Shuffle takes the examples in an order that the seed fixes. Without it they
// come in the order of the set.
func Shuffle(seed uint64) Option {
	return Option{fmt.Sprintf("Shuffle(%d)", seed), func(l *loader) { l.shuffle, l.seed = true, seed }}
}

// Epoch is the number of the epoch: with the same seed each epoch has another order.
func Epoch(n int) Option {
	return Option{fmt.Sprintf("Epoch(%d)", n), func(l *loader) { l.round = n }}
}

// DropLast leaves out the last batch when it would be smaller than the others.
// Without it the last batch is smaller and no example is left out.
func DropLast() Option {
	return Option{"DropLast()", func(l *loader) { l.dropLast = true }}
}

// Skip begins with batch n instead of the first, batch 0.
func Skip(n int) Option {
	return Option{fmt.Sprintf("Skip(%d)", n), func(l *loader) { l.skip = max(n, 0) }}
}

// Shard divides each batch among ranks, which iterate with the same seed: this one
// gets the examples rank, rank+ranks, rank+2·ranks and so on of it. Together the ranks
// meet each example once, in the batches that there are without Shard. Batches of
// different length differ by one example; in a last one that has fewer examples than
// there are ranks the X and Y of some are nil, and their Len is 0.
func Shard(rank, ranks int) Option {
	return Option{fmt.Sprintf("Shard(%d, %d)", rank, ranks), func(l *loader) { l.rank, l.ranks = rank, ranks }}
}

// Context ends the iteration: once ctx is done, Next returns false and Err
// gives its error.
func Context(ctx context.Context) Option {
	return Option{"Context(ctx)", func(l *loader) { l.ctx = ctx }}
}

// loader is what the options set.
type loader struct {
	workers  int
	shuffle  bool
	seed     uint64
	round    int
	dropLast bool
	skip     int
	rank     int // of ranks; 0 of 0 or 1 without Shard
	ranks    int
	ctx      context.Context
}

// Batches is an iteration over a set, a batch at a time:
//
//	it := train.Batches(256)
//	for it.Next() {
//		b := it.Batch()
//		…
//	}
//	if err := it.Err(); err != nil { … }
//
// It is for one goroutine. An iteration may be dropped at any point: what it
// makes ahead is a few batches, and no goroutine waits for anybody to take
// them.
type Batches struct {
	set    *Dataset
	size   int
	loader loader
	order  []int // nil is the order of the set
	count  int   // batches in all

	issued int // batches in the making or made
	taken  int // batches handed out
	ahead  []chan rawBatch
	batch  Batch
	err    error
	waited time.Duration
	spare  sync.Pool // of *[]float32: rooms for X that were copied into tensors
}

// rawBatch is a batch before it is tensors.
type rawBatch struct {
	x       []float32
	labels  []int
	targets []float32
	index   []int
	err     error
}

// ErrBatchSize is why an iteration with batches of no examples gives none.
var ErrBatchSize = errors.New("data: the batch size must be positive")

// Batches starts an iteration over the set in batches of the given size. The
// error of a size below 1 comes from [Batches.Err].
func (s *Dataset) Batches(size int, options ...Option) *Batches {
	l := loader{workers: 2, ctx: context.Background()}
	for _, o := range options {
		if o.set != nil {
			o.set(&l)
		}
	}
	b := &Batches{set: s, size: size, loader: l}
	if size < 1 {
		b.err = fmt.Errorf("%w, not %d", ErrBatchSize, size)
		return b
	}
	if l.ranks < 0 || l.rank < 0 || l.rank >= max(l.ranks, 1) {
		b.err = fmt.Errorf("data: Shard(%d, %d): there is no such rank", l.rank, l.ranks)
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
	if l.shuffle {
		b.order = permutation(s.Len(), l.seed, l.round)
	}
	b.taken = min(l.skip, b.count)
	b.issued = b.taken
	b.ahead = make([]chan rawBatch, max(l.workers, 0)+1)
	return b
}

// Count is the number of batches in all.
func (b *Batches) Count() int { return b.count }

// Next makes the next batch the current one. It returns false at the end, and
// when the context is done or a batch cannot be made; Err tells which.
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
	b.issue() // the batches ahead grow while the caller uses this one
	b.batch.Whole = whole
	if len(raw.index) == 0 {
		return true
	}
	b.batch = Batch{Whole: whole, X: tensor.New(raw.x, append([]int{len(raw.index)}, b.set.shape...)...), Index: raw.index}
	b.spare.Put(&raw.x)
	if raw.labels != nil {
		b.batch.Y = tensor.FromInts(raw.labels, b.set.labelShape(len(raw.index))...)
	} else {
		b.batch.Y = tensor.New(raw.targets, len(raw.index), b.set.Targets())
	}
	return true
}

// Batch is the current batch: valid after Next has returned true.
func (b *Batches) Batch() Batch { return b.batch }

// Err is why the iteration ended early; nil at its end.
func (b *Batches) Err() error { return b.err }

// Waited is the time that Next has spent waiting for batches so far.
func (b *Batches) Waited() time.Duration { return b.waited }

// String says how far the iteration is.
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
		return raw
	case <-b.loader.ctx.Done():
		return rawBatch{err: b.loader.ctx.Err()}
	}
}

// issue starts the batches that may be made ahead. The channels have room for
// the one batch that each will get, so that no goroutine outlives its work.
func (b *Batches) issue() {
	for b.issued < b.count && b.issued < b.taken+b.loader.workers {
		k, result := b.issued, make(chan rawBatch, 1)
		b.ahead[k%len(b.ahead)] = result
		b.issued++
		go func() { result <- b.make(k) }()
	}
}

// make gathers batch k. It reads nothing that Next changes.
func (b *Batches) make(k int) (raw rawBatch) {
	width := b.set.size()
	raw.index = b.examples(k)
	raw.x = b.room(len(raw.index) * width)
	outputs := b.set.Targets()
	length := b.set.SequenceLength()
	if outputs == 0 {
		raw.labels = make([]int, len(raw.index)*max(length, 1))
	} else {
		raw.targets = make([]float32, len(raw.index)*outputs)
	}
	for i, e := range raw.index {
		if i%256 == 0 && b.loader.ctx.Err() != nil {
			return rawBatch{err: b.loader.ctx.Err()}
		}
		at := b.set.at(e)
		x := raw.x[i*width : (i+1)*width]
		if err := b.set.source.example(at, x); err != nil {
			return rawBatch{err: fmt.Errorf("data: example %d of %s: %w", e, b.set.name, err)}
		}
		b.set.transform(x, e, &b.loader)
		switch {
		case length > 0:
			b.set.source.(sequences).labels(at, raw.labels[i*length:(i+1)*length])
		case outputs == 0:
			raw.labels[i] = b.set.source.label(at)
		default:
			b.set.source.target(at, raw.targets[i*outputs:(i+1)*outputs])
		}
	}
	return raw
}

// whole is the number of examples of batch k on all ranks.
func (b *Batches) whole(k int) int { return min((k+1)*b.size, b.set.Len()) - k*b.size }

// examples are those of batch k on this rank.
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

// room is a slice of n numbers, of any values.
func (b *Batches) room(n int) []float32 {
	if spare, ok := b.spare.Get().(*[]float32); ok && cap(*spare) >= n {
		return (*spare)[:n]
	}
	return make([]float32, n)
}

// Tensors gives all examples as one batch, in the order of the set.
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
