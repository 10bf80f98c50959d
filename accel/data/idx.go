package data

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"golang.org/x/exp/mmap"
)

// IDX is an array of bytes in the file format of MNIST: a header of big-endian 32-bit words,
// followed by the elements in row-major order.
//
// The format is described at http://yann.lecun.com/exdb/mnist/: two zero bytes, the element
// type, the number of dimensions, then one word per dimension.
type IDX struct {
	Shape []int  // number of elements in each dimension
	Data  []byte // in row-major order
}

// FormatError says that a file does not conform to its format.
type FormatError struct {
	Format string // IDX
	Path   string // path of the file; empty if unknown
	Line   int    // of a text file, from 1; 0 if unknown
	Column string // of a table; empty if unknown
	Record int    // of a TFRecord file, from 1; 0 for other files
	Want   string // what was expected
	Got    string // what was found
}

func (e *FormatError) Error() string {
	where := e.Format + " data"
	if e.Path != "" {
		where = e.Path
	}
	if e.Line > 0 {
		where += fmt.Sprintf(", line %d", e.Line)
	}
	if e.Column != "" {
		where += fmt.Sprintf(", column %q", e.Column)
	}
	if e.Record > 0 {
		where += fmt.Sprintf(", record %d", e.Record)
	}
	return fmt.Sprintf("data: %s: want %s, got %s", where, e.Want, e.Got)
}

// inFile returns an error that names the file, if it is one of the format.
func inFile(err error, path string) error {
	if format, ok := errors.AsType[*FormatError](err); ok {
		format.Path = path
	}
	return err
}

const (
	idxUint8      = 0x08 // element type: unsigned byte
	idxDimensions = 8    // more than any data set has
)

// ReadIDX reads an array of unsigned bytes in IDX format up to the end of r. Anything else is a
// [*FormatError]: another element type, a header whose size does not match the data, or a size
// that overflows.
func ReadIDX(r io.Reader) (*IDX, error) { return readIDX(r, func([]int) error { return nil }) }

// readIDX calls a function to check the shape before it reads the elements.
func readIDX(r io.Reader, wanted func(shape []int) error) (*IDX, error) {
	shape, elements, err := readIDXHeader(r, "a file", "fewer than 2 GiB of elements", math.MaxInt32)
	if err != nil {
		return nil, err
	}
	if err := wanted(shape); err != nil {
		return nil, err
	}
	r, meter := withProgress(r, "reading IDX data", elements)
	defer meter.End()
	// The buffer grows with the data read, not with the size in the header.
	var data bytes.Buffer
	n, err := data.ReadFrom(io.LimitReader(r, elements))
	if err != nil {
		return nil, fmt.Errorf("data: reading IDX elements: %w", err)
	}
	if n < elements {
		return nil, idxError(fmt.Sprintf("%d elements for shape %v", elements, shape), "%d", n)
	}
	if n, err := io.ReadFull(r, make([]byte, 1)); n > 0 {
		return nil, idxError(fmt.Sprintf("the end after %d elements", elements), "more bytes")
	} else if err != io.EOF {
		return nil, fmt.Errorf("data: reading IDX elements: %w", err)
	}
	return &IDX{Shape: shape, Data: data.Bytes()}, nil
}

// readIDXHeader returns the shape and the number of elements, up to most. file and limit are what is wanted, for errors.
func readIDXHeader(r io.Reader, file, limit string, most int64) (shape []int, elements int64, err error) {
	var magic [4]byte
	if err := idxFull(r, magic[:], "a header of 4 bytes"); err != nil {
		return nil, 0, err
	}
	if magic[0] != 0 || magic[1] != 0 {
		return nil, 0, idxError(file+" that begins with two zero bytes", "% x", magic[:2])
	}
	if magic[2] != idxUint8 {
		return nil, 0, idxError("elements of type 0x08 (unsigned byte)", "type 0x%02x", magic[2])
	}
	if magic[3] < 1 || magic[3] > idxDimensions {
		return nil, 0, idxError(fmt.Sprintf("1 to %d dimensions", idxDimensions), "%d", magic[3])
	}
	words := make([]byte, 4*int(magic[3]))
	if err := idxFull(r, words, fmt.Sprintf("%d dimensions of 4 bytes", magic[3])); err != nil {
		return nil, 0, err
	}
	shape, elements = make([]int, magic[3]), 1
	for i := range shape {
		d := binary.BigEndian.Uint32(words[4*i:])
		if d > math.MaxInt32 || d > 0 && elements > most/int64(d) {
			return nil, 0, idxError(limit, "dimension %d of size %d", i, d)
		}
		shape[i] = int(d)
		elements *= int64(d)
	}
	return shape, elements, nil
}

func idxFull(r io.Reader, dst []byte, want string) error {
	n, err := io.ReadFull(r, dst)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return idxError(want, "%d bytes", n)
	}
	if err != nil {
		return fmt.Errorf("data: reading the IDX header: %w", err)
	}
	return nil
}

func idxError(want, format string, got ...any) error {
	return &FormatError{Format: "IDX", Want: want, Got: fmt.Sprintf(format, got...)}
}

// OpenIDX opens an uncompressed IDX file of images, of shape [N, H, W] or [N, C, H, W], and one
// of their labels. The images are memory-mapped and read when batches need them, so they may be
// larger than memory; pixels are scaled from 0 … 255 to [0, 1]. The files must not change while
// the data set is in use; they are closed when the data set is garbage collected.
//
// An invalid file is a [*FormatError].
func OpenIDX(images, labels string) (*Dataset, error) {
	pixels, shape, offset, err := mapIDX(images)
	if err != nil {
		return nil, err
	}
	names, count, at, err := mapIDX(labels)
	if err != nil {
		return nil, err
	}
	if len(count) != 1 || count[0] != shape[0] {
		return nil, &FormatError{Format: "IDX", Path: labels, Want: fmt.Sprintf("%d labels", shape[0]), Got: fmt.Sprintf("shape %v", count)}
	}
	m := &mapped{name: images, count: shape[0], file: pixels, begin: offset, element: npyTypes["|u1"], highest: 255}
	m.small = make([]byte, count[0])
	if _, err := names.ReadAt(m.small, at); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("data: %s: %w", labels, err)
	}
	classes := 0
	for _, c := range m.small {
		classes = max(classes, int(c)+1)
	}
	example := shape[1:]
	if len(shape) == 3 {
		example = []int{1, shape[1], shape[2]}
	}
	size, ok := volume(example)
	if !ok || len(example) != 3 {
		return nil, &FormatError{Format: "IDX", Path: images, Want: "images of shape [N H W] or [N C H W]", Got: fmt.Sprint(shape)}
	}
	m.size = size
	return &Dataset{name: images, shape: example, classes: numberedClasses(classes), source: m}, nil
}

// mapIDX maps a file and reads its header: the shape, and the offset of the elements.
func mapIDX(path string) (file *mmap.ReaderAt, shape []int, offset int64, err error) {
	opened, err := mmap.Open(path)
	if err != nil {
		return nil, nil, 0, fmt.Errorf("data: %w", err)
	}
	file = opened
	defer func() {
		if err != nil {
			opened.Close()
		}
	}()
	all := io.NewSectionReader(file, 0, int64(file.Len()))
	shape, elements, err := readIDXHeader(all, "an uncompressed file", "dimensions below 2 GiB in total", maxElements)
	if err != nil {
		return nil, nil, 0, inFile(err, path)
	}
	offset = int64(4 + 4*len(shape))
	if int64(file.Len()) != offset+elements {
		return nil, nil, 0, inFile(idxError(fmt.Sprintf("%d bytes for shape %v", offset+elements, shape), "%d", file.Len()), path)
	}
	return file, shape, offset, nil
}

// mapped is a source of arrays in a memory-mapped file.
type mapped struct {
	answers
	name    string // of the file
	file    *mmap.ReaderAt
	begin   int64 // of the elements
	element npyElement
	count   int     // examples
	size    int     // elements per example
	highest float32 // bytes are divided by this; 0 for values that are used unchanged
}

func (m *mapped) len() int { return m.count }

func (m *mapped) form() form {
	f := m.answers.form()
	f.memory, f.highest = false, m.highest
	return f
}

func (m *mapped) read(i int, v values) error {
	m.answers.read(i, &v)
	at := m.begin + int64(i)*int64(m.size)*int64(m.element.size)
	if v.bytes != nil {
		if _, err := m.file.ReadAt(v.bytes, at); err != nil {
			return err
		}
	}
	if v.x == nil {
		return nil
	}
	if m.highest == 0 {
		return m.elements(v.x, at)
	}
	var block [4096]byte
	for done := 0; done < m.size; {
		part := block[:min(len(block), m.size-done)]
		if _, err := m.file.ReadAt(part, at+int64(done)); err != nil {
			return err
		}
		divide(v.x[done:][:len(part)], part, m.highest)
		done += len(part)
	}
	return nil
}

// elements reads the elements at an offset.
func (m *mapped) elements(x []float32, at int64) error {
	raw := make([]byte, len(x)*m.element.size)
	if _, err := m.file.ReadAt(raw, at); err != nil {
		return err
	}
	for k := range x {
		if b := raw[k*m.element.size:]; m.element.float != nil {
			x[k] = m.element.float(b)
		} else {
			x[k] = float32(m.element.integer(b))
		}
	}
	return nil
}

// OpenNPY is [NPY] for examples that may be larger than memory: their file is memory-mapped and
// read when batches need it; the labels are read immediately. Integer values are not scaled: an
// image of bytes has values from 0 to 255. The files must not change while the data set is in
// use; they are closed when the data set is garbage collected.
func OpenNPY(examples, labels string) (*Dataset, error) {
	file, err := mmap.Open(examples)
	if err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	h, err := readNPYHeader(file, int64(file.Len()))
	if err == nil && (len(h.shape) == 0 || h.shape[0] == 0) {
		err = &FormatError{Format: "NPY", Want: "examples [N, …], at least one", Got: fmt.Sprintf("shape %v", h.shape)}
	}
	if err != nil {
		return nil, errors.Join(inFile(err, examples), file.Close())
	}
	y, err := readNPYFile(labels)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	set, a, err := labeled(h.shape, y)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	set.name = examples
	set.source = &mapped{answers: a, name: examples, file: file, begin: int64(h.begin), element: npyTypes[h.name], count: h.shape[0], size: set.size()}
	return set, nil
}
