package accel

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/nn"
)

// subject is what ranks look at together, as each has it.
type subject struct {
	Dataset string
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

// contentsOf returns the set in short. It does not look at what [data.Dataset.Map] does, which may
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
func (r *dataParallel) compareModels(ctx context.Context, model nn.Module, set *data.Dataset) error {
	mine := subject{Dataset: set.Name()}
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
	case s.Dataset != first.Dataset:
		return fmt.Sprintf("the set is %s, and %s there", s.Dataset, first.Dataset)
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

// plan is what must be the same on all ranks.
type plan struct {
	Dataset  string
	Contents contents
	Check    contents // of the set for validation
	Options  []string
}

// different says what is not the same, empty for nothing.
func (p plan) different(other plan) string {
	switch {
	case p.Dataset != other.Dataset:
		return fmt.Sprintf("the training set is %s here, and %s on rank 0", p.Dataset, other.Dataset)
	case p.Contents.Examples != other.Contents.Examples:
		return fmt.Sprintf("the training set has %d examples here, and %d on rank 0", p.Contents.Examples, other.Contents.Examples)
	case p.Contents != other.Contents:
		return "the training set has other examples than on rank 0, or in another order"
	case fmt.Sprint(p.Options) != fmt.Sprint(other.Options):
		return fmt.Sprintf("the options are %v here, and %v on rank 0", p.Options, other.Options)
	case p.Check != other.Check:
		return "the set for validation has other examples than on rank 0, or in another order"
	}
	return ""
}

// compare fails on all ranks if one of them is about to train something else.
func (r *dataParallel) compare(l *loop) error {
	mine := plan{Dataset: l.set.Name(), Options: l.o.shared()}
	err := r.together(func() (err error) {
		if mine.Contents, err = contentsOf(l.set); err == nil && l.o.validate != nil {
			mine.Check, err = contentsOf(l.o.validate)
		}
		return err
	})
	if err != nil {
		return err
	}
	plans, err := gather(r, mine)
	if err != nil {
		return err
	}
	for i, p := range plans {
		if difference := p.different(plans[0]); difference != "" {
			return fmt.Errorf("accel: DataParallel: rank %d was started with something else: %s", i, difference)
		}
	}
	return nil
}
