package onnx

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
)

// file is the content of an ONNX file.
type file struct {
	Model
	opset int
	outs  [][]string // all outputs of each node by position, "" for one that is not used
}

// message is an unread protobuf message.
type message []byte

// entry is a field of a message: a number or bytes.
type entry struct {
	number protowire.Number
	kind   protowire.Type
	word   uint64
	bytes  message
}

// fields says what to do with each field of a message, by its number. Others are passed over.
type fields map[protowire.Number]func(f entry) error

// read reads a message called name.
func (m message) read(name string, known fields) error {
	for len(m) > 0 {
		number, kind, n := protowire.ConsumeTag(m)
		if n < 0 {
			return malformed("%s: %v", name, protowire.ParseError(n))
		}
		m = m[n:]
		f := entry{number: number, kind: kind}
		if f.word, f.bytes, n = consume(number, kind, m); n < 0 {
			return malformed("field %d of %s: %v", number, name, protowire.ParseError(n))
		}
		m = m[n:]
		if set := known[number]; set != nil {
			if err := set(f); err != nil {
				return err
			}
		}
	}
	return nil
}

// consume reads the value of a field, a number or bytes, and returns its length in the message, which is negative for an error.
func consume(number protowire.Number, kind protowire.Type, m message) (word uint64, bytes message, n int) {
	switch kind {
	case protowire.VarintType:
		word, n = protowire.ConsumeVarint(m)
	case protowire.Fixed32Type:
		var w uint32
		w, n = protowire.ConsumeFixed32(m)
		word = uint64(w)
	case protowire.Fixed64Type:
		word, n = protowire.ConsumeFixed64(m)
	case protowire.BytesType:
		bytes, n = protowire.ConsumeBytes(m)
	default:
		n = protowire.ConsumeFieldValue(number, kind, m)
	}
	return word, bytes, n
}

// words appends the numbers of a repeated field, which may be packed. kind is that of each number.
func (f entry) words(to []uint64, kind protowire.Type) ([]uint64, error) {
	if f.kind != protowire.BytesType {
		return append(to, f.word), nil
	}
	for b := f.bytes; len(b) > 0; {
		w, _, n := consume(f.number, kind, b)
		if n < 0 {
			return nil, malformed("packed field %d: %v", f.number, protowire.ParseError(n))
		}
		to, b = append(to, w), b[n:]
	}
	return to, nil
}

// ints appends the integers of a repeated field.
func (f entry) ints(to []int) ([]int, error) {
	words, err := f.words(nil, protowire.VarintType)
	for _, w := range words {
		to = append(to, int(int64(w)))
	}
	return to, err
}

// text, texts, number and list store a field, and add stores a message that read reads.
func text(to *string) func(entry) error {
	return func(f entry) error { *to = string(f.bytes); return nil }
}

func texts(to *[]string) func(entry) error {
	return func(f entry) error { *to = append(*to, string(f.bytes)); return nil }
}

func number[T ~int](to *T) func(entry) error {
	return func(f entry) error { *to = T(int64(f.word)); return nil }
}

func list(to *[]int) func(entry) error {
	return func(f entry) (err error) { *to, err = f.ints(*to); return err }
}

func add[T any](to *[]T, read func(m message) (T, error)) func(entry) error {
	return func(f entry) error {
		v, err := read(f.bytes)
		*to = append(*to, v)
		return err
	}
}

// refused is an error for a field that is not supported.
func refused(format string, arguments ...any) func(entry) error {
	return func(entry) error { return unsupported(format, arguments...) }
}

// readFile reads a ModelProto. External data are in the folder.
func readFile(b []byte, folder string) (*file, error) {
	f := &file{}
	var graph message
	more := refused("a file with training information or functions")
	err := message(b).read("ModelProto", fields{
		7:  func(e entry) error { graph = append(graph, e.bytes...); return nil }, // protobuf merges repeated messages
		8:  func(e entry) error { return f.readOpset(e.bytes) },
		20: more, 25: more,
	})
	switch {
	case err != nil:
		return nil, err
	case graph == nil:
		return nil, malformed("it has no graph")
	case f.opset < oldestOpset || f.opset > opsetVersion:
		return nil, unsupported("opset %d (supported are %d to %d)", f.opset, oldestOpset, opsetVersion)
	}
	return f, f.readGraph(graph, folder)
}

// oldestOpset is the first in which Squeeze, Unsqueeze and ReduceSum have their axes as an input.
const oldestOpset = 13

func (f *file) readOpset(m message) error {
	domain, version := "", 0
	err := m.read("OperatorSetIdProto", fields{1: text(&domain), 2: number(&version)})
	if domain == "" || domain == "ai.onnx" {
		f.opset = version
	}
	return err
}

func (f *file) readGraph(m message, folder string) error {
	return m.read("GraphProto", fields{
		1: func(e entry) error {
			n, outs, err := readNode(e.bytes)
			f.nodes, f.outs = append(f.nodes, n), append(f.outs, outs)
			return err
		},
		2:  text(&f.name),
		5:  add(&f.Model.weights, func(m message) (weight, error) { return readTensor(m, folder) }),
		11: add(&f.inputs, readPort),
		12: add(&f.outputs, readPort),
		15: refused("a sparse initializer"),
	})
}

func readNode(m message) (n operator, outs []string, err error) {
	domain := ""
	err = m.read("NodeProto", fields{
		1: texts(&n.in), 2: texts(&outs), 3: text(&n.name), 4: text(&n.op), 5: add(&n.attributes, readAttribute), 7: text(&domain),
	})
	for i := 0; i < len(outs) && n.out == ""; i++ {
		n.out = outs[i]
	}
	if n.name == "" {
		n.name = n.out
	}
	switch {
	case err != nil:
	case domain != "" && domain != "ai.onnx":
		err = unsupported("the domain %q", domain)
	case n.out == "":
		err = malformed("a node has no output")
	}
	if err != nil {
		err = &ImportError{Node: n.name, Op: n.op, Err: err}
	}
	return n, outs, err
}

func readAttribute(m message) (a attribute, err error) {
	var floats []float64
	var ints []int
	var strings []string
	kind := 0
	known := fields{
		1: text(&a.name),
		2: func(e entry) error { a.value = float64(math.Float32frombits(uint32(e.word))); return nil },
		3: func(e entry) error { a.value = int(int64(e.word)); return nil },
		4: func(e entry) error { a.value = string(e.bytes); return nil },
		5: func(e entry) (err error) { a.value, err = readTensor(e.bytes, ""); return err },
		7: func(e entry) error {
			words, err := e.words(nil, protowire.Fixed32Type)
			for _, w := range words {
				floats = append(floats, float64(math.Float32frombits(uint32(w))))
			}
			return err
		},
		8:  list(&ints),
		9:  texts(&strings),
		20: number(&kind),
	}
	for _, other := range []protowire.Number{6, 10, 11, 14, 15, 21, 22, 23} {
		known[other] = func(entry) error {
			return unsupported("attribute %q of this type (field %d of AttributeProto)", a.name, other)
		}
	}
	err = m.read("AttributeProto", known)
	switch { // numbers that are 0 and empty lists may be omitted
	case kind == attributeInts:
		a.value = ints
	case kind == 6:
		a.value = floats
	case kind == attributeStrings:
		a.value = strings
	case a.value == nil && kind == attributeInt:
		a.value = 0
	case a.value == nil && kind == attributeFloat:
		a.value = 0.0
	case a.value == nil && kind == attributeString:
		a.value = ""
	case err == nil && a.value == nil:
		err = malformed("attribute %q has no value", a.name)
	}
	return a, err
}

func readPort(m message) (p port, err error) {
	dimension := func(m message) (d dimension, err error) {
		err = m.read("Dimension", fields{1: func(e entry) error { d.size, d.known = int(int64(e.word)), true; return nil }, 2: text(&d.name)})
		return d, err
	}
	shape := func(e entry) error {
		p.ranked = true
		return e.bytes.read("TensorShapeProto", fields{1: add(&p.shape, dimension)})
	}
	tensor := func(e entry) error {
		return e.bytes.read("TypeProto.Tensor", fields{1: number(&p.element), 2: shape})
	}
	kind := func(e entry) error { return e.bytes.read("TypeProto", fields{1: tensor}) }
	err = m.read("ValueInfoProto", fields{1: text(&p.name), 2: kind})
	if err == nil && p.name == "" {
		err = malformed("an input or output has no name")
	}
	if err != nil {
		err = fmt.Errorf("input or output %q: %w", p.name, err)
	}
	return p, err
}

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
	numbers := func(bytes int, kind protowire.Type) func(entry) error {
		return func(e entry) (err error) {
			words, err = e.words(words, kind)
			size = bytes
			return err
		}
	}
	integers := numbers(0, protowire.VarintType)
	other := refused("a tensor of strings or unsigned integers")
	err := m.read("TensorProto", fields{
		1: list(&w.shape), 2: number(&w.element), 8: text(&w.name),
		9: func(e entry) error { w.raw = e.bytes; return nil },
		4: numbers(4, protowire.Fixed32Type), 10: numbers(8, protowire.Fixed64Type), // floats, doubles
		5: integers, 7: integers, // int32_data, also of the smaller types, and int64_data
		6: other, 11: other,
		13: func(e entry) error { return readEntry(e.bytes, &outside) },
		14: func(e entry) error {
			if e.word == 1 && outside == nil {
				outside = map[string]string{}
			}
			return nil
		},
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
	err := m.read("StringStringEntryProto", fields{1: text(&key), 2: text(&value)})
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
