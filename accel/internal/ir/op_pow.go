package ir

// Pow computes y = aᵇ, elementwise with broadcasting, as math.Pow.
type Pow struct{ binaryOp }

func (Pow) Name() string       { return "Pow" }
func (Pow) Autocast() Autocast { return CastFloat32 }
func (Pow) onnx() string       { return "Pow" }

// Gradient returns dy·b·aᵇ⁻¹ for a and dy·y·ln a for b, which is 0 where y is.
func (Pow) Gradient(r *Recorder, in []*Value, out, dy *Value, wants []bool) []*Value {
	a, b := in[0], in[1]
	var da, db *Value
	if wants[0] {
		below := r.Record(Pow{}, a, r.Record(AddScalar{Scalar: -1}, b))
		da = r.sumTo(r.Mul(dy, r.Mul(b, below)), a.shape)
	}
	if wants[1] {
		zero := r.scalar(0, a.dtype)
		slope := r.Record(Where{}, r.Record(Eq{}, out, zero), zero, r.Mul(out, r.Record(Log{}, a)))
		db = r.sumTo(r.Mul(dy, slope), b.shape)
	}
	return []*Value{da, db}
}
