package data

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"golang.org/x/exp/mmap"
)

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
	m := &mapped{name: images, images: pixels, offset: offset, labels: make([]byte, count[0])}
	if _, err := names.ReadAt(m.labels, at); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("data: %s: %w", labels, err)
	}
	classes := 0
	for _, c := range m.labels {
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
	wrong := func(want, format string, got ...any) error {
		return &FormatError{Format: "IDX", Path: path, Want: want, Got: fmt.Sprintf(format, got...)}
	}
	var header [4 + 4*idxDimensions]byte
	n, err := file.ReadAt(header[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, 0, fmt.Errorf("data: %s: %w", path, err)
	}
	switch {
	case n < 4 || header[0] != 0 || header[1] != 0:
		return nil, nil, 0, wrong("an uncompressed file that begins with two zero bytes", "% x", header[:min(n, 4)])
	case header[2] != idxUint8:
		return nil, nil, 0, wrong("elements of type 0x08 (unsigned byte)", "type 0x%02x", header[2])
	case header[3] < 1 || header[3] > idxDimensions || n < 4+4*int(header[3]):
		return nil, nil, 0, wrong(fmt.Sprintf("a header of 1 to %d dimensions", idxDimensions), "%d in %d bytes", header[3], n)
	}
	elements := int64(1)
	for i := range int(header[3]) {
		d := binary.BigEndian.Uint32(header[4+4*i:])
		if d > math.MaxInt32 || d > 0 && elements > maxElements/int64(d) {
			return nil, nil, 0, wrong("dimensions below 2 GiB in total", "dimension %d of size %d", i, d)
		}
		shape = append(shape, int(d))
		elements *= int64(d)
	}
	offset = int64(4 + 4*len(shape))
	if int64(file.Len()) != offset+elements {
		return nil, nil, 0, wrong(fmt.Sprintf("%d bytes for shape %v", offset+elements, shape), "%d", file.Len())
	}
	return file, shape, offset, nil
}

// mapped is a source of images in a memory-mapped file.
type mapped struct {
	labeling
	name   string // of the file
	images *mmap.ReaderAt
	offset int64
	size   int // bytes per example
	labels []byte
}

func (m *mapped) len() int { return len(m.labels) }

func (m *mapped) read(i int, v values) error {
	v.setLabel(int(m.labels[i]))
	if v.x == nil {
		return nil
	}
	var block [4096]byte
	for done := 0; done < m.size; {
		part := block[:min(len(block), m.size-done)]
		if _, err := m.images.ReadAt(part, m.offset+int64(i)*int64(m.size)+int64(done)); err != nil {
			return err
		}
		divide(v.x[done:][:len(part)], part, 255)
		done += len(part)
	}
	return nil
}

func (m *mapped) bytes(i int, dst []byte) error {
	_, err := m.images.ReadAt(dst, m.offset+int64(i)*int64(m.size))
	return err
}

func (m *mapped) highest() float32 { return 255 }

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
	var format *FormatError
	if errors.As(err, &format) {
		format.Path = examples
	}
	if err == nil && (len(h.shape) == 0 || h.shape[0] == 0) {
		err = &FormatError{Format: "NPY", Path: examples, Want: "examples [N, …], at least one", Got: fmt.Sprintf("shape %v", h.shape)}
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	y, err := readNPYFile(labels)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	set, labeled, err := labeled(h.shape, y)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	set.name = examples
	set.source = &mappedNPY{name: examples, floats: labeled, file: file, header: h, size: set.size()}
	return set, nil
}

// mappedNPY is a source of arrays in a memory-mapped file, with the labels and targets of
// another source.
type mappedNPY struct {
	*floats // the labels and targets
	name    string
	file    *mmap.ReaderAt
	header  *npyHeader
	size    int // elements per example
}

func (m *mappedNPY) len() int { return m.header.shape[0] }

func (m *mappedNPY) read(i int, v values) error {
	if err := m.readLabel(i, v); err != nil || v.x == nil {
		return err
	}
	dst := v.x
	var block [4096]byte
	element := npyTypes[m.header.name]
	at := int64(m.header.begin) + int64(i)*int64(m.size)*int64(element.size)
	for done := 0; done < m.size; {
		n := min(len(block)/element.size, m.size-done)
		part := block[:n*element.size]
		if _, err := m.file.ReadAt(part, at+int64(done*element.size)); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		for k := range n {
			if b := part[k*element.size:]; element.float != nil {
				dst[done+k] = element.float(b)
			} else {
				dst[done+k] = float32(element.integer(b))
			}
		}
		done += n
	}
	return nil
}
