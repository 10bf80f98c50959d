package ir

// Log1p computes y = ln(1 + x), elementwise, also near 0 with all digits; NaN below -1, -Inf at -1.
type Log1p struct{ unaryOp }

func (Log1p) Name() string       { return "Log1p" }
func (Log1p) Autocast() Autocast { return CastFloat32 }

// Formula returns ln u·x/(u - 1) with u = 1 + x (Kahan's: ln u and u - 1 have the same rounding error
// of u). Beyond 2 it is ln u, which loses no digits there.
func (Log1p) Formula() Formula {
	u := Apply(Add{}, X, Constant(1))
	log := Apply(Log{}, u)
	near := Apply(Mul{}, log, Apply(Div{}, X, Apply(Sub{}, u, Constant(1))))
	near = Apply(Where{}, Apply(Eq{}, u, Constant(1)), X, near)
	return Apply(Where{}, Apply(Greater{}, u, Constant(2)), log, near)
}

// Gradient returns dy/(1 + x).
func (Log1p) Gradient(r *Recorder, in []*Value, _, dy *Value, _ []bool) []*Value {
	return []*Value{r.Record(Div{}, dy, r.Record(AddScalar{Scalar: 1}, in[0]))}
}
