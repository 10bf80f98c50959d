package data

import (
	"errors"
	"fmt"
	"io"

	"golang.org/x/exp/mmap"
)

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
