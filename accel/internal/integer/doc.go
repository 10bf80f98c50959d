// Package integer describes models of 8-bit integers, which package quantize creates from
// layers, and which the devices run.
//
// A number x is a byte q with x ≈ step·(q - zero), a weight a signed byte with w ≈ step·q,
// one step for each output (Jacob et al., Quantization and Training of Neural Networks for
// Efficient Integer-Arithmetic-Only Inference, 2018). Products are added exactly, in 32
// bits.
//
// A [Network] is some layers one after the other, between whose first and last nothing is a
// float; [Weights] are those of a layer that computes with floats. Neither is changed once
// a device has seen it.
package integer
