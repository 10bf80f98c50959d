package ir

// Sum computes the sum over the consecutive axes From to To (exclusive), which disappear, or the mean.
// The order of the additions depends on the shape alone. A mean is rounded once, not the sum and
// the quotient, so that the mean of equal numbers is the number.
type Sum struct {
	wholeOp
	From, To int
	Mean     bool
}

func (Sum) Name() string       { return "Sum" }
func (Sum) Autocast() Autocast { return CastFloat32 }

// AppendKey appends the axes and whether it is the mean.
func (o Sum) AppendKey(key []byte) []byte {
	return appendFlag(appendInts(key, o.From, o.To), o.Mean)
}

// Infer returns the shape without the axes.
func (o Sum) Infer(in []*Value) (Type, error) {
	if err := wantFloat(in...); err != nil {
		return Type{}, err
	}
	s := in[0].shape
	if o.From < 0 || o.From > o.To || o.To > len(s) {
		return Type{}, &ShapeError{Hint: "the axes are out of range"}
	}
	return Type{append(append([]int{}, s[:o.From]...), s[o.To:]...), in[0].dtype}, nil
}

// Gradient returns dy, broadcast along the axes, divided by the number of elements for a mean.
func (o Sum) Gradient(r *Recorder, in []*Value, _, dy *Value, _ []bool) []*Value {
	s := in[0].shape
	if o.Mean {
		dy = r.Record(Div{}, dy, r.Record(Fill{Value: float64(Len(s[o.From:o.To])), Shape: []int{}, DType: dy.DType()}))
	}
	kept := append(append(append([]int{}, s[:o.From]...), ones(o.To-o.From)...), s[o.To:]...)
	return []*Value{r.Record(Expand{Shape: append([]int{}, s...)}, r.Reshape(dy, kept))}
}
