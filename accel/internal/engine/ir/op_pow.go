package ir

// Pow computes y = aᵇ, elementwise with broadcasting, as math.Pow.
type Pow struct{ binaryOp }

func (Pow) Name() string       { return "Pow" }
func (Pow) Autocast() Autocast { return CastFloat32 }
func (Pow) onnx() string       { return "Pow" }

// Gradient returns dy·b·aᵇ⁻¹ for a, which is 0 where b is 0, and dy·y·ln a for b, which is 0 where a is
// 0 and b is not negative: where the derivative is 0 or does not exist, as in torch.
func (Pow) Gradient(r *Recorder, in []*Value, out, dy *Value, wants []bool) []*Value {
	a, b := in[0], in[1]
	zero := r.scalar(0, a.dtype)
	still := r.Record(Eq{}, b, zero)
	return r.eachGradient(in, wants, func(i int) *Value {
		if i == 0 {
			below := r.Record(Pow{}, a, r.Record(AddScalar{Scalar: -1}, b))
			return r.Record(Where{}, still, zero, r.Mul(dy, r.Mul(b, below)))
		}
		still := r.Record(And{}, r.Record(Eq{}, a, zero), r.Record(Or{}, still, r.Record(Greater{}, b, zero)))
		return r.Record(Where{}, still, zero, r.Mul(dy, r.Mul(out, r.Record(Log{}, a))))
	})
}
