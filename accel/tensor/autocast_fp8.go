package tensor

import (
	"fmt"
	"slices"

	"github.com/quernlab/quern/accel/internal/cpu"
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensors"
)

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
