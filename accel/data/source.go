package data

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/quernlab/quern/accel/internal/cpu"
)

// source provides the examples of a data set. Several goroutines may call its methods at once.
type source interface {
	len() int
	form() form
	// read writes example i to v. It fails if it cannot read a file, or if the code of the user
	// fails.
	read(i int, v values) error
}

// form is what the examples of a source have: one class each, read from somewhere else than memory, for the zero value.
type form struct {
	targets   int  // length of a target vector, for regression
	sequence  int  // classes per example, for sequences
	ignores   bool // some positions of the sequences have the class Ignored
	packed    bool // an example has several sequences
	unlabeled bool // the classes of the examples are unknown

	memory    bool    // the examples are in the memory of the host
	random    bool    // they may depend on the random numbers of an epoch
	highest   float32 // the values are bytes, which are divided by this, and the source writes values.bytes; 0 for others
	positions int     // to which sequences of different lengths are padded; 0 for other examples
	padding   int     // the token after such sequences, and after packed ones
}

// pads reports whether there are tokens after the sequences.
func (f form) pads() bool { return f.positions > 0 || f.packed }

// labels returns the number of classes per example; 0 for regression, and if they are unknown.
func (f form) labels() int {
	if f.targets > 0 || f.unlabeled {
		return 0
	}
	return max(f.sequence, 1)
}

// values are where a source writes an example. It need not compute those that are nil.
type values struct {
	x       []float32 // in row-major order
	labels  []int
	targets []float32

	bytes     []byte // x before the division, if the form has a highest byte
	positions []int  // of packed sequences
	// loader has the seed and the epoch from which a source draws random numbers; nil outside of batches.
	loader *loader
}

// setLabel writes the class of an example that has one.
func (v values) setLabel(class int) {
	if len(v.labels) > 0 {
		v.labels[0] = class
	}
}

// pathed is a source whose examples are files.
type pathed interface{ path(i int) string }

// pathOf returns the file of example i of a source, "" if it has none.
func pathOf(s source, i int) string {
	if p, ok := s.(pathed); ok {
		return p.path(i)
	}
	return ""
}

// padded is a source of sequences of different lengths.
type padded interface {
	length(i int) int // of example i; 0 if the examples of a wrapped source are not padded
}

// lengthOf returns the length of a padded sequence of a source, 0 for other examples.
func lengthOf(s source, i int) int {
	if p, ok := s.(padded); ok {
		return p.length(i)
	}
	return 0
}

// view is a data set as a source, without its transforms.
type view struct{ set Dataset }

func (v *view) len() int                    { return v.set.Len() }
func (v *view) wrapped() *Dataset           { return &v.set }
func (v *view) read(i int, to values) error { return v.set.source.read(v.set.at(i), to) }
func (v *view) path(i int) string           { return pathOf(v.set.source, v.set.at(i)) }
func (v *view) length(i int) int            { return lengthOf(v.set.source, v.set.at(i)) }

func (v *view) form() form {
	f := v.set.source.form()
	f.highest = 0 // a view may change the values
	return f
}

// pixels is a source of images stored as bytes, a quarter of the size of float32.
type pixels struct {
	size   int // bytes per example
	data   []byte
	labels []byte
	top    float32 // bytes are divided by this
}

// newPixels scales pixels from 0 … highest to [0, 1].
func newPixels(size int, data, labels []byte, highest float32) *pixels {
	return &pixels{size: size, data: data, labels: labels, top: highest}
}

func (p *pixels) len() int { return len(p.labels) }

func (p *pixels) form() form { return form{memory: true, highest: p.top} }

func (p *pixels) read(i int, v values) error {
	from := p.data[i*p.size : (i+1)*p.size]
	copy(v.bytes, from)
	if v.x != nil {
		divide(v.x, from, p.top)
	}
	v.setLabel(int(p.labels[i]))
	return nil
}

// divide scales bytes to floats.
func divide(x []float32, pixels []byte, highest float32) { cpu.DivideBytes(x, pixels, highest) }

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

// Cached returns the data set with a cache of its examples in memory, for sources that are slow to
// read, such as files of images. The examples are kept as they are after the transforms of
// [Dataset.Map] so far, which run only once for each; those that are mapped afterwards run in each
// epoch. Examples that do not fit into the given number of bytes are read each time: since an epoch
// uses each example once, none is replaced by another.
//
// Transforms that draw random numbers would be the same in each epoch, so Cached fails for those of
// this package: map them after Cached.
func (s *Dataset) Cached(bytes int) (*Dataset, error) {
	if bytes < 0 {
		return nil, fmt.Errorf("data: Cached(%d): the number of bytes must not be negative", bytes)
	}
	for _, t := range s.transforms {
		if t.random {
			return nil, fmt.Errorf("data: Cached of %s: %v must differ in each epoch: map it after Cached", s.name, t)
		}
	}
	if s.source.form().random {
		return nil, fmt.Errorf("data: Cached of %s: its examples draw random numbers and must differ in each epoch: call Cached before Derive", s.name)
	}
	if s.resident != nil {
		return nil, fmt.Errorf("data: Cached: the examples of %s are already in memory, on the device", s.name)
	}
	c := &cached{view: view{*s}, limit: bytes, examples: map[int]values{}}
	if len(s.transforms) == 0 {
		c.highest = s.source.form().highest
	}
	t := *s
	t.source, t.index, t.transforms, t.shape = c, nil, nil, s.Shape()
	return &t, nil
}

// cached is a data set with its transforms as a source with a cache.
type cached struct {
	view
	highest float32 // of the bytes that are kept; 0 for floats
	limit   int

	mu       sync.Mutex
	used     int
	examples map[int]values
}

func (c *cached) form() form {
	f := c.view.form()
	f.memory = false // what is not in the cache is read
	return f
}

func (c *cached) read(i int, v values) error {
	c.mu.Lock()
	e, known := c.examples[i]
	c.mu.Unlock()
	if !known && v.x == nil {
		return c.view.read(i, v) // only the labels
	}
	if !known {
		form := c.form()
		e = values{labels: make([]int, form.labels()), targets: make([]float32, form.targets)}
		if form.packed {
			e.positions = make([]int, form.sequence)
		}
		if err := c.fill(i, &e, len(v.x)); err != nil {
			return err
		}
		c.keep(i, e)
	}
	copy(v.labels, e.labels)
	copy(v.targets, e.targets)
	copy(v.positions, e.positions)
	if v.x != nil && e.bytes != nil {
		divide(v.x, e.bytes, c.highest)
	} else {
		copy(v.x, e.x)
	}
	return nil
}

// fill reads example i from the data set.
func (c *cached) fill(i int, e *values, size int) error {
	if c.highest > 0 {
		e.bytes = make([]byte, size)
		return c.view.read(i, *e)
	}
	e.x = make([]float32, size)
	return c.set.readTransformed(i, *e, &loader{})
}

// keep stores an example if it fits.
func (c *cached) keep(i int, e values) {
	c.mu.Lock()
	defer c.mu.Unlock()
	size := len(e.bytes) + 4*len(e.x)
	if _, known := c.examples[i]; !known && c.used+size <= c.limit {
		c.examples[i] = e
		c.used += size
	}
}
