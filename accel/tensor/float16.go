package tensor

import "github.com/quernlab/quern/accel/internal/ir"

// has16Bit reports whether there are 16-bit floats among the inputs, and the type of the result:
// the 16-bit type if all floats have it, else float32.
func has16Bit(in []*ir.Value) (found bool, result DType) {
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

// moves reports whether an op copies elements without computing.
func moves(op ir.Op) bool {
	switch op.(type) {
	case ir.Cast, ir.Copy, ir.Expand, ir.Permute:
		return true
	}
	return false
}

// compares reports whether an op's result is a mask of 0 and 1.
func compares(op ir.Op) bool {
	switch op.(type) {
	case ir.Eq, ir.Greater, ir.And, ir.Or, ir.Not:
		return true
	}
	return false
}
