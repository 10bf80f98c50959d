package ir

// Fill is a tensor of one value, float32 or float64, which may change from run to run.
type Fill struct {
	noGradient
	Value float64
	Shape []int
	DType DType // Float32 by default
}

// Name is Fill.
func (Fill) Name() string { return "Fill" }

// Class of Fill is elementwise, with no input.
func (o Fill) Class([]*Value) Class { return floatClass(o.DType) }

// AppendKey has nothing to add: the shape is part of every key.
func (Fill) AppendKey(key []byte) []byte { return key }

// AppendWords appends the value.
func (o Fill) AppendWords(w []uint64) []uint64 { return append(w, scalarWord(o.Value)) }

// Infer is the shape given.
func (o Fill) Infer([]*Value) (Type, error) {
	if o.DType != Float32 && o.DType != Float64 {
		return Type{}, &DTypeError{Hint: "float32 or float64 is needed"}
	}
	return Type{o.Shape, o.DType}, nil
}

// scalar is one number.
func (r *Recorder) scalar(value float64, d DType) *Value {
	return r.Record(Fill{Value: value, Shape: []int{}, DType: d})
}
