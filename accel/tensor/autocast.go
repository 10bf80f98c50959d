package tensor

import "github.com/quernlab/quern/accel/internal/ir"

// Autocast runs f; the ops that this goroutine records meanwhile choose their
// element type by themselves, as under PyTorch's torch.autocast for a GPU. d is
// BFloat16 or Float16, or Float32 for no choice.
//
//   - Products (MatMul, Linear, Conv2D, Attention) take their inputs in d and
//     give d.
//   - What loses too much in 16 bits (Exp, Log, Pow, sums and norms, Softmax,
//     LayerNorm, the losses) takes its inputs in float32 and gives float32.
//   - IndexAdd and Concat take the widest type of their inputs.
//   - All other ops compute in the types that they are given: float32 beside d
//     gives float32.
//
// Parameters stay float32, and so do their gradients. float64 is left alone.
// Gradients are computed in the types of the forward pass, so Backward may be
// called outside. Of 16-bit floats each op computes the float32 result and
// rounds it, products are added up in float32: as tensor cores do it. On the
// processor that is slower than float32; what training comes to is the same.
func Autocast(d DType, f func()) {
	if d != Float32 && !d.Is16Bit() {
		panic(&DTypeError{Op: "Autocast", DTypes: []DType{d}, Hint: "bfloat16, float16 or float32 is needed"})
	}
	within(func(s *scope) { s.cast, s.fp8 = d, false }, f)
}

// castPolicy is in which types an op computes under Autocast.
type castPolicy uint8

const (
	castShort    castPolicy = iota + 1 // in 16 bits
	castSingle                         // in float32
	castToWidest                       // in the widest type of the inputs
)

// castPolicies are those of the ops that have one, by name: PyTorch's lists for
// CUDA (ATen/autocast_mode.h), which testdata/autocast.json holds.
var castPolicies = map[string]castPolicy{
	"MatMul": castShort, "Linear": castShort, "Conv2D": castShort, "Attention": castShort,

	"Exp": castSingle, "Log": castSingle, "Pow": castSingle, "PowScalar": castSingle,
	"Softmax": castSingle, "LogSoftmax": castSingle, "LogSumExp": castSingle,
	"Sum": castSingle, "CumSum": castSingle, "Norm": castSingle,
	"LayerNorm": castSingle, "RMSNorm": castSingle,
	"CrossEntropy": castSingle, "MSE": castSingle,

	"IndexAdd": castToWidest, "Concat": castToWidest,
}

// autocast returns an op's inputs in the types that its policy wants. Integers and
// float64 stay.
func autocast(r *ir.Recorder, short DType, op string, in []*ir.Value) []*ir.Value {
	to := Float32
	switch castPolicies[op] {
	case castShort:
		to = short
	case castSingle:
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
