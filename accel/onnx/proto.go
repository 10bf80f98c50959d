package onnx

// The messages of ONNX that a model needs, with the numbers that onnx.proto gives
// their fields (github.com/onnx/onnx, onnx/onnx.proto3).

// Versions that are written: those of ONNX 1.15, which onnxruntime reads since 1.17
// of January 2024.
const (
	irVersion    = 9
	opsetVersion = 20 // the first with Gelu
)

// elementType is an element type by its number in TensorProto.DataType.
type elementType int

const (
	elementFloat    elementType = 1
	elementUint8    elementType = 2
	elementInt8     elementType = 3 // of quantised weights
	elementInt32    elementType = 6
	elementInt64    elementType = 7
	elementBool     elementType = 9
	elementFloat16  elementType = 10
	elementDouble   elementType = 11
	elementBFloat16 elementType = 16
)

// dimension is a size, or the name of one, or neither where it is not known.
type dimension struct {
	size  int
	name  string
	known bool
}

// port is an input or an output of the graph.
type port struct {
	name    string
	element elementType
	shape   []dimension
}

// weight is an initialiser: a tensor that is in the file.
type weight struct {
	name    string
	element elementType
	shape   []int
	raw     []byte // little-endian, row-major
}

// attribute is a parameter of a node: an int, a float64, a string or ints.
type attribute struct {
	name  string
	value any
}

// operator is a node of the graph.
type operator struct {
	name       string
	op         string
	in         []string // "" for an optional input that is left out
	out        string
	attributes []attribute
}
