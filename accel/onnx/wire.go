package onnx

import (
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/quernlab/quern/accel/tensor"
)

// external is the position of a weight's bytes in the data file.
type external struct{ offset, length int }

// appendModel appends the ModelProto. placed has the positions of the weights in the data file.
func (m *Model) appendModel(b []byte, location string, placed map[string]external) []byte {
	b = appendVarint(b, 1, irVersion)
	b = appendString(b, 2, "quern")
	b = appendMessage(b, 7, m.appendGraph(nil, location, placed))
	opset := appendVarint(appendString(nil, 1, ""), 2, opsetVersion)
	b = appendMessage(b, 8, opset)
	for _, n := range m.notes {
		b = appendMessage(b, 14, appendEntry(n[0], n[1]))
	}
	return b
}

// appendGraph appends the GraphProto.
func (m *Model) appendGraph(b []byte, location string, placed map[string]external) []byte {
	for _, n := range m.nodes {
		b = appendMessage(b, 1, n.appendNode(nil))
	}
	b = appendString(b, 2, m.name)
	for _, w := range m.weights {
		at, outside := placed[w.name]
		b = protowire.AppendTag(b, 5, protowire.BytesType)
		head := w.appendHead(nil)
		switch {
		case outside:
			head = appendMessage(head, 13, appendEntry("location", location))
			head = appendMessage(head, 13, appendEntry("offset", fmt.Sprint(at.offset)))
			head = appendMessage(head, 13, appendEntry("length", fmt.Sprint(at.length)))
			b = protowire.AppendBytes(b, appendVarint(head, 14, 1))
		case w.element == elementString:
			for _, text := range w.texts {
				head = appendString(head, 6, text)
			}
			b = protowire.AppendBytes(b, head)
		default:
			head = protowire.AppendTag(head, 9, protowire.BytesType)
			head = protowire.AppendVarint(head, uint64(len(w.raw)))
			b = protowire.AppendVarint(b, uint64(len(head)+len(w.raw)))
			b = append(append(b, head...), w.raw...)
		}
	}
	for _, p := range m.inputs {
		b = appendMessage(b, 11, p.appendValueInfo(nil))
	}
	for _, p := range m.outputs {
		b = appendMessage(b, 12, p.appendValueInfo(nil))
	}
	return b
}

// appendHead appends the TensorProto without its data.
func (w *weight) appendHead(b []byte) []byte {
	for _, d := range w.shape {
		b = appendVarint(b, 1, d)
	}
	b = appendVarint(b, 2, int(w.element))
	return appendString(b, 8, w.name)
}

// appendValueInfo appends the ValueInfoProto.
func (p *port) appendValueInfo(b []byte) []byte {
	var shape []byte
	for _, d := range p.shape {
		var dim []byte
		switch {
		case d.name != "":
			dim = appendString(dim, 2, d.name)
		case d.known:
			dim = appendVarint(dim, 1, d.size)
		}
		shape = appendMessage(shape, 1, dim)
	}
	tensor := appendMessage(appendVarint(nil, 1, int(p.element)), 2, shape)
	return appendMessage(appendString(b, 1, p.name), 2, appendMessage(nil, 1, tensor))
}

// appendNode appends the NodeProto.
func (n *operator) appendNode(b []byte) []byte {
	for _, in := range n.in {
		b = appendString(b, 1, in)
	}
	if n.op == "TopK" {
		b = appendString(b, 2, n.name+"_values") // which nothing uses
	}
	b = appendString(b, 2, n.out)
	b = appendString(b, 3, n.name)
	b = appendString(b, 4, n.op)
	for _, a := range n.attributes {
		b = appendMessage(b, 5, a.appendAttribute(nil))
	}
	return b
}

// The values of AttributeProto.AttributeType.
const (
	attributeFloat   = 1
	attributeInt     = 2
	attributeString  = 3
	attributeInts    = 7
	attributeStrings = 8
)

// appendAttribute appends the AttributeProto.
func (a *attribute) appendAttribute(b []byte) []byte {
	b = appendString(b, 1, a.name)
	switch v := a.value.(type) {
	case int:
		return appendVarint(appendVarint(b, 3, v), 20, attributeInt)
	case float64:
		b = protowire.AppendTag(b, 2, protowire.Fixed32Type)
		b = protowire.AppendFixed32(b, math.Float32bits(float32(v)))
		return appendVarint(b, 20, attributeFloat)
	case string:
		return appendVarint(appendString(b, 4, v), 20, attributeString)
	case []int:
		for _, n := range v {
			b = appendVarint(b, 8, n)
		}
		return appendVarint(b, 20, attributeInts)
	}
	panic(fmt.Sprintf("onnx: attribute %s is a %T, which appendAttribute cannot write", a.name, a.value)) // a bug in this package
}

// appendEntry appends a StringStringEntryProto.
func appendEntry(key, value string) []byte { return appendString(appendString(nil, 1, key), 2, value) }

func appendVarint(b []byte, field protowire.Number, v int) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), uint64(int64(v)))
}

func appendString(b []byte, field protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), s)
}

func appendMessage(b []byte, field protowire.Number, message []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), message)
}

// The protobuf messages of ONNX that a model needs, with the field numbers of onnx.proto
// (github.com/onnx/onnx, onnx/onnx.proto3).

// Versions in the file: those of ONNX 1.15, supported by onnxruntime since 1.17 (January 2024).
const (
	irVersion    = 9
	opsetVersion = 20 // the first with Gelu
)

// elementType is an element type, numbered as in TensorProto.DataType.
type elementType int

const (
	elementFloat    elementType = 1
	elementUint8    elementType = 2
	elementInt8     elementType = 3 // quantized weights
	elementInt32    elementType = 6
	elementInt64    elementType = 7
	elementString   elementType = 8 // categories
	elementBool     elementType = 9
	elementFloat16  elementType = 10
	elementDouble   elementType = 11
	elementBFloat16 elementType = 16
)

// dimension is a size, the name of one, or neither if unknown.
type dimension struct {
	size  int
	name  string
	known bool
	of    []string // names of the axes that the size depends on; not for imported ports
}

// port is an input or an output of the graph.
type port struct {
	name    string
	element elementType
	shape   []dimension
	ranked  bool // the file has the shape; only for imported ports
}

// weight is an initializer: a tensor in the file.
type weight struct {
	name    string
	element elementType
	shape   []int
	raw     []byte   // little-endian, row-major
	texts   []string // instead of raw, for strings
}

// attribute is an attribute of a node: an int, a float64, a string or ints. Imported ones may also be
// a weight or float64s.
type attribute struct {
	name  string
	value any
}

// operator is a node of the graph.
type operator struct {
	name       string
	op         string
	in         []string // "" for an omitted optional input
	out        string   // of TopK the second one, the indices
	attributes []attribute
}

// elements maps our element types to those of ONNX.
var elements = map[tensor.DType]elementType{
	tensor.Float32: elementFloat, tensor.Float64: elementDouble,
	tensor.Float16: elementFloat16, tensor.BFloat16: elementBFloat16,
	tensor.Int32: elementInt32, tensor.Int64: elementInt64,
	tensor.Uint8: elementUint8, tensor.Bool: elementBool,
}

// String returns the name of the type in ONNX.
func (e elementType) String() string {
	return map[elementType]string{
		elementFloat: "float", elementDouble: "double", elementFloat16: "float16", elementBFloat16: "bfloat16",
		elementInt32: "int32", elementInt64: "int64", elementUint8: "uint8", elementInt8: "int8", elementString: "string", elementBool: "bool",
	}[e]
}
