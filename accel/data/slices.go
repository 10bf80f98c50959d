package data

import (
	"fmt"
	"math"
	"slices"
)

// FromSlices makes a set for classification of the caller's own examples, one
// slice an example, and their class indices from 0. The numbers are copied and
// used as they are. All examples must have the same length; the shape of one
// is that length until [Set.Reshape] gives another.
func FromSlices(examples [][]float32, labels []int) (*Set, error) {
	if len(examples) != len(labels) {
		return nil, fmt.Errorf("data: %d examples, but %d labels", len(examples), len(labels))
	}
	numbers, width, err := flatten("example", examples)
	if err != nil {
		return nil, err
	}
	classes := 0
	for i, c := range labels {
		if c < 0 || c > math.MaxInt32 {
			return nil, fmt.Errorf("data: label %d of example %d: labels are class indices from 0", c, i)
		}
		classes = max(classes, c+1)
	}
	if classes > maxClasses {
		return nil, fmt.Errorf("data: the highest label is %d: labels are class indices from 0 to %d", classes-1, maxClasses-1)
	}
	return &Set{
		name:    "examples",
		shape:   []int{width},
		classes: numbered(classes),
		source:  &floats{width: width, data: numbers, labels: slices.Clone(labels)},
	}, nil
}

// maxClasses guards against labels that are no class indices at all.
const maxClasses = 1 << 20

// FromTargets makes a set for regression: each example has a vector of targets
// instead of a class. The numbers are copied and used as they are.
func FromTargets(examples, targets [][]float32) (*Set, error) {
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
	return &Set{
		name:   "examples",
		shape:  []int{width},
		source: &floats{width: width, data: numbers, outputs: outputs, wanted: wanted},
	}, nil
}

// flatten copies rows of one length behind each other.
func flatten(what string, rows [][]float32) (numbers []float32, width int, err error) {
	if len(rows) == 0 || len(rows[0]) == 0 {
		return nil, 0, fmt.Errorf("data: no %ss, or the first is empty", what)
	}
	width = len(rows[0])
	numbers = make([]float32, 0, len(rows)*width)
	for i, row := range rows {
		if len(row) != width {
			return nil, 0, fmt.Errorf("data: %s %d has %d numbers, those before it %d", what, i, len(row), width)
		}
		numbers = append(numbers, row...)
	}
	return numbers, width, nil
}

// floats is a source of float32 examples with labels or targets.
type floats struct {
	width  int // of an example
	data   []float32
	labels []int // nil for regression

	outputs int // width of a target
	wanted  []float32
}

func (f *floats) len() int { return len(f.data) / f.width }

func (f *floats) example(i int, dst []float32) { copy(dst, f.data[i*f.width:(i+1)*f.width]) }

func (f *floats) label(i int) int {
	if f.labels == nil {
		return 0
	}
	return f.labels[i]
}

func (f *floats) target(i int, dst []float32) {
	copy(dst, f.wanted[i*f.outputs:(i+1)*f.outputs])
}

func (f *floats) targets() int { return f.outputs }
