package ir

// Max is the largest element along one axis, which disappears; NaN if there is
// one.
type Max struct {
	wholeOp
	Axis int
}

func (Max) Name() string { return "Max" }

func (o Max) onnx() Operator {
	return Operator{"ReduceMax", []Attribute{{"keepdims", 0}}, []any{[]int{o.Axis}}}
}

// AppendKey appends the axis.
func (o Max) AppendKey(key []byte) []byte { return appendInts(key, o.Axis) }

// Infer returns the shape without the axis, which must not be empty.
func (o Max) Infer(in []*Value) (Type, error) { return inferAxis(in, o.Axis, in[0].dtype) }

func inferAxis(in []*Value, axis int, d DType) (Type, error) {
	if err := wantFloat(in...); err != nil {
		return Type{}, err
	}
	s := in[0].shape
	if axis < 0 || axis >= len(s) {
		return Type{}, &ShapeError{Hint: "the axis is out of range"}
	}
	if s[axis] == 0 {
		return Type{}, &ShapeError{Hint: "an empty axis has no largest element"}
	}
	return Type{append(append([]int{}, s[:axis]...), s[axis+1:]...), d}, nil
}

// Gradient returns dy at the largest element; equal ones share it.
func (o Max) Gradient(r *Recorder, in []*Value, out, dy *Value, _ []bool) []*Value {
	x := in[0]
	kept := append([]int{}, x.shape...)
	kept[o.Axis] = 1
	mask := r.as(r.Record(Eq{}, x, r.Reshape(out, kept)), x.dtype)
	count := r.Reshape(r.Record(Sum{From: o.Axis, To: o.Axis + 1}, mask), kept)
	return []*Value{r.Mul(mask, r.Record(Div{}, r.Reshape(dy, kept), count))}
}
