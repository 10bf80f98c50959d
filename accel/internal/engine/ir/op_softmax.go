package ir

// Softmax computes y = eˣ/Σeˣ along the last axis, with the row's maximum subtracted first
// so that it does not overflow.
type Softmax struct{ wholeOp }

func (Softmax) Name() string       { return "Softmax" }
func (Softmax) Autocast() Autocast { return CastFloat32 }
func (Softmax) perElement() int    { return softmaxFLOPs }

func (Softmax) onnx() Operator { return Operator{"Softmax", []Attribute{{"axis", -1}}, nil} }

// Infer returns the input's type.
func (Softmax) Infer(in []*Value) (Type, error) { return inferRows(in) }

// Compose divides the exponentials by their sum.
func (Softmax) Compose(r *Recorder, in []*Value) *Value {
	e := r.Record(Exp{}, r.belowMax(in[0]))
	return r.Record(Div{}, e, r.sumLast(e))
}

// belowMax returns x minus the largest element of each row.
func (r *Recorder) belowMax(x *Value) *Value {
	k := len(x.shape) - 1
	if x.shape[k] == 0 {
		return x
	}
	return r.Record(Sub{}, x, r.keep(r.Record(Max{Axis: k}, x), k))
}

// softmaxFLOPs counts the maximum, the difference, the exponential, the sum and the quotient.
const softmaxFLOPs = 5

func inferRows(in []*Value) (Type, error) {
	if err := wantFloat(in...); err != nil {
		return Type{}, err
	}
	if len(in[0].shape) == 0 {
		return Type{}, &ShapeError{Hint: "at least one dimension is needed"}
	}
	return Type{in[0].shape, in[0].dtype}, nil
}

// Gradient returns y·(dy - Σ dy·y).
func (Softmax) Gradient(r *Recorder, _ []*Value, out, dy *Value, _ []bool) []*Value {
	t := r.Mul(dy, out)
	return []*Value{r.Record(Sub{}, t, r.Mul(out, r.sumLast(t)))}
}

// sumLast sums over the last axis and keeps it with size one.
func (r *Recorder) sumLast(v *Value) *Value {
	k := len(v.shape) - 1
	return r.keep(r.Record(Sum{From: k, To: k + 1}, v), k)
}

// meanLast is sumLast for the mean.
func (r *Recorder) meanLast(v *Value) *Value {
	k := len(v.shape) - 1
	return r.keep(r.Record(Sum{From: k, To: k + 1, Mean: true}, v), k)
}

// keep returns v with a dimension of size one at an axis.
func (r *Recorder) keep(v *Value, axis int) *Value {
	return r.Reshape(v, append(append(append([]int{}, v.shape[:axis]...), 1), v.shape[axis:]...))
}
