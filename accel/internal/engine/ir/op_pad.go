package ir

// Pad is y of length Size along one axis with x at Before, and 0 elsewhere.
type Pad struct {
	wholeOp
	movement
	Axis, Before, Size int
}

func (Pad) Name() string { return "Pad" }

// AppendKey appends axis, offset and size.
func (o Pad) AppendKey(key []byte) []byte { return appendInts(key, o.Axis, o.Before, o.Size) }

// Infer returns the shape with the axis of length Size.
func (o Pad) Infer(in []*Value) (Type, error) {
	s := append([]int{}, in[0].shape...)
	if o.Axis < 0 || o.Axis >= len(s) || o.Before < 0 || o.Before+s[o.Axis] > o.Size {
		return Type{}, &ShapeError{Hint: "the padded size is smaller than the input"}
	}
	s[o.Axis] = o.Size
	return Type{s, in[0].dtype}, nil
}

// pad records a Pad of x. Zeros around zeros are one Pad, also if x was cast in between.
func (r *Recorder) pad(o Pad, x *Value) *Value {
	inner := x
	if _, ok := x.op.(Cast); ok {
		inner = x.in[0]
	}
	if p, ok := inner.op.(Pad); ok && p.Axis == o.Axis {
		o.Before += p.Before
		x = r.as(inner.in[0], x.dtype)
	}
	return r.Record(o, x)
}

// Gradient returns the slice of dy that corresponds to x.
func (o Pad) Gradient(r *Recorder, in []*Value, _, dy *Value, _ []bool) []*Value {
	return []*Value{r.Record(Slice{Axis: o.Axis, From: o.Before, To: o.Before + in[0].shape[o.Axis]}, dy)}
}
