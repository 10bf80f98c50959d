// Package integer describes models of 8-bit integers. Package quantize creates them from
// layers, and devices run them.
//
// An activation x is stored as a byte q with x ≈ step·(q - zero). A weight w is stored as a
// signed byte q with w ≈ step·q, with one step for each output (Jacob et al., Quantization
// and Training of Neural Networks for Efficient Integer-Arithmetic-Only Inference, 2018).
// Dot products are computed exactly, in 32-bit integers.
//
// A [Network] is a sequence of layers that pass bytes to each other; only its output is
// float32. [Weights] are the 8-bit weights of a layer that computes in floating point.
// Neither may be changed after a device has used it.
package integer
