// Package onnx exports models to ONNX files, which onnxruntime and other programs run without
// this module, and imports such files.
//
//	err := onnx.Export("digits.onnx", model, images)
//
// The model is called with inputs like the example, and the ops that it computes are recorded. A
// struct with a method Forward is therefore exported like an nn.Sequential, in packages and in
// notebook cells, whatever Go code it contains. [ExportFunc] exports a function with
// several inputs and outputs. [Build] returns the [Model], which displays its nodes.
//
// [Model.SaveTriton] adds the model to a model repository of Triton Inference Server.
//
// [Import] reads a file as a module, which may be run, trained and quantized here.
//
// # What is in the file
//
// Layers compute in evaluation mode: Dropout is removed, and BatchNorm uses its running
// statistics. Parameters have their names in nn.Save, nodes the names of their layers. Matrix
// multiplications, convolutions, pooling, norms and embeddings become the corresponding ONNX
// ops (Gemm or MatMul, Conv, MaxPool, LayerNormalization, Gather and so on). Attention and
// RMSNorm are written as several ops, because the single ops are newer than common runtimes.
// Files have opset 20 and IR version 9, supported by onnxruntime since 1.17. The tests run
// every layer and op in onnxruntime and compare the results.
//
// # Sizes
//
// The model is called with batches of 2, 3 and 5 examples, made from those of the example, and
// with two other sizes of each further axis named by [Axes]. Comparing the calls shows which
// sizes depend on others; the file computes these. If a size affects the model in any other way
// than through ops, or if the calls differ in more than sizes, the result is an [*Error]: for
// example an if or a loop in Go that depends on a size, random numbers, or state of the model.
// Reading values that depend on the input is an error, too. Behavior that these calls do not show,
// such as an if for batches larger than a hundred, is not in the file.
//
// # Element types
//
// A model is exported in the types of its parameters; an enclosing Autocast, or accel.AMP, has
// no effect. 16-bit floats are computed as here: in float32 with rounding. A file may have
// float64 ops that onnxruntime does not implement (Gelu and Conv); onnxruntime reports that
// when it opens the file. Weights quantized by quantize.WeightOnly are 8-bit integers in the file.
//
// A model of quantize.Static is written in the format of onnxruntime's own tools (QDQ):
// QuantizeLinear and DequantizeLinear around float ops, which onnxruntime computes with 8-bit
// integers where possible. A value half-way between two integers may be rounded differently, so
// results can differ by one scale step. On x86 without VNNI, onnxruntime adds pairs of products in
// 16 bits, which can overflow; its documentation describes this for all such files. Unlike in this
// module, NaN is not an error.
//
// Max, ArgMax, MaxPool2D and sorted elements with a NaN, and GELU of -Inf, give onnxruntime's results.
// Indices are not checked: ONNX counts negative ones from the end.
//
// # How the package works
//
// [Columns] computes the input of a model from the columns of a table.
//
// sizes.go plans the calls, trace.go makes them, graph.go joins them, emit.go writes nodes with
// the table in convert.go, wire.go writes the bytes, triton.go the folders of a model repository. Each op of accel/internal/engine/ir has a row in
// that table or in the table unsupported, which a test checks. A converter may write nodes that turn
// out to be part of a larger op: nodes that no output needs are removed at the end.
//
// For Import, read.go reads the bytes, import_build.go checks the nodes against the table in
// import_table.go and computes what is constant, import_layers.go has the layers, also those with several outputs, and
// import_value.go has the values of a run: tensors,
// and integers such as sizes that are known in Go.
package onnx
