package ir

// Eq computes y = 1 where a == b, else 0, as float32, with broadcasting. Both inputs must
// have the same element type.
type Eq struct{ noGradient }

// Name returns "Eq".
func (Eq) Name() string { return "Eq" }

// Class returns Whole for integers, which are compared as integers in a step of their own.
func (Eq) Class(in []*Value) Class { return compareClass(in) }

// Infer returns the broadcast shape, float32.
func (Eq) Infer(in []*Value) (Type, error) { return inferCompare(in) }

// AppendKey appends nothing.
func (Eq) AppendKey(key []byte) []byte { return key }

func (Eq) strided() {}

func compareClass(in []*Value) Class {
	if in[0].dtype == Float32 {
		return Elementwise
	}
	return Whole
}

func inferCompare(in []*Value) (Type, error) {
	if in[0].dtype != in[1].dtype {
		return Type{}, &DTypeError{Hint: "both must have the same element type; convert one with Cast"}
	}
	if in[0].dtype.Is16Bit() {
		return Type{}, &DTypeError{Hint: "16-bit floats can only be compared as float32; convert with Cast"}
	}
	return inferBroadcast(in, Float32)
}
