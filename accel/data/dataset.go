package data

import (
	"fmt"
	"slices"
	"strconv"
)

// Dataset is a fixed list of labeled examples of one shape. It is immutable: methods such as
// Split, Subset and Reshape return new data sets that share the data, so any goroutine may use
// a Dataset.
//
// In a data set for classification the label of each example is a class index. In one for
// regression (see [FromTargets]) it is a vector of targets.
type Dataset struct {
	name    string
	shape   []int    // shape of one example
	classes []string // nil for regression
	columns []string // names of the features; nil if unnamed

	targetNames []string // names of the targets; nil if unnamed

	source source
	// index maps examples of this data set to those of source; nil means the identity.
	index []int
	// transforms are applied when examples are put into a batch.
	transforms []Transform
	// resident holds the examples on the device, indexed like the source; nil without OnDevice.
	resident *resident
}

// source provides the values of a data set. Several goroutines may call its methods at once.
type source interface {
	len() int
	// example writes example i to dst, as float32 in row-major order. It can only fail if it
	// reads a file.
	example(i int, dst []float32) error
	// label returns the class of example i, or 0 for regression.
	label(i int) int
	// target writes the target vector of example i to dst.
	target(i int, dst []float32)
	// targets returns the length of a target vector; 0 for classification.
	targets() int
}

// sequences is a source whose examples have a label at each position.
type sequences interface {
	sequenceLength() int
	labels(i int, dst []int)
}

// Len returns the number of examples.
func (s *Dataset) Len() int {
	if s.index != nil {
		return len(s.index)
	}
	return s.source.len()
}

// Name returns the name of the data set.
func (s *Dataset) Name() string { return s.name }

// Shape returns the shape of one example without the batch dimension: [1 28 28] for a gray
// image, channels first.
func (s *Dataset) Shape() []int { return slices.Clone(s.shape) }

// Classes returns the names of the classes by class index. It is empty for regression.
func (s *Dataset) Classes() []string { return slices.Clone(s.classes) }

// Targets returns the length of a target vector; 0 for classification.
func (s *Dataset) Targets() int { return s.source.targets() }

// SequenceLength returns the number of labels per example: the length of the sequence for a
// data set made by [Windows], otherwise 0.
func (s *Dataset) SequenceLength() int {
	if q, ok := s.source.(sequences); ok {
		return q.sequenceLength()
	}
	return 0
}

// labelShape returns the shape of the labels of n examples.
func (s *Dataset) labelShape(n int) []int {
	if length := s.SequenceLength(); length > 0 {
		return []int{n, length}
	}
	return []int{n}
}

// Label returns the class index of example i, for a sequence the first one, and 0 for
// regression. It panics if i is not in [0, Len), like indexing a slice.
func (s *Dataset) Label(i int) int { return s.source.label(s.at(i)) }

// Target returns the target vector of example i, or nil for classification. It panics if i is
// not in [0, Len).
func (s *Dataset) Target(i int) []float32 {
	j := s.at(i)
	if s.source.targets() == 0 {
		return nil
	}
	dst := make([]float32, s.source.targets())
	s.source.target(j, dst)
	return dst
}

// Example returns a copy of the values of example i in row-major order, scaled as in a batch,
// but without the transforms of [Dataset.Map]. It panics if i is not in [0, Len), or with a
// read error of its file.
func (s *Dataset) Example(i int) []float32 {
	dst := make([]float32, s.size())
	if err := s.source.example(s.at(i), dst); err != nil {
		panic(fmt.Errorf("data: example %d of %s: %w", i, s.name, err))
	}
	return dst
}

// Counts returns the number of examples per class.
func (s *Dataset) Counts() []int {
	counts := make([]int, len(s.classes))
	for i := range s.Len() {
		if c := s.Label(i); c < len(counts) {
			counts[c]++
		}
	}
	return counts
}

// Named returns the data set with another name.
func (s *Dataset) Named(name string) *Dataset {
	t := *s
	t.name = name
	return &t
}

// WithClasses returns the data set with names for its classes. It fails if there are fewer
// names than classes.
func (s *Dataset) WithClasses(names ...string) (*Dataset, error) {
	if len(names) < len(s.classes) {
		return nil, fmt.Errorf("data: %d class names for the %d classes of %s: name each class", len(names), len(s.classes), s.name)
	}
	t := *s
	t.classes = slices.Clone(names)
	return &t, nil
}

// WithColumns returns the data set with names for its features, one for each value of an example. See
// [Dataset.Columns].
func (s *Dataset) WithColumns(names ...string) (*Dataset, error) {
	if len(names) != s.size() {
		return nil, fmt.Errorf("data: %d column names for the %d values of an example of %s: name each value", len(names), s.size(), s.name)
	}
	t := *s
	t.columns = slices.Clone(names)
	return &t, nil
}

// WithTargets returns the data set with names for its targets, one for each value of a target vector.
func (s *Dataset) WithTargets(names ...string) (*Dataset, error) {
	if len(names) != s.Targets() {
		return nil, fmt.Errorf("data: %d target names for the %d targets of %s: name each target", len(names), s.Targets(), s.name)
	}
	t := *s
	t.targetNames = slices.Clone(names)
	return &t, nil
}

// Reshape returns the data set with another shape for its examples, which must have the same
// number of elements: Reshape(1, 8, 8) turns vectors of 64 into images.
func (s *Dataset) Reshape(shape ...int) (*Dataset, error) {
	n, ok := volume(shape)
	if !ok || n != s.size() {
		return nil, fmt.Errorf("data: examples of %s have shape %v, which cannot be reshaped to %v: the number of elements must stay the same", s.name, s.shape, shape)
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

// size returns the number of elements of one example.
func (s *Dataset) size() int {
	n, _ := volume(s.shape)
	return n
}

// at returns the index of example i in the source.
func (s *Dataset) at(i int) int {
	if i < 0 || i >= s.Len() {
		panic(fmt.Errorf("data: there is no example %d in %s, which has %d examples", i, s.name, s.Len()))
	}
	if s.index != nil {
		return s.index[i]
	}
	return i
}

// volume returns the number of elements of a shape; ok is false if a dimension is not positive
// or the product overflows.
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

// maxElements limits one example and one batch, far above any memory size.
const maxElements = 1 << 40

// numberedClasses returns the class names "0", "1", … for data sets without names.
func numberedClasses(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	return names
}
