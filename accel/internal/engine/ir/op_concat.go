package ir

// Concat concatenates the inputs along one axis.
type Concat struct {
	wholeOp
	movement
	Axis int
}

func (Concat) Name() string       { return "Concat" }
func (Concat) Autocast() Autocast { return CastWidest }

// AppendKey appends the axis.
func (o Concat) AppendKey(key []byte) []byte { return appendInts(key, o.Axis) }

// Infer requires equal types and shapes except along the axis, whose lengths are added.
func (o Concat) Infer(in []*Value) (Type, error) {
	s := append([]int{}, in[0].shape...)
	if o.Axis < 0 || o.Axis >= len(s) {
		return Type{}, &ShapeError{Hint: "the axis is out of range"}
	}
	for _, v := range in[1:] {
		if v.dtype != in[0].dtype {
			return Type{}, &DTypeError{Hint: "all inputs must have one element type"}
		}
		if len(v.shape) != len(s) {
			return Type{}, &ShapeError{Hint: "all inputs must have the same number of dimensions"}
		}
		for i, d := range v.shape {
			if i != o.Axis && d != s[i] {
				return Type{}, &ShapeError{Hint: "all dimensions except the concatenated one must be equal"}
			}
		}
		s[o.Axis] += v.shape[o.Axis]
	}
	return Type{s, in[0].dtype}, nil
}

// Gradient returns each input's slice of dy.
func (o Concat) Gradient(r *Recorder, in []*Value, _, dy *Value, wants []bool) []*Value {
	out := make([]*Value, len(in))
	at := 0
	for i, v := range in {
		n := v.shape[o.Axis]
		if wants[i] {
			out[i] = r.Record(Slice{Axis: o.Axis, From: at, To: at + n}, dy)
		}
		at += n
	}
	return out
}
