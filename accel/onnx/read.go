package onnx

import (
	"fmt"
	"math"

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

// each calls visit for each field of a message called name.
func (m message) each(name string, visit func(f entry) error) error {
	for len(m) > 0 {
		number, kind, n := protowire.ConsumeTag(m)
		if n < 0 {
			return malformed("%s: %v", name, protowire.ParseError(n))
		}
		m = m[n:]
		f := entry{number: number, kind: kind}
		switch kind {
		case protowire.VarintType:
			f.word, n = protowire.ConsumeVarint(m)
		case protowire.Fixed32Type:
			var w uint32
			w, n = protowire.ConsumeFixed32(m)
			f.word = uint64(w)
		case protowire.Fixed64Type:
			f.word, n = protowire.ConsumeFixed64(m)
		case protowire.BytesType:
			var b []byte
			b, n = protowire.ConsumeBytes(m)
			f.bytes = b
		default:
			n = protowire.ConsumeFieldValue(number, kind, m)
		}
		if n < 0 {
			return malformed("field %d of %s: %v", number, name, protowire.ParseError(n))
		}
		m = m[n:]
		if err := visit(f); err != nil {
			return err
		}
	}
	return nil
}

// words appends the numbers of a repeated field, which may be packed. size is that of a fixed number
// in bytes, 0 for varints.
func (f entry) words(to []uint64, size int) ([]uint64, error) {
	if f.kind != protowire.BytesType {
		return append(to, f.word), nil
	}
	for b := f.bytes; len(b) > 0; {
		var w uint64
		var n int
		switch size {
		case 4:
			var w32 uint32
			w32, n = protowire.ConsumeFixed32(b)
			w = uint64(w32)
		case 8:
			w, n = protowire.ConsumeFixed64(b)
		default:
			w, n = protowire.ConsumeVarint(b)
		}
		if n < 0 {
			return nil, malformed("packed field %d: %v", f.number, protowire.ParseError(n))
		}
		to, b = append(to, w), b[n:]
	}
	return to, nil
}

// ints appends the integers of a repeated field.
func (f entry) ints(to []int) ([]int, error) {
	words, err := f.words(nil, 0)
	for _, w := range words {
		to = append(to, int(int64(w)))
	}
	return to, err
}

// readFile reads a ModelProto. External data are in the folder.
func readFile(b []byte, folder string) (*file, error) {
	f := &file{}
	var graph message
	err := message(b).each("ModelProto", func(e entry) error {
		switch e.number {
		case 7:
			graph = append(graph, e.bytes...) // protobuf merges repeated messages
		case 8:
			return f.readOpset(e.bytes)
		case 20, 25:
			return unsupported("a file with training information or functions")
		}
		return nil
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
	err := m.each("OperatorSetIdProto", func(e entry) error {
		switch e.number {
		case 1:
			domain = string(e.bytes)
		case 2:
			version = int(e.word)
		}
		return nil
	})
	if domain == "" || domain == "ai.onnx" {
		f.opset = version
	}
	return err
}

func (f *file) readGraph(m message, folder string) error {
	return m.each("GraphProto", func(e entry) (err error) {
		switch e.number {
		case 1:
			var n operator
			var outs []string
			n, outs, err = readNode(e.bytes)
			f.nodes, f.outs = append(f.nodes, n), append(f.outs, outs)
		case 2:
			f.name = string(e.bytes)
		case 5:
			var w weight
			w, err = readTensor(e.bytes, folder)
			f.Model.weights = append(f.Model.weights, w)
		case 11, 12:
			var p port
			p, err = readPort(e.bytes)
			if e.number == 11 {
				f.inputs = append(f.inputs, p)
			} else {
				f.outputs = append(f.outputs, p)
			}
		case 15:
			err = unsupported("a sparse initializer")
		}
		return err
	})
}

func readNode(m message) (n operator, outs []string, err error) {
	domain := ""
	err = m.each("NodeProto", func(e entry) error {
		switch e.number {
		case 1:
			n.in = append(n.in, string(e.bytes))
		case 2:
			if outs = append(outs, string(e.bytes)); n.out == "" {
				n.out = string(e.bytes)
			}
		case 3:
			n.name = string(e.bytes)
		case 4:
			n.op = string(e.bytes)
		case 5:
			a, err := readAttribute(e.bytes)
			n.attributes = append(n.attributes, a)
			return err
		case 7:
			domain = string(e.bytes)
		}
		return nil
	})
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
	kind := 0
	err = m.each("AttributeProto", func(e entry) (err error) {
		switch e.number {
		case 1:
			a.name = string(e.bytes)
		case 2:
			a.value = float64(math.Float32frombits(uint32(e.word)))
		case 3:
			a.value = int(int64(e.word))
		case 4:
			a.value = string(e.bytes)
		case 5:
			var w weight
			w, err = readTensor(e.bytes, "")
			a.value = w
		case 7:
			var words []uint64
			words, err = e.words(nil, 4)
			for _, w := range words {
				floats = append(floats, float64(math.Float32frombits(uint32(w))))
			}
		case 8:
			ints, err = e.ints(ints)
		case 20:
			kind = int(e.word)
		case 6, 9, 10, 11, 14, 15, 21, 22, 23:
			err = unsupported("attribute %q of this type (field %d of AttributeProto)", a.name, e.number)
		}
		return err
	})
	switch { // numbers that are 0 and empty lists may be omitted
	case kind == attributeInts:
		a.value = ints
	case kind == 6:
		a.value = floats
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
	dimensions := func(e entry) error {
		if e.number != 1 {
			return nil
		}
		var d dimension
		err := e.bytes.each("Dimension", func(e entry) error {
			switch e.number {
			case 1:
				d.size, d.known = int(int64(e.word)), true
			case 2:
				d.name = string(e.bytes)
			}
			return nil
		})
		p.shape = append(p.shape, d)
		return err
	}
	err = m.each("ValueInfoProto", func(e entry) error {
		switch e.number {
		case 1:
			p.name = string(e.bytes)
		case 2:
			return e.bytes.each("TypeProto", func(e entry) error {
				if e.number != 1 {
					return nil
				}
				return e.bytes.each("TypeProto.Tensor", func(e entry) error {
					switch e.number {
					case 1:
						p.element = elementType(e.word)
					case 2:
						p.ranked = true
						return e.bytes.each("TensorShapeProto", dimensions)
					}
					return nil
				})
			})
		}
		return nil
	})
	if err == nil && p.name == "" {
		err = malformed("an input or output has no name")
	}
	if err != nil {
		err = fmt.Errorf("input or output %q: %w", p.name, err)
	}
	return p, err
}
