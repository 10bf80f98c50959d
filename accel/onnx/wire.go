package onnx

import (
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
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
	attributeFloat  = 1
	attributeInt    = 2
	attributeString = 3
	attributeInts   = 7
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
