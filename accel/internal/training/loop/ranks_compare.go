package loop

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/internal/training/architecture"
	"github.com/quernlab/quern/accel/nn"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Subject describes a model and its data sets, so that ranks notice if theirs differ.
type Subject struct {
	Sets    []describedSet
	Layers  []string // of the model
	Tensors []tensorSum
}

// describedSet is a data set with a summary of its examples.
type describedSet struct {
	Name     string
	Contents contents
}

// Describe returns a description of a model, which must have its parameters, and of data sets. Both may be missing.
func Describe(model nn.Module, sets ...*data.Dataset) (s Subject, err error) {
	for _, set := range sets {
		c, err := contentsOf(set)
		if err != nil {
			return s, err
		}
		s.Sets = append(s.Sets, describedSet{set.Name(), c})
	}
	if model == nil {
		return s, nil
	}
	s.Layers = architecture.Layers(model)
	for _, p := range nn.State(model) {
		raw := p.Raw()
		s.Tensors = append(s.Tensors, tensorSum{p.Name, len(raw), crc32.Checksum(raw, castagnoli)})
	}
	return s, nil
}

// tensorSum is a tensor of the model with its checksum.
type tensorSum struct {
	Name  string
	Bytes int
	Sum   uint32
}

// contents is a summary of the examples of a data set.
type contents struct {
	Examples int
	Sum      uint32 // CRC of some labels and examples
}

// The numbers of labels and examples that the checksum covers, at equal distances: enough to
// notice another order or another file.
const comparedLabels, comparedExamples = 4096, 16

// contentsOf returns the summary of a data set. It leaves out transforms ([data.Dataset.Map]),
// which may be random.
func contentsOf(set *data.Dataset) (c contents, err error) {
	defer func() { // a file that cannot be read panics
		if p := recover(); p != nil {
			failed, ok := p.(error)
			if !ok {
				panic(p)
			}
			err = failed
		}
	}()
	c.Examples = set.Len()
	add := func(values any) {
		var b []byte
		if b, err = binary.Append(nil, binary.LittleEndian, values); err == nil {
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

// compareModels fails on all ranks unless they have the same model and data set.
func (r *ranks) compareModels(ctx context.Context, model nn.Module, set *data.Dataset) error {
	var mine Subject
	err := r.runOnAll(func() (err error) {
		if err = Touch(ctx, model, set); err == nil { // layers without parameters get them
			mine, err = Describe(model, set)
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
		if difference := other.Difference(all[0], "call parallel.BroadcastModel to copy those of rank 0 to all ranks"); difference != "" {
			return fmt.Errorf("accel: DataParallel: rank %d differs from rank 0: %s", rank, difference)
		}
	}
	return nil
}

// Difference describes the first difference from rank 0; "" for none. hint says what to do if only the values of the tensors differ.
func (s Subject) Difference(first Subject, hint string) string {
	if len(s.Sets) != len(first.Sets) {
		return fmt.Sprintf("it has %d data sets, rank 0 has %d", len(s.Sets), len(first.Sets))
	}
	for i, mine := range s.Sets {
		switch other := first.Sets[i]; {
		case mine.Name != other.Name:
			return fmt.Sprintf("its data set is %s, that of rank 0 is %s", mine.Name, other.Name)
		case mine.Contents.Examples != other.Contents.Examples:
			return fmt.Sprintf("its data set %s has %d examples, that of rank 0 has %d", mine.Name, mine.Contents.Examples, other.Contents.Examples)
		case mine.Contents != other.Contents:
			return fmt.Sprintf("its data set %s has different examples, or a different order", mine.Name)
		}
	}
	if text := architecture.Difference(s.Layers, first.Layers); text != "" {
		return text
	}
	if len(s.Tensors) != len(first.Tensors) {
		return fmt.Sprintf("its model has %d tensors, that of rank 0 has %d", len(s.Tensors), len(first.Tensors))
	}
	for i, t := range s.Tensors {
		switch other := first.Tensors[i]; {
		case t.Name != other.Name || t.Bytes != other.Bytes:
			return fmt.Sprintf("its model has tensor %s of %d bytes, that of rank 0 has %s of %d bytes", t.Name, t.Bytes, other.Name, other.Bytes)
		case t.Sum != other.Sum:
			return fmt.Sprintf("the values of %s differ: %s", t.Name, hint)
		}
	}
	return ""
}

// compareTrainings fails on all ranks unless they are about to run the same training.
func (r *ranks) compareTrainings(set *data.Dataset, o *Settings) error {
	type training struct {
		Options []string
		Subject Subject
	}
	mine, sets := training{Options: o.shared()}, []*data.Dataset{set}
	if o.Validate != nil {
		sets = append(sets, o.Validate)
	}
	err := r.runOnAll(func() (err error) {
		mine.Subject, err = Describe(nil, sets...)
		return err
	})
	if err != nil {
		return err
	}
	all, err := gather(r, mine)
	if err != nil {
		return err
	}
	for i, other := range all {
		difference := other.Subject.Difference(all[0].Subject, "")
		if !slices.Equal(other.Options, all[0].Options) {
			difference = fmt.Sprintf("its options are %v, those of rank 0 are %v", other.Options, all[0].Options)
		}
		if difference != "" {
			return fmt.Errorf("accel: DataParallel: rank %d differs from rank 0: %s: call Fit with the same arguments on all ranks", i, difference)
		}
	}
	return nil
}
