package tensor

import "github.com/quernlab/quern/accel/internal/engine/ir"

// Autocast runs f with automatic mixed precision, as torch.autocast does on a GPU: the ops that
// this goroutine records in f choose their element types. d is BFloat16 or Float16; Float32
// disables Autocast within f.
//
//   - MatMul, Linear, Conv2D and Attention cast their inputs to d and return d.
//   - Ops that lose too much precision in 16 bits (Exp, Log, Pow, sums and norms, Softmax,
//     LayerNorm, the losses) cast their inputs to float32 and return float32.
//   - IndexAdd and Concat cast to the widest type of their inputs.
//   - All other ops compute in the types of their inputs: float32 with d gives float32.
//
// Parameters and their gradients stay float32. float64 is not cast. Gradients are computed in the
// types of the forward pass, so Backward may be called outside of f. An op of 16-bit floats
// computes the float32 result and rounds it; matrix multiplications accumulate in float32, as
// tensor cores do. On the CPU this is slower than float32; training converges in the same way.
func Autocast(d DType, f func()) {
	if d != Float32 && !d.Is16Bit() {
		panic(&DTypeError{Op: "Autocast", DTypes: []DType{d}, Hint: "the type must be bfloat16, float16 or float32"})
	}
	withScope(func(s *scope) { s.cast, s.fp8 = d, false }, f)
}

// autocast casts an op's inputs to the type that its policy demands; lower is the 16-bit type.
// Integers and float64 are not cast. testdata/autocast.json has PyTorch's policies.
func autocast(r *ir.Recorder, lower DType, op named, in []*ir.Value) []*ir.Value {
	to := Float32
	switch ir.AutocastOf(op) {
	case ir.Cast16Bit:
		to = lower
	case ir.CastFloat32:
	case ir.CastWidest:
		if _, to = narrowest(in); to != Float32 {
			return in // all have one type
		}
	default:
		return in
	}
	for i, v := range in {
		if d := v.DType(); d != to && (d == Float32 || d.Is16Bit()) {
			in[i] = r.Round(v, to)
		}
	}
	return in
}
