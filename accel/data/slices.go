package data

import (
	"errors"
	"fmt"
	"slices"

	"github.com/quernlab/quern/accel/tensor"
)

// FromSlices makes a data set for classification from the caller's examples, one slice per
// example, and their class indices from 0. The values are copied and used unchanged. All
// examples must have the same length, which is their shape until [Dataset.Reshape] sets another
// one.
func FromSlices(examples [][]float32, labels []int) (*Dataset, error) {
	if len(examples) != len(labels) {
		return nil, fmt.Errorf("data: %d examples, but %d labels", len(examples), len(labels))
	}
	numbers, width, err := flatten("example", examples)
	if err != nil {
		return nil, err
	}
	classes, err := countClasses(labels)
	if err != nil {
		return nil, err
	}
	return &Dataset{
		name:    "examples",
		shape:   []int{width},
		classes: numberedClasses(classes),
		source:  &floats{answers{labels: slices.Clone(labels)}, width, numbers},
	}, nil
}

// maxClasses detects labels that are not class indices.
const maxClasses = 1 << 20

// FromTargets makes a data set for regression: each example has a vector of targets instead of
// a class. The values are copied and used unchanged.
func FromTargets(examples, targets [][]float32) (*Dataset, error) {
	if len(examples) != len(targets) {
		return nil, fmt.Errorf("data: %d examples, but %d targets", len(examples), len(targets))
	}
	numbers, width, err := flatten("example", examples)
	if err != nil {
		return nil, err
	}
	wanted, outputs, err := flatten("target", targets)
	if err != nil {
		return nil, err
	}
	return &Dataset{
		name:   "examples",
		shape:  []int{width},
		source: &floats{answers{outputs: outputs, wanted: wanted}, width, numbers},
	}, nil
}

// FromTensors makes a data set from tensors: x is [N, shape of one example…], y is either class
// indices, integers of shape [N], or targets, floats of shape [N, targets]. The values are
// copied.
//
// Integers of shape [N, T] are a class at each of T positions, which may be [Ignored]; a model then has
// the outputs [N, T, C]. The positions may be the pixels of images. A convolution returns [N, C, H, W],
// which Reshape(n, c, h*w).Permute(0, 2, 1) rearranges.
func FromTensors(x, y *tensor.Tensor) (*Dataset, error) {
	if x == nil || y == nil {
		return nil, errors.New("data: FromTensors: a tensor is nil")
	}
	s, a, err := labeled(x.Shape(), y)
	if err != nil {
		return nil, err
	}
	s.source = &floats{a, s.size(), x.Data()}
	return s, nil
}

// labeled makes a data set with this shape of examples, [N, …], without its source, and returns its labels or targets.
func labeled(shape []int, y *tensor.Tensor) (s *Dataset, a answers, err error) {
	labels := y.Shape()
	if len(shape) == 0 || len(labels) == 0 || shape[0] != labels[0] {
		return nil, a, fmt.Errorf("data: tensors of shape %v and %v: the first dimension of both must be the number of examples", shape, labels)
	}
	example := shape[1:]
	if len(example) == 0 {
		example = []int{1}
	}
	if _, ok := volume(example); !ok {
		return nil, a, fmt.Errorf("data: examples of shape %v have no elements", example)
	}
	s = &Dataset{name: "examples", shape: slices.Clone(example)}
	switch {
	case y.DType().IsFloat() && len(labels) == 2 && labels[1] > 0:
		return s, answers{outputs: labels[1], wanted: y.Data()}, nil
	case !y.DType().IsFloat() && (len(labels) == 1 || len(labels) == 2 && labels[1] > 0):
		if len(labels) == 2 {
			a.sequence = labels[1]
		}
		a.labels = y.Ints()
		n, err := a.countClasses()
		s.classes = numberedClasses(n)
		return s, a, err
	}
	return nil, a, fmt.Errorf("data: %v labels of shape %v: want class indices, integers of shape [N] or [N, T], or targets, floats of shape [N, targets]; for segmentation, reshape masks of images [N, H, W] to [N, H*W], and let the model return [N, H*W, C], which Reshape(n, c, h*w).Permute(0, 2, 1) makes of [N, C, H, W]", y.DType(), labels)
}

// countClasses returns one more than the highest label.
func countClasses(labels []int) (int, error) {
	classes := 0
	for i, c := range labels {
		if c < 0 || c >= maxClasses {
			return 0, fmt.Errorf("data: label %d of example %d: labels are class indices from 0 to %d", c, i, maxClasses-1)
		}
		classes = max(classes, c+1)
	}
	return classes, nil
}

// flatten concatenates rows of equal length.
func flatten(what string, rows [][]float32) (numbers []float32, width int, err error) {
	if len(rows) == 0 || len(rows[0]) == 0 {
		return nil, 0, fmt.Errorf("data: there are no %ss, or %s 0 has no values", what, what)
	}
	width = len(rows[0])
	numbers = make([]float32, 0, len(rows)*width)
	for i, row := range rows {
		if len(row) != width {
			return nil, 0, fmt.Errorf("data: %s %d has %d values, but those before it have %d", what, i, len(row), width)
		}
		numbers = append(numbers, row...)
	}
	return numbers, width, nil
}

// answers are the classes or the targets of examples in memory.
type answers struct {
	labels   []int  // nil for regression
	small    []byte // instead, for classes of bytes, which need an eighth of the cache; nil for others
	sequence int    // labels per example of a sequence; 0 for one class each
	ignores  bool   // some labels are Ignored

	outputs int // length of a target vector
	wanted  []float32
}

// floats is a source of float32 examples with labels or targets.
type floats struct {
	answers
	width int // elements per example
	data  []float32
}

// countClasses is countClasses of the labels, of which those of sequences may be Ignored.
func (a *answers) countClasses() (int, error) {
	if a.sequence == 0 {
		return countClasses(a.labels)
	}
	classes, ignores, err := countPositionClasses(a.labels)
	if err != nil {
		err = fmt.Errorf("data: %w", err)
	}
	a.ignores = ignores
	return classes, err
}

func (a *answers) form() form {
	return form{targets: a.outputs, sequence: a.sequence, ignores: a.ignores, memory: true}
}

// read writes the class or the targets of example i.
func (a *answers) read(i int, v *values) {
	switch {
	case a.small != nil:
		v.setLabel(int(a.small[i]))
	case a.sequence > 0:
		copy(v.labels, a.labels[i*a.sequence:(i+1)*a.sequence])
	case a.labels != nil:
		v.setLabel(a.labels[i])
	}
	copy(v.targets, a.wanted[i*a.outputs:(i+1)*a.outputs])
}

func (f *floats) len() int { return len(f.data) / f.width }

func (f *floats) read(i int, v values) error {
	copy(v.x, f.data[i*f.width:(i+1)*f.width])
	f.answers.read(i, &v)
	return nil
}
