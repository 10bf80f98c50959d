package ir

import "math"

// Erf computes the error function y = 2/√π·∫₀ˣ e^(-t²) dt, elementwise.
type Erf struct{ unaryOp }

func (Erf) Name() string { return "Erf" }
func (Erf) onnx() string { return "Erf" }

// Gradient returns dy·2/√π·e^(-x²).
func (Erf) Gradient(r *Recorder, in []*Value, _, dy *Value, _ []bool) []*Value {
	density := r.Record(Exp{}, r.Record(Neg{}, r.Record(Square{}, in[0])))
	return []*Value{r.Mul(dy, r.MulScalar(density, 2/math.Sqrt(math.Pi)))}
}
