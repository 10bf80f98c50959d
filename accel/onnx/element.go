package onnx

import "github.com/quernlab/quern/accel/tensor"

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
