package ir

// ArgMax is the int32 index of the first largest element along one axis, which
// disappears; NaN counts as the largest.
type ArgMax struct {
	wholeOp
	noGradient
	Axis int
}

func (ArgMax) Name() string { return "ArgMax" }

// AppendKey appends the axis.
func (o ArgMax) AppendKey(key []byte) []byte { return appendInts(key, o.Axis) }

// Infer returns the shape without the axis, int32.
func (o ArgMax) Infer(in []*Value) (Type, error) {
	return inferAxis(in, o.Axis, Int32)
}
