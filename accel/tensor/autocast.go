package tensor

import "github.com/quernlab/quern/accel/internal/ir"

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

// castPolicy says in which type an op computes under Autocast.
type castPolicy uint8

const (
	cast16Bit    castPolicy = iota + 1 // in the 16-bit type of Autocast
	castFloat32                        // in float32
	castToWidest                       // in the widest type of the inputs
)

// castPolicies are the policies by op: PyTorch's lists for CUDA (ATen/autocast_mode.h), which
// testdata/autocast.json holds. An op without a policy is not cast.
var castPolicies = map[string]castPolicy{
	"MatMul": cast16Bit, "Linear": cast16Bit, "Conv2D": cast16Bit, "Attention": cast16Bit,

	"Exp": castFloat32, "Log": castFloat32, "Pow": castFloat32, "PowScalar": castFloat32,
	"Softmax": castFloat32, "LogSoftmax": castFloat32, "LogSumExp": castFloat32,
	"Sum": castFloat32, "CumSum": castFloat32, "Norm": castFloat32,
	"LayerNorm": castFloat32, "RMSNorm": castFloat32,
	"CrossEntropy": castFloat32, "MSE": castFloat32,

	"IndexAdd": castToWidest, "Concat": castToWidest,
}

// autocast casts an op's inputs to the type that its policy demands; lower is the 16-bit type. Integers and float64 are not
// cast.
func autocast(r *ir.Recorder, lower DType, op string, in []*ir.Value) []*ir.Value {
	to := Float32
	switch castPolicies[op] {
	case cast16Bit:
		to = lower
	case castFloat32:
	case castToWidest:
		if _, to = has16Bit(in); to != Float32 {
			return in // all have one type
		}
	default:
		return in
	}
	for i, v := range in {
		if d := v.DType(); d != to && (d == Float32 || d.Is16Bit()) {
			in[i] = r.Record(ir.Cast{To: to}, v)
		}
	}
	return in
}

// followsFirst reports whether an op's result has the type of its first input,
// whatever the type of its parameters.
func followsFirst(op string) bool { return op == "BatchNorm" }
