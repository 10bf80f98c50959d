package tensor

import "github.com/quernlab/quern/accel/internal/engine/ir"

// has16Bit reports whether there are 16-bit floats among an op's inputs, and the type of the result:
// the 16-bit type if all floats that determine it have it, else float32.
func has16Bit(op named, in []*ir.Value) (found bool, result DType) {
	from, to := ir.TypedBy(op, len(in))
	_, result = narrowest(in[from:to])
	found, _ = narrowest(in)
	return found, result
}

func narrowest(in []*ir.Value) (found bool, result DType) {
	result = Float32
	for _, v := range in {
		d := v.DType()
		switch {
		case d.Is16Bit() && !found:
			found, result = true, d
		case d.Is16Bit() && d != result:
			result = Float32
		}
	}
	for _, v := range in {
		if d := v.DType(); d == Float32 {
			result = Float32
		}
	}
	return found, result
}

// widen casts 16-bit floats to float32.
func widen(r *ir.Recorder, in []*ir.Value) []*ir.Value {
	out := make([]*ir.Value, len(in))
	for i, v := range in {
		if out[i] = v; v.DType().Is16Bit() {
			out[i] = r.Record(ir.Cast{To: Float32}, v)
		}
	}
	return out
}

// narrow casts a float32 result to d.
func narrow(r *ir.Recorder, v *ir.Value, d DType) *ir.Value {
	if v.DType() != Float32 || d == Float32 {
		return v
	}
	return r.Record(ir.Cast{To: d}, v)
}
