// Package onnx writes models to files of ONNX, which onnxruntime and others run
// without this module.
//
//	err := onnx.Export("digits.onnx", model, images)
//
// The model is called with inputs of the example's kind, and what it computes is
// recorded, op by op; so a struct with a method Forward exports as a chain of layers
// does, in a package as well as in a notebook's cell, whatever Go it is written in.
// [ExportFunc] takes a function with several inputs and outputs. [Build] gives the
// [Model] itself, which shows its nodes.
//
// # What is in the file
//
// Layers compute as in evaluation: Dropout is gone, BatchNorm has its running means.
// Parameters have the names that nn.Save gives them, nodes those of their layers.
// Products, convolutions, pools, norms and embeddings become the ops that ONNX has
// for them (Gemm or MatMul, Conv, MaxPool, LayerNormalization, Gather and so on);
// attention and RMSNorm are written out, for the ops of that name are younger than
// what is common. Files are of opset 20 and IR version 9, which onnxruntime reads
// since 1.17. The tests have onnxruntime compute every layer and op, and compare.
//
// # Sizes
//
// The model is called with batches of 2, 3 and 5 examples made of those of the
// example, and with two other sizes of each further axis that [Axes] names. Sizes
// that follow are found by comparing the calls, and computed in the file. What
// follows from a size in other ways than ops do, and what differs between the calls
// beyond sizes, is an [*Error]: an if or a loop of Go that depends on a size, random
// numbers, a state that the model keeps. So is reading numbers that depend on the
// input. What cannot be seen in calls of these sizes, such as an if about batches of
// more than a hundred, is not in the file.
//
// # Element types
//
// A model is exported in the types of its parameters; Autocast outside of it, and
// accel.AMP, do not matter. 16-bit floats are computed as here: in float32, and
// rounded. A file may have ops in float64 that onnxruntime has no code for (Gelu and
// Conv); it says so when it opens the file. Weights that quantize.Weights has made
// bytes of are bytes in the file.
//
// What quantize.Static makes is written as onnxruntime's own tools write it (QDQ):
// QuantizeLinear and DequantizeLinear around ops on floats, which onnxruntime computes
// with bytes where it can. Where a number lies in the middle between two bytes it may
// take the other one, so that results differ by as much as a step of a byte here and
// there. Without VNNI it adds up pairs of products in 16 bits on x86, which can
// overflow; its documentation says so of all such files. NaN is not refused as here.
//
// The largest of several elements of which one is NaN (Max, ArgMax, MaxPool2D), and
// GELU of -Inf, are what onnxruntime makes of them. Indices are not checked as here:
// ONNX counts negative ones from the end.
//
// # For who changes this package
//
// sizes.go plans the calls, trace.go makes them, graph.go joins them, emit.go writes
// nodes by the table in convert.go, wire.go the bytes. Each op of accel/internal/ir
// has a row in that table or among the refusals, which a test looks at. A converter
// may write what turns out to be part of something larger: nodes that no output needs
// are left out at the end.
package onnx
