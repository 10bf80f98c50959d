// Package quantize makes models smaller and faster with 8-bit integers.
//
//	small, err := quantize.Static(ctx, model, train)      // calibrates with some examples
//	result, err := accel.Evaluate(ctx, small, test)       // it is a model like any other
//	report, err := small.Report(ctx, test)                // size, accuracy, speed, worst layers
//	err = small.Save("small.safetensors")
//	err = onnx.Export("small.onnx", small, images)        // for onnxruntime, also with 8-bit integers
//
// [Static] quantizes weights and activations after training: weights to int8 with a scale per
// output, activations to uint8 with one scale and zero point per tensor, whose range is found by
// running examples through the model. Matrix multiplications accumulate exactly in int32 on every
// CPU. In an nn.Sequential, convolutions and linear layers with the BatchNorm, ReLU, MaxPool2D and
// Flatten between them compute in 8 bits from end to end; elsewhere each layer is quantized
// separately. Layers without an 8-bit implementation stay float, and the report gives the reason.
//
// [WeightOnly] quantizes only the weights of linear layers, which are converted to floats when
// they are used. This reduces memory traffic for models whose speed is limited by reading
// weights, such as a GPT that generates text, and needs no examples.
//
// A quantized model always computes in evaluation mode, on the CPU, and cannot be trained. It
// uses the original model, whose Forward it calls: do not change that model; see
// [ChangedError].
package quantize
