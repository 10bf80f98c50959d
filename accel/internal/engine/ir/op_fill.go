package ir

// Fill is a tensor with all elements equal. The value may change from run to run.
type Fill struct {
	noGradient
	Value float64
	Shape []int
	DType DType // Float32 by default
}

func (Fill) Name() string    { return "Fill" }
func (Fill) perElement() int { return 0 }

// Class returns Elementwise: Fill has no inputs.
func (o Fill) Class([]*Value) Class { return floatClass(o.DType) }

// AppendKey appends nothing: the shape is part of every key.
func (Fill) AppendKey(key []byte) []byte { return key }

// AppendWords appends the value.
func (o Fill) AppendWords(w []uint64) []uint64 { return append(w, scalarWord(o.Value)) }

// Infer returns the shape given.
func (o Fill) Infer([]*Value) (Type, error) {
	if o.DType != Float32 && o.DType != Float64 {
		return Type{}, &DTypeError{Hint: "the element type must be float32 or float64"}
	}
	return Type{o.Shape, o.DType}, nil
}

// scalar returns a scalar tensor.
func (r *Recorder) scalar(value float64, d DType) *Value {
	return r.Record(Fill{Value: value, Shape: []int{}, DType: d})
}
