package ir

// Add is y = a + b, elementwise with broadcasting.
type Add struct{ binaryOp }

// Name is Add.
func (Add) Name() string { return "Add" }

// Gradient of Add is dy for both, summed over broadcast dimensions.
func (Add) Gradient(r *Recorder, in []*Value, out, dy *Value, wants []bool) []*Value {
	a, b := in[0], in[1]
	var da, db *Value
	if wants[0] {
		da = r.sumTo(dy, a.shape)
	}
	if wants[1] {
		db = r.sumTo(dy, b.shape)
	}
	return []*Value{da, db}
}

// Add records a + b. Of 16-bit numbers it is the float32 sum, rounded.
func (r *Recorder) Add(a, b *Value) *Value {
	if a.dtype.Is16Bit() && a.dtype == b.dtype {
		return r.as(r.Record(Add{}, r.as(a, Float32), r.as(b, Float32)), a.dtype)
	}
	return r.Record(Add{}, a, b)
}
