package tensor

import (
	"fmt"
	"slices"

	"github.com/quernlab/quern/accel/internal/cpu"
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
)

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

// AutocastFP8 is [Autocast] with BFloat16 in which Linear multiplies 8-bit floats: E4M3 in the
// forward pass and E5M2 for the gradients, as in "FP8 Formats for Deep Learning" (Micikevicius et
// al., 2022). Sums, parameters and gradients of parameters are float32; results are bfloat16.
//
//   - Each tensor has one scale, computed from its largest absolute value at that time (current
//     scaling, as in Transformer Engine's Float8CurrentScaling and torchao's dynamic scaling):
//     there is no state between steps, and no element exceeds the range. Scales are powers of two,
//     so scaling is exact.
//   - The numbers of input and output features must be multiples of 16, otherwise Linear computes
//     in bfloat16.
//   - An infinity becomes NaN. Elements below 2⁻¹⁷ of the tensor's largest in the forward pass, and
//     below 2⁻³¹ in the backward pass, may become zero.
//
// A GPU needs compute capability 8.9 or higher (Ada, Hopper). The CPU computes the same results,
// slower than in float32. On any other device AutocastFP8 panics with a *StateError; call [CheckFP8]
// first.
func AutocastFP8(f func()) {
	if err := CheckFP8(); err != nil {
		panic(&StateError{Op: "AutocastFP8", Hint: err.Error()})
	}
	withScope(func(s *scope) { s.cast, s.fp8 = BFloat16, true }, f)
}

// CheckFP8 returns nil if the current device supports [AutocastFP8], else an error with the reason.
func CheckFP8() (err error) {
	locked(func(r *ir.Recorder) {
		switch d := r.Device().(type) {
		case *cpu.Device:
		case ir.FP8Multiplier:
			if err = d.MultipliesFP8(); err != nil {
				err = fmt.Errorf("%w; use Autocast(BFloat16, …) instead", err)
			}
		default:
			err = fmt.Errorf("%s does not support 8-bit floats; use Autocast(BFloat16, …) instead", r.Device().Name())
		}
	})
	return err
}

// fp8Features divides the numbers of features of an FP8 Linear: tensor cores and libraries need
// rows that are aligned to 16 bytes.
const fp8Features = 16

// linearFP8 returns Linear computed in FP8, or nil if AutocastFP8 is off or the inputs do not allow
// it.
func linearFP8(in []*Tensor) *Tensor {
	e := shared()
	e.enter()
	defer e.leave()
	if !e.current.fp8 {
		return nil
	}
	v := make([]*ir.Value, len(in))
	for i, t := range in {
		v[i] = t.value("Linear")
		if d := v[i].DType(); d != Float32 && !d.Is16Bit() {
			return nil
		}
	}
	x, w := v[0].Shape(), v[1].Shape()
	if len(w) != 2 || len(x) == 0 || x[len(x)-1] != w[1] || w[0]%fp8Features != 0 || w[1]%fp8Features != 0 || ir.Len(x) == 0 {
		return nil // Linear reports wrong shapes
	}
	r := e.recorder
	r.Trim()
	defer renameOp("Linear")
	factor := func(v *ir.Value) *ir.Value {
		return r.Record(ir.Cast{To: Float32}, r.Record(ir.Round8{To: ir.Float8E4M3}, v))
	}
	lead := slices.Clone(x[:len(x)-1])
	rows, weight := factor(r.Reshape(v[0], []int{ir.Len(lead), w[1]})), factor(v[1])
	var y *ir.Value
	if len(v) == 3 {
		bias := narrow(r, v[2], BFloat16)
		y = r.Record(ir.Linear{FP8: true}, rows, weight, widen(r, []*ir.Value{bias})[0])
	} else {
		y = r.Record(ir.MatMul{FP8: true}, rows, r.Record(ir.Permute{Perm: []int{1, 0}}, weight))
	}
	e.current.RecordOp(tensors.RecordedOp{Op: "Linear", DType: ir.Float8E4M3, FLOPs: flops(ir.Linear{}, v, y)})
	return wrap(r.Reshape(r.Record(ir.Cast{To: BFloat16}, y), append(lead, w[0])))
}

// has16Bit reports whether there are 16-bit floats among an op's inputs, and the type of the result:
// the 16-bit type if all floats that determine it have it, else float32.
func has16Bit(op named, in []*ir.Value) (found bool, result DType) {
	from, to := ir.TypedBy(op, len(in))
	_, result = narrowest(in[from:to])
	found, _ = narrowest(in)
	return found, result
}

func narrowest(in []*ir.Value) (found bool, result DType) {
	result = Float32
	for _, v := range in {
		d := v.DType()
		switch {
		case d.Is16Bit() && !found:
			found, result = true, d
		case d.Is16Bit() && d != result:
			result = Float32
		}
	}
	for _, v := range in {
		if d := v.DType(); d == Float32 {
			result = Float32
		}
	}
	return found, result
}

// widen casts 16-bit floats to float32.
func widen(r *ir.Recorder, in []*ir.Value) []*ir.Value {
	out := make([]*ir.Value, len(in))
	for i, v := range in {
		if out[i] = v; v.DType().Is16Bit() {
			out[i] = r.Record(ir.Cast{To: Float32}, v)
		}
	}
	return out
}

// narrow casts a float32 result to d.
func narrow(r *ir.Recorder, v *ir.Value, d DType) *ir.Value {
	if v.DType() != Float32 || d == Float32 {
		return v
	}
	return r.Record(ir.Cast{To: d}, v)
}

// tf32Setter is implemented by devices that support TF32.
type tf32Setter interface{ SetTF32(on bool) }

// allowTF32 sets whether matrix multiplications and convolutions of float32 tensors (MatMul, Linear,
// Conv2D and their gradients) may use the tensor cores of a GPU in TF32, and returns the previous setting.
func allowTF32(on bool) (before bool) {
	e := shared()
	e.enter()
	defer e.leave()
	e.recorder.Flush() // ops recorded before keep the old setting
	before, e.tf32 = e.tf32, on
	for _, d := range e.devices {
		e.applyTF32(d)
	}
	e.applyTF32(e.recorder.Device())
	e.recorder.Switch(e.recorder.Device()) // discards the cached plans
	return before
}

// isTF32 reports whether TF32 is allowed.
func isTF32() (on bool) {
	locked(func(*ir.Recorder) { on = shared().tf32 })
	return on
}

// applyTF32 passes whether TF32 is allowed to a device.
func (e *engine) applyTF32(d ir.Device) {
	if r, ok := d.(tf32Setter); ok {
		r.SetTF32(e.tf32)
	}
}
