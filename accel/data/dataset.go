package data

import (
	"errors"
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
	shape   []int    // shape of one example before the transforms
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

// Len returns the number of examples.
func (s *Dataset) Len() int {
	if s.index != nil {
		return len(s.index)
	}
	return s.source.len()
}

// Name returns the name of the data set.
func (s *Dataset) Name() string { return s.name }

// Shape returns the shape of one example of a batch without the batch dimension: [1 28 28] for a
// gray image, channels first.
func (s *Dataset) Shape() []int {
	shape := slices.Clone(s.shape)
	for _, t := range s.transforms {
		if t.resize != nil {
			shape = t.resize(shape)
		}
	}
	return shape
}

// Classes returns the names of the classes by class index. It is empty for regression.
func (s *Dataset) Classes() []string { return slices.Clone(s.classes) }

// Targets returns the length of a target vector; 0 for classification.
func (s *Dataset) Targets() int { return s.source.form().targets }

// InMemory reports whether the examples are in the memory of this process, so that [Dataset.Example] and
// [Dataset.Label] only copy values. It is false for files, also those that are mapped into memory, for a
// [Source], and with [Dataset.Cached].
func (s *Dataset) InMemory() bool { return s.source.form().memory }

// Unlabeled reports whether the classes of the examples are unknown, as in a data set of
// [OpenUnlabeledImages]. A model can predict them; training and evaluation need labels, which
// [Dataset.WithLabels] adds.
func (s *Dataset) Unlabeled() bool { return s.source.form().unlabeled }

var errUnlabeled = errors.New("it has no label: add labels with WithLabels, or label examples in a pool of package active")

// SequenceLength returns the number of labels per example: the length of the longest sequence for a
// data set with a class at each position, made by [Windows], [TokenClasses] or [FromTensors],
// otherwise 0.
func (s *Dataset) SequenceLength() int { return s.source.form().sequence }

// Ignored is the class of positions of sequences that losses and metrics leave out, such as the
// padding, the question of a dialog whose answer is learned, or all but the first token of a word. It
// is the one that nn.IgnoreIndex has by default in PyTorch.
const Ignored = -100

// Ignores reports whether positions of the sequences may have the class [Ignored]. The default loss
// and the metrics of accel.Fit and Evaluate then leave them out; other losses need the option
// nn.IgnoreIndex(data.Ignored).
func (s *Dataset) Ignores() bool { return s.source.form().ignores }

// positions returns the number of positions to which sequences of different lengths are padded; 0 for other examples.
func (s *Dataset) positions() int { return s.source.form().positions }

// labelShape returns the shape of the labels of n examples.
func (s *Dataset) labelShape(n int) []int {
	if length := s.SequenceLength(); length > 0 {
		return []int{n, length}
	}
	return []int{n}
}

// Label returns the class index of example i, for a sequence the first one, and 0 for
// regression. It panics if i is not in [0, Len), like indexing a slice, or with an
// [*ExampleError] if the example cannot be read or has no label; see [Dataset.Unlabeled].
func (s *Dataset) Label(i int) int {
	labels := make([]int, s.source.form().labels())
	if s.Unlabeled() {
		panic(s.exampleError(i, errUnlabeled))
	}
	if len(labels) == 0 {
		s.at(i)
		return 0
	}
	s.mustRead(i, values{labels: labels})
	return labels[0]
}

// Target returns the target vector of example i, or nil for classification. It panics as
// [Dataset.Label] does.
func (s *Dataset) Target(i int) []float32 {
	if s.Targets() == 0 {
		s.at(i)
		return nil
	}
	dst := make([]float32, s.Targets())
	s.mustRead(i, values{targets: dst})
	return dst
}

// Example returns a copy of the values of example i in row-major order, scaled as in a batch,
// but without the transforms of [Dataset.Map]. It panics as [Dataset.Label] does.
func (s *Dataset) Example(i int) []float32 {
	dst := make([]float32, s.size())
	s.mustRead(i, values{x: dst})
	return dst
}

// Path returns the file of example i of a data set of [Images] or [OpenImages], or of a [Source]
// with a method Path(i int) string; "" for others. It panics if i is not in [0, Len).
func (s *Dataset) Path(i int) string { return pathOf(s.source, s.at(i)) }

// mustRead reads example i without transforms, and panics with an [*ExampleError].
func (s *Dataset) mustRead(i int, v values) {
	if err := s.source.read(s.at(i), v); err != nil {
		panic(s.exampleError(i, err))
	}
}

// exampleError says that example i cannot be read.
func (s *Dataset) exampleError(i int, err error) error {
	return &ExampleError{Dataset: s.name, Example: i, Path: s.Path(i), Err: err}
}

// Counts returns the number of examples per class, zeros if they are unknown.
func (s *Dataset) Counts() []int {
	counts := make([]int, len(s.classes))
	if s.Unlabeled() {
		return counts
	}
	for i := range s.Len() {
		if c := s.Label(i); c >= 0 && c < len(counts) {
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
	if s.positions() > 0 && !slices.Equal(shape, s.shape) {
		return nil, fmt.Errorf("data: Reshape of %s: %w", s.name, errPadded)
	}
	if s.source.form().packed && !slices.Equal(shape, s.shape) {
		return nil, fmt.Errorf("data: Reshape of %s: %w", s.name, errPacked)
	}
	if err := checkTransforms(s.transforms, shape); err != nil {
		return nil, err
	}
	t := *s
	t.shape = slices.Clone(shape)
	return &t, nil
}

// size returns the number of elements of one example before the transforms.
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
