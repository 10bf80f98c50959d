package ir

// Expm1 computes y = eˣ - 1, elementwise, also near 0 with all digits.
type Expm1 struct{ unaryOp }

func (Expm1) Name() string       { return "Expm1" }
func (Expm1) Autocast() Autocast { return CastFloat32 }

// Formula returns (u - 1)·x/ln u with u = eˣ (Kahan's: u - 1 and ln u have the same rounding error of
// u). Beyond 1 it is u - 1, which loses no digits there.
func (Expm1) Formula() Formula {
	u := Apply(Exp{}, X)
	less := Apply(Sub{}, u, Constant(1))
	near := Apply(Mul{}, less, Apply(Div{}, X, Apply(Log{}, u)))
	near = Apply(Where{}, Apply(Eq{}, u, Constant(1)), X, near)
	return Apply(Where{}, Apply(Greater{}, Apply(Abs{}, X), Constant(1)), less, near)
}

// Gradient returns dy·(y + 1).
func (Expm1) Gradient(r *Recorder, _ []*Value, out, dy *Value, _ []bool) []*Value {
	return []*Value{r.Mul(dy, r.Record(AddScalar{Scalar: 1}, out))}
}
