package ir

// Eq computes y = 1 where a == b, else 0, as float32, with broadcasting. Both inputs must
// have the same element type.
type Eq struct{ comparison }

func (Eq) Name() string { return "Eq" }

// comparison is embedded by elementwise ops that compare two inputs of any element type.
type comparison struct{ noGradient }

func (comparison) typedBy(int) (from, to int)  { return 0, 0 }
func (comparison) AppendKey(key []byte) []byte { return key }
func (comparison) strided()                    {}

// Class returns Whole for integers, which are compared as integers in a step of their own.
func (comparison) Class(in []*Value) Class {
	if in[0].dtype == Float32 {
		return Elementwise
	}
	return Whole
}

func (comparison) Infer(in []*Value) (Type, error) {
	if in[0].dtype != in[1].dtype {
		return Type{}, &DTypeError{Hint: "both must have the same element type; convert one with Cast"}
	}
	if in[0].dtype.Is16Bit() {
		return Type{}, &DTypeError{Hint: "16-bit floats can only be compared as float32; convert with Cast"}
	}
	return inferBroadcast(in, Float32)
}
