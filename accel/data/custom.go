package data

import (
	"errors"
	"fmt"
	"slices"
)

// Source is a custom data set, like PyTorch's Dataset: any type that can read an example by its
// index. [FromSource] makes a [Dataset] of it.
type Source interface {
	// Len returns the number of examples. It must not change.
	Len() int
	// Example returns example i, from 0. The workers of [Batches] call it from several goroutines
	// at once, each time that a batch needs the example. An error ends the training with an
	// [*ExampleError].
	Example(i int) (Example, error)
}

// Example is an example of a [Source].
type Example struct {
	X       []float32 // all examples have the same length; the data set copies it
	Class   int       // class index; ignored if there are Targets
	Targets []float32 // for regression; all examples have the same length
}

// Labeler is a [Source] that knows the class of an example without reading it, so that
// [Dataset.Counts] or [Dataset.StratifiedSplit] need not read all examples.
type Labeler interface {
	// Label returns the class of example i, from 0.
	Label(i int) int
}

// ExampleError says that an example cannot be read, or that a model cannot take it.
type ExampleError struct {
	Dataset string // name of the data set
	Example int    // index in the data set
	Path    string // its file; "" if unknown
	Err     error  // the cause
}

// Error names the example and the reason.
func (e *ExampleError) Error() string {
	file := ""
	if e.Path != "" {
		file = " (" + e.Path + ")"
	}
	return fmt.Sprintf("data: example %d%s of %s: %v", e.Example, file, e.Dataset, e.Err)
}

// Unwrap returns the reason.
func (e *ExampleError) Unwrap() error { return e.Err }

// FromSource makes a data set that reads its examples from a source when batches need them. The
// classes are named by their indices; without names the examples have targets. Example 0 is read
// immediately, and the others must have the same lengths. Their shape is that length until
// [Dataset.Reshape] sets another one. To read each example only once, see [Dataset.Cached].
func FromSource(from Source, classes ...string) (*Dataset, error) {
	if from == nil {
		return nil, errors.New("data: FromSource: the source is nil")
	}
	if from.Len() < 1 {
		return nil, errors.New("data: FromSource: the source has no examples")
	}
	first, err := from.Example(0)
	if err != nil {
		return nil, &ExampleError{Dataset: "the source", Err: err}
	}
	switch {
	case len(first.X) == 0:
		return nil, errors.New("data: FromSource: X of example 0 is empty")
	case len(classes) == 0 && len(first.Targets) == 0:
		return nil, errors.New("data: FromSource: the examples have no targets: name the classes, as in FromSource(source, \"cat\", \"dog\")")
	case len(classes) > 0 && len(first.Targets) > 0:
		return nil, errors.New("data: FromSource: the examples have targets, so there are no classes: leave out their names")
	}
	c := &custom{from: from, width: len(first.X), classes: len(classes), outputs: len(first.Targets)}
	return &Dataset{name: "examples", shape: []int{c.width}, classes: slices.Clone(classes), source: c}, nil
}

// custom is a [Source] as a source.
type custom struct {
	from                    Source
	width, classes, outputs int
}

func (c *custom) len() int   { return c.from.Len() }
func (c *custom) form() form { return form{targets: c.outputs} }

func (c *custom) read(i int, v values) error {
	if l, ok := c.from.(Labeler); ok && v.x == nil && v.targets == nil {
		return c.setClass(v, l.Label(i))
	}
	e, err := c.from.Example(i)
	switch {
	case err != nil:
		return err
	case len(e.X) != c.width:
		return fmt.Errorf("it has %d values, but example 0 has %d", len(e.X), c.width)
	case len(e.Targets) != c.outputs:
		return fmt.Errorf("it has %d targets, but example 0 has %d", len(e.Targets), c.outputs)
	}
	copy(v.x, e.X)
	copy(v.targets, e.Targets)
	return c.setClass(v, e.Class)
}

func (c *custom) setClass(v values, class int) error {
	if c.classes > 0 && (class < 0 || class >= c.classes) {
		return fmt.Errorf("its class is %d, but the classes are 0 to %d", class, c.classes-1)
	}
	v.setLabel(class)
	return nil
}

func (c *custom) path(i int) string {
	if p, ok := c.from.(interface{ Path(i int) string }); ok {
		return p.Path(i)
	}
	return ""
}
