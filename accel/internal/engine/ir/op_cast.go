package ir

// Cast converts x to another element type. Floats convert to integers by truncation; values
// that do not fit, and NaN, convert as in Go. The conversion to bool is x ≠ 0; the
// conversion to 16-bit floats goes through float32 and rounds to nearest, ties to even.
type Cast struct {
	movement
	To DType
}

func (Cast) Name() string { return "Cast" }
func (Cast) strided()     {}

// Class returns Elementwise for casts that fuse, such as those to float32, which are loads.
func (o Cast) Class([]*Value) Class {
	if o.To == Float32 {
		return Elementwise
	}
	return Whole
}

// AppendKey appends the target type.
func (o Cast) AppendKey(key []byte) []byte { return append(key, byte(o.To)) }

// Infer returns the input's shape in the target type.
func (o Cast) Infer(in []*Value) (Type, error) { return Type{in[0].shape, o.To}, nil }

// as converts v to an element type.
func (r *Recorder) as(v *Value, d DType) *Value {
	if v.dtype == d {
		return v
	}
	return r.Record(Cast{To: d}, v)
}

// Gradient returns dy in the input's type.
func (Cast) Gradient(r *Recorder, in []*Value, _, dy *Value, _ []bool) []*Value {
	if !in[0].dtype.IsFloat() {
		return nil
	}
	return []*Value{r.Record(Cast{To: in[0].dtype}, dy)}
}
