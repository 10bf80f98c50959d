package data

import "github.com/quernlab/quern/accel/internal/cpu"

// source provides the examples of a data set. Several goroutines may call its methods at once.
type source interface {
	len() int
	form() form
	// read writes example i to v. It fails if it cannot read a file, or if the code of the user
	// fails.
	read(i int, v values) error
}

// form is the kind of labels that the examples of a source have: one class each for the zero value.
type form struct {
	targets   int  // length of a target vector, for regression
	sequence  int  // classes per example, for sequences
	ignores   bool // some positions of the sequences have the class Ignored
	packed    bool // an example has several sequences
	unlabeled bool // the classes of the examples are unknown
}

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

	positions []int // of packed sequences
	// loader has the seed and the epoch from which a source draws random numbers; nil outside of batches.
	loader *loader
}

// labeling is a form with one class per example, for the sources that have no other labels.
type labeling struct{}

func (labeling) form() form { return form{} }

// setLabel writes the class of an example that has one.
func (v values) setLabel(class int) {
	if len(v.labels) > 0 {
		v.labels[0] = class
	}
}

// held is a source whose examples are in the memory of the host.
type held interface{ inMemory() bool }

func (*floats) inMemory() bool    { return true }
func (*pixels) inMemory() bool    { return true }
func (*sequences) inMemory() bool { return true }
func (*packed) inMemory() bool    { return true }
func (*windows) inMemory() bool   { return true }
func (*series) inMemory() bool    { return true }
func (v *view) inMemory() bool    { return v.set.InMemory() }
func (*cached) inMemory() bool    { return false } // what is not in the cache is read

func (j *joined) inMemory() bool {
	for i := range j.parts {
		if !j.parts[i].InMemory() {
			return false
		}
	}
	return true
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

// padded is a source of sequences that are padded at the end.
type padded interface {
	length(i int) int // of example i; 0 if the examples of a wrapped source are not padded
	positions() int   // to which all are padded
}

// lengthOf returns the length of a padded sequence of a source, 0 for other examples.
func lengthOf(s source, i int) int {
	if p, ok := s.(padded); ok {
		return p.length(i)
	}
	return 0
}

// positionsOf returns the number of positions to which the sequences of a source are padded.
func positionsOf(s source) int {
	if p, ok := s.(padded); ok {
		return p.positions()
	}
	return 0
}

// view is a data set as a source, without its transforms.
type view struct{ set Dataset }

func (v *view) len() int                    { return v.set.Len() }
func (v *view) wrapped() *Dataset           { return &v.set }
func (v *view) form() form                  { return v.set.source.form() }
func (v *view) read(i int, to values) error { return v.set.source.read(v.set.at(i), to) }
func (v *view) path(i int) string           { return pathOf(v.set.source, v.set.at(i)) }
func (v *view) length(i int) int            { return lengthOf(v.set.source, v.set.at(i)) }
func (v *view) positions() int              { return positionsOf(v.set.source) }

// pixels is a source of images stored as bytes, a quarter of the size of float32.
type pixels struct {
	labeling
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

func (p *pixels) read(i int, v values) error {
	if v.x != nil {
		divide(v.x, p.data[i*p.size:(i+1)*p.size], p.top)
	}
	v.setLabel(int(p.labels[i]))
	return nil
}

// divide scales bytes to floats.
func divide(x []float32, pixels []byte, highest float32) { cpu.DivideBytes(x, pixels, highest) }

func (p *pixels) bytes(i int, dst []byte) error { //nolint:unparam // other sources read files
	copy(dst, p.data[i*p.size:(i+1)*p.size])
	return nil
}

func (p *pixels) highest() float32 { return p.top }
