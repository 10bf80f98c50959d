package onnx

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
)

// elementSizes are the bytes of an element of the types that can be imported.
var elementSizes = map[elementType]int{
	elementFloat: 4, elementDouble: 8, elementFloat16: 2, elementBFloat16: 2,
	elementInt32: 4, elementInt64: 8, elementUint8: 1, elementInt8: 1, elementBool: 1,
}

// readTensor reads a TensorProto. External data are in the folder; there may be none if it is "".
func readTensor(m message, folder string) (weight, error) {
	var w weight
	var words []uint64
	size, outside := 0, map[string]string(nil)
	err := m.each("TensorProto", func(e entry) (err error) {
		switch e.number {
		case 1:
			w.shape, err = e.ints(w.shape)
		case 2:
			w.element = elementType(e.word)
		case 8:
			w.name = string(e.bytes)
		case 9:
			w.raw = e.bytes
		case 4: // floats
			words, err = e.words(words, 4)
			size = 4
		case 10: // doubles
			words, err = e.words(words, 8)
			size = 8
		case 5, 7: // int32_data, also of the smaller types, and int64_data
			words, err = e.words(words, 0)
			size = 0
		case 6, 11:
			err = unsupported("a tensor of strings or unsigned integers")
		case 13:
			err = readEntry(e.bytes, &outside)
		case 14:
			if e.word == 1 && outside == nil {
				outside = map[string]string{}
			}
		}
		return err
	})
	if err == nil {
		err = w.complete(words, size, outside, folder)
	}
	if err != nil {
		err = fmt.Errorf("tensor %q: %w", w.name, err)
	}
	return w, err
}

// readEntry adds a StringStringEntryProto to a map.
func readEntry(m message, to *map[string]string) error {
	var key, value string
	err := m.each("StringStringEntryProto", func(e entry) error {
		switch e.number {
		case 1:
			key = string(e.bytes)
		case 2:
			value = string(e.bytes)
		}
		return nil
	})
	if *to == nil {
		*to = map[string]string{}
	}
	(*to)[key] = value
	return err
}

// complete sets the raw data of a tensor, which the file may have in another form, and checks their
// size.
func (w *weight) complete(words []uint64, size int, outside map[string]string, folder string) error {
	each, ok := elementSizes[w.element]
	if !ok {
		return unsupported("element type %d of TensorProto", w.element)
	}
	n, err := elementCount(w.shape)
	if err != nil {
		return err
	}
	switch {
	case outside != nil && folder != "":
		if err := w.readOutside(outside, folder, n, each); err != nil {
			return err
		}
	case outside != nil:
		return unsupported("external data of an attribute")
	case len(words) > 0:
		for _, v := range words {
			w.raw = appendWord(w.raw, v, each)
		}
		if size != 0 && size != each {
			return malformed("its numbers have %d bytes, want %d", size, each)
		}
	}
	if len(w.raw)%each != 0 || len(w.raw)/each != n {
		return malformed("it has %d bytes, but the shape %v needs %d elements of %d bytes", len(w.raw), w.shape, n, each)
	}
	return nil
}

// elementCount returns the number of elements of a shape, at most 2³¹.
func elementCount(shape []int) (int, error) {
	n, empty := 1, false
	for _, d := range shape {
		if d < 0 || d > 1<<31 {
			return 0, malformed("its shape is %v", shape)
		}
		if d == 0 {
			empty = true
			continue
		}
		if n *= d; n > 1<<31 {
			return 0, malformed("its shape %v is too large", shape)
		}
	}
	if empty {
		return 0, nil
	}
	return n, nil
}

// appendWord appends the lowest bytes of a word.
func appendWord(b []byte, v uint64, bytes int) []byte {
	word := binary.LittleEndian.AppendUint64(nil, v)
	return append(b, word[:bytes]...)
}

// readOutside reads n elements of external data.
func (w *weight) readOutside(at map[string]string, folder string, n, each int) error {
	location := filepath.FromSlash(at["location"])
	if !filepath.IsLocal(location) {
		return malformed("its data are in %q, which is not below the folder of the model", at["location"])
	}
	var offset int64
	if text := at["offset"]; text != "" {
		var err error
		if offset, err = strconv.ParseInt(text, 10, 64); err != nil || offset < 0 {
			return malformed("the offset of its data is %q", text)
		}
	}
	if text := at["length"]; text != "" && text != fmt.Sprint(n*each) {
		return malformed("it has %s bytes of data, but the shape %v needs %d", text, w.shape, n*each)
	}
	f, err := os.Open(filepath.Join(folder, location))
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if offset > info.Size() || int64(n)*int64(each) > info.Size()-offset {
		return malformed("its data are at byte %d of %s, which has only %d", offset, location, info.Size())
	}
	w.raw = make([]byte, n*each)
	if _, err := f.ReadAt(w.raw, offset); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}
