package accel

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"time"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
	"github.com/quernlab/quern/accel/parallel"
	"github.com/quernlab/quern/display"
)

// newRanks is what a process does together with those of a group; nil for one process.
func newRanks(ctx context.Context, group *parallel.Group) *ranks {
	if group == nil || group.Size() == 1 {
		return nil
	}
	r := &ranks{group: group, user: ctx}
	r.ctx, r.cancel = context.WithCancel(context.WithoutCancel(ctx))
	r.stop = context.AfterFunc(ctx, func() { time.AfterFunc(answerTime, r.cancel) })
	return r
}

// measure shows how many examples of a set have been computed, in the process that shows
// anything.
func (r *ranks) measure(ctx context.Context, examples int) *display.Meter {
	if !r.writes() {
		return nil
	}
	if r != nil {
		examples = max(examples/r.group.Size(), 1) // those of this one stand for all
	}
	meter, _ := display.Measure(ctx, "examples", float64(examples))
	return meter
}

// leave gives up what newRanks holds. The others are told of a panic.
func (r *ranks) leave(what string, returned bool) {
	if r == nil {
		return
	}
	if !returned {
		r.group.Fail(fmt.Errorf("%s has panicked", what))
	}
	r.stop()
	r.cancel()
}

// subject is what ranks look at together, as each has it.
type subject struct {
	Set     string
	Check   contents
	Tensors []checked // of the model
}

// checked is a tensor by its checksum.
type checked struct {
	Name  string
	Bytes int
	Sum   uint32
}

// contents are the examples of a set in short.
type contents struct {
	Examples int
	Sum      uint32 // of some
}

// Of a set, so many labels and examples at equal distances are compared: enough to find
// another order, or another file.
const comparedLabels, comparedExamples = 4096, 16

// contentsOf is the set in short. It does not look at what [data.Dataset.Map] does, which may
// be random.
func contentsOf(set *data.Dataset) (c contents, err error) {
	defer func() { // of a file that cannot be read
		if p := recover(); p != nil {
			failed, ok := p.(error)
			if !ok {
				panic(p)
			}
			err = failed
		}
	}()
	c.Examples = set.Len()
	add := func(numbers any) {
		var b []byte
		if b, err = binary.Append(nil, binary.LittleEndian, numbers); err == nil {
			c.Sum = crc32.Update(c.Sum, castagnoli, b)
		}
	}
	for k := range min(set.Len(), comparedLabels) {
		i := k * set.Len() / min(set.Len(), comparedLabels)
		add(int64(set.Label(i)))
		add(set.Target(i))
	}
	for k := range min(set.Len(), comparedExamples) {
		add(set.Example(k * set.Len() / min(set.Len(), comparedExamples)))
	}
	return c, err
}

// compareModels fails on all ranks where they do not have the same model and set.
func (r *ranks) compareModels(ctx context.Context, model nn.Module, set *data.Dataset) error {
	if r == nil {
		return nil
	}
	mine := subject{Set: set.Name()}
	err := r.together(func() (err error) {
		if err = touch(ctx, model, set); err == nil { // layers without parameters get them
			mine.Check, err = contentsOf(set)
		}
		for _, p := range nn.State(model) {
			raw := p.Raw()
			mine.Tensors = append(mine.Tensors, checked{p.Name, len(raw), crc32.Checksum(raw, castagnoli)})
		}
		return err
	})
	if err != nil {
		return err
	}
	all, err := gather(r, mine)
	if err != nil {
		return err
	}
	for rank, other := range all {
		if difference := other.different(all[0]); difference != "" {
			return fmt.Errorf("accel: DataParallel: rank %d is not as rank 0: %s", rank, difference)
		}
	}
	return nil
}

// different says what is not the same as on rank 0, empty for nothing.
func (s subject) different(first subject) string {
	switch {
	case s.Set != first.Set:
		return fmt.Sprintf("the set is %s, and %s there", s.Set, first.Set)
	case s.Check.Examples != first.Check.Examples:
		return fmt.Sprintf("the set has %d examples, and %d there", s.Check.Examples, first.Check.Examples)
	case s.Check != first.Check:
		return "the set has other examples, or in another order"
	case len(s.Tensors) != len(first.Tensors):
		return fmt.Sprintf("the model has %d tensors, and %d there", len(s.Tensors), len(first.Tensors))
	}
	for i, t := range s.Tensors {
		switch other := first.Tensors[i]; {
		case t.Name != other.Name || t.Bytes != other.Bytes:
			return fmt.Sprintf("the model has %s of %d bytes, and %s of %d there", t.Name, t.Bytes, other.Name, other.Bytes)
		case t.Sum != other.Sum:
			return fmt.Sprintf("%s of the model has other numbers; parallel.Share gives all ranks those of rank 0", t.Name)
		}
	}
	return ""
}

// gather gives all ranks what each has.
func gather[T any](r *ranks, mine T) ([]T, error) {
	text, err := json.Marshal(mine)
	if err != nil {
		return nil, fmt.Errorf("accel: DataParallel: %w", err)
	}
	texts, err := r.group.AllGather(r.ctx, text)
	if err != nil {
		return nil, fmt.Errorf("accel: DataParallel: %w", err)
	}
	all := make([]T, len(texts))
	for i, text := range texts {
		if err := json.Unmarshal(text, &all[i]); err != nil {
			return nil, fmt.Errorf("accel: DataParallel: what rank %d says: %w", i, err)
		}
	}
	return all, nil
}
