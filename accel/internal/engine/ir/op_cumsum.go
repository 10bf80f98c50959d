package ir

// CumSum is y[i] = x[0] + … + x[i] along one axis or, in reverse, from the end.
type CumSum struct {
	wholeOp
	Axis    int
	Reverse bool
}

func (CumSum) Name() string       { return "CumSum" }
func (CumSum) Autocast() Autocast { return CastFloat32 }

func (o CumSum) onnx() Operator {
	if o.Reverse {
		return Operator{"CumSum", []Attribute{{"reverse", 1}}, []any{o.Axis}}
	}
	return Operator{"CumSum", nil, []any{o.Axis}}
}

// AppendKey appends axis and direction.
func (o CumSum) AppendKey(key []byte) []byte {
	return appendFlag(appendInts(key, o.Axis), o.Reverse)
}

// Infer returns the input's type.
func (o CumSum) Infer(in []*Value) (Type, error) {
	if err := wantFloat(in...); err != nil {
		return Type{}, err
	}
	if o.Axis < 0 || o.Axis >= len(in[0].shape) {
		return Type{}, &ShapeError{Hint: "the axis is out of range"}
	}
	return Type{in[0].shape, in[0].dtype}, nil
}

// Compose adds the elements 1, 2, 4, … positions before, or after, to each.
func (o CumSum) Compose(r *Recorder, in []*Value) *Value {
	return r.Scan(Add{}, in[0], o.Axis, o.Reverse)
}

// Scan returns an associative op of each element and all before it along one axis or, in reverse, after it. It
// takes ⌈log₂ n⌉ steps (Hillis and Steele, 1986).
func (r *Recorder) Scan(op Op, x *Value, axis int, reverse bool) *Value {
	n := x.shape[axis]
	part := func(from, to int) *Value { return r.Record(Slice{Axis: axis, From: from, To: to}, x) }
	for done := 1; done < n; done *= 2 { // each element is the result of so many, with itself
		both := r.Record(op, part(done, n), part(0, n-done))
		if reverse {
			x = r.Record(Concat{Axis: axis}, both, part(n-done, n))
		} else {
			x = r.Record(Concat{Axis: axis}, part(0, done), both)
		}
	}
	return x
}

// count returns 0 to n-1 as float64.
func (r *Recorder) count(n int) *Value {
	return r.Record(AddScalar{Scalar: -1}, r.Record(CumSum{}, r.Record(Fill{Value: 1, Shape: []int{n}, DType: Float64})))
}

// Gradient returns the sum of dy from the other end.
func (o CumSum) Gradient(r *Recorder, _ []*Value, _, dy *Value, _ []bool) []*Value {
	return []*Value{r.Record(CumSum{Axis: o.Axis, Reverse: !o.Reverse}, dy)}
}
