package data

import (
	"fmt"
	"slices"
	"strconv"
)

// Dataset is a fixed list of labelled examples of one shape. It is immutable:
// Split, Subset, Reshape and the like return new sets that share the data, so a
// Dataset may be used from any goroutine.
//
// A set for classification has a class index as the label of each example. A
// set for regression (see [FromTargets]) has a vector of numbers instead.
type Dataset struct {
	name    string
	shape   []int    // of one example
	classes []string // nil for regression
	columns []string // names of the numbers of an example; nil where they have none

	targetNames []string // names of the targets; nil where they have none

	source source
	// index maps an example of this set to one of source; nil is the identity.
	index []int
	// transforms are applied as examples enter a batch.
	transforms []Transform
	// resident is the examples on the device, those of the source by at; nil
	// without OnDevice.
	resident *resident
}

// source is where the numbers of a set come from. Its methods may be called
// from several goroutines at once.
type source interface {
	len() int
	// example writes example i, as float32 in row-major order, to dst. It fails
	// where a file does.
	example(i int, dst []float32) error
	// label is the class of example i, or 0 where the set has targets.
	label(i int) int
	// target writes the target vector of example i to dst.
	target(i int, dst []float32)
	// targets is the length of a target vector; 0 for classification.
	targets() int
}

// sequences is a source whose examples have a label at each place.
type sequences interface {
	sequenceLength() int
	labels(i int, dst []int)
}

// Len is the number of examples.
func (s *Dataset) Len() int {
	if s.index != nil {
		return len(s.index)
	}
	return s.source.len()
}

// Name is what the set calls itself when it is shown.
func (s *Dataset) Name() string { return s.name }

// Shape is the shape of one example, without the batch dimension: [1 28 28]
// for a grey image, channels first.
func (s *Dataset) Shape() []int { return slices.Clone(s.shape) }

// Classes are the names of the classes, by class index. It is empty for
// regression.
func (s *Dataset) Classes() []string { return slices.Clone(s.classes) }

// Targets is the length of the target vector of an example; 0 for
// classification.
func (s *Dataset) Targets() int { return s.source.targets() }

// SequenceLength is the number of labels of an example: the length of its sequence for
// a set that [Windows] has made, else 0.
func (s *Dataset) SequenceLength() int {
	if q, ok := s.source.(sequences); ok {
		return q.sequenceLength()
	}
	return 0
}

// labelShape is the shape of the labels of n examples.
func (s *Dataset) labelShape(n int) []int {
	if length := s.SequenceLength(); length > 0 {
		return []int{n, length}
	}
	return []int{n}
}

// Label is the class index of example i, of a sequence the first, and 0 in a set for regression. Like
// indexing a slice, it panics when i is not in [0, Len).
func (s *Dataset) Label(i int) int { return s.source.label(s.at(i)) }

// Target is the target vector of example i, and nil in a set for
// classification. It panics when i is not in [0, Len).
func (s *Dataset) Target(i int) []float32 {
	j := s.at(i)
	if s.source.targets() == 0 {
		return nil
	}
	dst := make([]float32, s.source.targets())
	s.source.target(j, dst)
	return dst
}

// Example is a copy of the numbers of example i in row-major order, scaled as
// they go into a batch, without the transforms of [Dataset.Map]. It panics when i is
// not in [0, Len), and with the error of reading where a file cannot be read.
func (s *Dataset) Example(i int) []float32 {
	dst := make([]float32, s.size())
	if err := s.source.example(s.at(i), dst); err != nil {
		panic(fmt.Errorf("data: example %d of %s: %w", i, s.name, err))
	}
	return dst
}

// Counts is the number of examples of each class.
func (s *Dataset) Counts() []int {
	counts := make([]int, len(s.classes))
	for i := range s.Len() {
		if c := s.Label(i); c < len(counts) {
			counts[c]++
		}
	}
	return counts
}

// Named returns the set under another name.
func (s *Dataset) Named(name string) *Dataset {
	t := *s
	t.name = name
	return &t
}

// WithClasses returns the set with names for its classes. It fails when there
// are fewer names than classes.
func (s *Dataset) WithClasses(names ...string) (*Dataset, error) {
	if len(names) < len(s.classes) {
		return nil, fmt.Errorf("data: %d class names for the %d classes of %s", len(names), len(s.classes), s.name)
	}
	t := *s
	t.classes = slices.Clone(names)
	return &t, nil
}

// Reshape returns the set with another shape for its examples, which must hold
// as many numbers: Reshape(1, 8, 8) makes images of vectors of 64.
func (s *Dataset) Reshape(shape ...int) (*Dataset, error) {
	n, ok := volume(shape)
	if !ok || n != s.size() {
		return nil, fmt.Errorf("data: examples of %s have shape %v, which cannot become %v", s.name, s.shape, shape)
	}
	for _, f := range s.transforms {
		if f.check != nil {
			if err := f.check(shape); err != nil {
				return nil, fmt.Errorf("data: %v for examples of shape %v: %w", f, shape, err)
			}
		}
	}
	t := *s
	t.shape = slices.Clone(shape)
	return &t, nil
}

// size is the number of elements of one example.
func (s *Dataset) size() int {
	n, _ := volume(s.shape)
	return n
}

// at is the index of example i in the source.
func (s *Dataset) at(i int) int {
	if i < 0 || i >= s.Len() {
		panic(fmt.Errorf("data: example %d of %s, which has %d", i, s.name, s.Len()))
	}
	if s.index != nil {
		return s.index[i]
	}
	return i
}

// volume is the number of elements of a shape; ok is false where a dimension
// is not positive or the product overflows.
func volume(shape []int) (n int, ok bool) {
	n = 1
	for _, d := range shape {
		if d <= 0 || n > maxElements/d {
			return 0, false
		}
		n *= d
	}
	return n, true
}

// maxElements bounds one example and one batch, far above any memory.
const maxElements = 1 << 40

// numbered are the class names "0", "1", … of sets that give none.
func numbered(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	return names
}
