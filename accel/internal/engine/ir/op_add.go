package ir

// Add computes y = a + b, elementwise with broadcasting.
type Add struct{ binaryOp }

func (Add) Name() string { return "Add" }
func (Add) onnx() string { return "Add" }

// Gradient returns dy for both, summed over broadcast dimensions.
func (Add) Gradient(r *Recorder, in []*Value, out, dy *Value, wants []bool) []*Value {
	return r.eachGradient(in, wants, func(int) *Value { return dy })
}

// Add records a + b. The sum of 16-bit floats is computed in float32 and rounded.
func (r *Recorder) Add(a, b *Value) *Value {
	if a.dtype.Is16Bit() && a.dtype == b.dtype {
		return r.as(r.Record(Add{}, r.as(a, Float32), r.as(b, Float32)), a.dtype)
	}
	return r.Record(Add{}, a, b)
}
