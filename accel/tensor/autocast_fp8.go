package tensor

import (
	"fmt"
	"slices"

	"github.com/quernlab/quern/accel/internal/cpu"
	"github.com/quernlab/quern/accel/internal/ir"
)

// AutocastFP8 is [Autocast] with BFloat16, but Linear multiplies 8-bit floats: E4M3
// forward and E5M2 for the gradients that flow back, as in "FP8 Formats for Deep
// Learning" (Micikevicius et al., 2022). The sums are float32, and so are
// parameters and their gradients; results are bfloat16.
//
//   - A tensor that is rounded has one scale, found from its own largest number at
//     that time (current scaling, as Transformer Engine's Float8CurrentScaling and
//     torchao's dynamic scaling: nothing is kept between steps, and no number
//     exceeds the range). Scales are powers of two, so that they lose nothing.
//   - Features in and out must be multiples of 16, else Linear computes in bfloat16.
//   - What is infinite becomes NaN. A tensor's smallest numbers, below 2⁻¹⁷ of its
//     largest forward and 2⁻³¹ backward, may become zero.
//
// A GPU needs compute capability 8.9 or more (Ada, Hopper); the processor computes
// the same numbers, slower than float32. On another device it panics with a
// *StateError; [FP8] tells beforehand.
func AutocastFP8(f func()) {
	if err := FP8(); err != nil {
		panic(&StateError{Op: "AutocastFP8", Hint: err.Error()})
	}
	within(func(s *scope) { s.cast, s.fp8 = BFloat16, true }, f)
}

// FP8 says why [AutocastFP8] cannot be used on this device, nil if it can.
func FP8() (err error) {
	locked(func(r *ir.Recorder) {
		switch d := r.Device().(type) {
		case *cpu.Device:
		case ir.FP8Multiplier:
			if err = d.MultipliesFP8(); err != nil {
				err = fmt.Errorf("%w; Autocast(BFloat16, …) does without", err)
			}
		default:
			err = fmt.Errorf("%s has no 8-bit floats; Autocast(BFloat16, …) does without", r.Device().Name())
		}
	})
	return err
}

// fp8Features is of what the number of features must be a multiple for 8-bit
// products: 16 bytes, as tensor cores and libraries want rows to start.
const fp8Features = 16

// linear8 is Linear of 8-bit floats where AutocastFP8 wants that and the shapes
// allow it; else nil.
func linear8(in []*Tensor) *Tensor {
	e := shared()
	e.enter()
	defer e.leave()
	if !e.now.fp8 {
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
		return nil // errors of shapes are Linear's
	}
	r := e.recorder
	r.Trim()
	defer callIt("Linear")
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
	e.told(Computed{"Linear", Float8E4M3, multiplications("Linear", v, y)})
	return wrap(r.Reshape(r.Record(ir.Cast{To: BFloat16}, y), append(lead, w[0])))
}
