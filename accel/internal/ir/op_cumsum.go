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
	if o.Reverse {
		return appendInts(key, o.Axis, 1)
	}
	return appendInts(key, o.Axis, 0)
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

// Gradient returns the sum of dy from the other end.
func (o CumSum) Gradient(r *Recorder, _ []*Value, _, dy *Value, _ []bool) []*Value {
	return []*Value{r.Record(CumSum{Axis: o.Axis, Reverse: !o.Reverse}, dy)}
}
