package ir

// Cast is y = x in another element type. Floats become integers by dropping
// the fraction; a number that does not fit, or NaN, becomes what Go's
// conversion makes of it; to bool is x ≠ 0. To 16
// bits it is the float32 number, rounded to the nearest, to the even one of two.
type Cast struct{ To DType }

// Name is Cast.
func (Cast) Name() string { return "Cast" }

// Class of Cast: to float32 it is a load and fuses.
func (o Cast) Class([]*Value) Class {
	if o.To == Float32 {
		return Elementwise
	}
	return Whole
}

// AppendKey appends the target type.
func (o Cast) AppendKey(key []byte) []byte { return append(key, byte(o.To)) }

// Infer is the input's shape in the target type.
func (o Cast) Infer(in []*Value) (Type, error) { return Type{in[0].shape, o.To}, nil }

func (Cast) strided() {}

// as is v in an element type.
func (r *Recorder) as(v *Value, d DType) *Value {
	if v.dtype == d {
		return v
	}
	return r.Record(Cast{To: d}, v)
}

// Gradient of Cast is dy in the input's type.
func (Cast) Gradient(r *Recorder, in []*Value, _, dy *Value, _ []bool) []*Value {
	if !in[0].dtype.IsFloat() {
		return nil
	}
	return []*Value{r.Record(Cast{To: in[0].dtype}, dy)}
}
