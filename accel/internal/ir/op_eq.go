package ir

// Eq is y = 1 where a == b, else 0, as float32, with broadcasting. Both inputs
// have one element type, whichever it is.
type Eq struct{ noGradient }

// Name is Eq.
func (Eq) Name() string { return "Eq" }

// Class of Eq: integers are compared as integers, in a step of their own.
func (Eq) Class(in []*Value) Class { return compareClass(in) }

// Infer is the broadcast shape, float32.
func (Eq) Infer(in []*Value) (Type, error) { return inferCompare(in) }

// AppendKey has nothing to add.
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
		return Type{}, &DTypeError{Hint: "16-bit numbers are compared as float32; convert with Cast"}
	}
	return inferBroadcast(in, Float32)
}
