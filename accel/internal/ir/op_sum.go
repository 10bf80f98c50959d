package ir

// Sum computes the sum over the consecutive axes From to To (exclusive), which disappear.
// The order of the additions depends on the shape alone.
type Sum struct {
	wholeOp
	From, To int
}

func (Sum) Name() string       { return "Sum" }
func (Sum) Autocast() Autocast { return CastFloat32 }

// AppendKey appends the axes.
func (o Sum) AppendKey(key []byte) []byte { return appendInts(key, o.From, o.To) }

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

// Gradient returns dy, broadcast along the axes.
func (o Sum) Gradient(r *Recorder, in []*Value, _, dy *Value, _ []bool) []*Value {
	s := in[0].shape
	kept := append(append(append([]int{}, s[:o.From]...), ones(o.To-o.From)...), s[o.To:]...)
	return []*Value{r.Record(Expand{Shape: append([]int{}, s...)}, r.Reshape(dy, kept))}
}
