// Package quantize makes models smaller and faster by computing with 8-bit integers.
//
//	small, err := quantize.Static(ctx, model, train)      // looks at some examples
//	result, err := accel.Evaluate(ctx, small, test)       // and is a model as any other
//	report, err := small.Report(ctx, test)                // bytes, accuracy, speed, worst layers
//	err = small.Save("small.safetensors")
//	err = onnx.Export("small.onnx", small, images)        // for onnxruntime, with bytes there, too
//
// [Static] quantises weights and activations after training: weights to signed bytes
// with a step for each output, activations to unsigned bytes with one step and zero
// for a whole tensor, whose range is found by running examples through the model.
// Products are exact in 32 bits, on every processor. In a chain, convolutions and
// linear layers with the BatchNorm, ReLU, MaxPool2D and Flatten between them compute
// with bytes from end to end; elsewhere each layer by itself. What has no 8-bit form
// stays float and is listed in the report with the reason.
//
// [Weights] quantises the weights of linear layers alone. They become floats when
// they are used: less memory to read for models that wait for their weights, such as
// a GPT that writes, and no examples needed.
//
// A quantised model computes as in evaluation, on the processor, and cannot be
// trained. It uses the model that it was made of, whose own Forward runs: that model
// stays as it is, and must stay so; see [ChangedError].
package quantize
