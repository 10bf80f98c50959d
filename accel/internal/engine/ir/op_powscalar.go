package ir

// PowScalar computes y = xˢ, elementwise, as math.Pow. s may change from run to run of a
// plan.
type PowScalar struct {
	unaryOp
	Scalar float64
}

func (PowScalar) Name() string       { return "PowScalar" }
func (PowScalar) Formula() Formula   { return Apply(Pow{}, X, Scalar) }
func (PowScalar) Autocast() Autocast { return CastFloat32 }

// AppendWords appends s.
func (o PowScalar) AppendWords(w []uint64) []uint64 { return append(w, scalarWord(o.Scalar)) }

// Gradient returns dy·s·xˢ⁻¹, or 0 if s is 0.
func (o PowScalar) Gradient(r *Recorder, in []*Value, out, dy *Value, wants []bool) []*Value {
	if o.Scalar == 0 {
		return zeroGradient{}.Gradient(r, in, out, dy, wants)
	}
	slope := r.MulScalar(r.Record(PowScalar{Scalar: o.Scalar - 1}, in[0]), o.Scalar)
	return []*Value{r.Mul(dy, slope)}
}
