package onnx

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
