package ir

// Round8 is y = x rounded to an 8-bit float, with a scale for the whole tensor:
//
//	y = round(x·s)/s    for s = 2ᵉ, the greatest with max|x|·s ≤ the type's largest
//
// The scale is that of the very numbers (current scaling), so nothing is remembered
// from step to step, and a power of two, so that y is a bfloat16 exactly and s is
// the same for what is rounded twice. An infinity becomes NaN: the type's largest
// number would hide it. Products of two such tensors are what a device with 8-bit
// products makes of the bytes: see [FP8Multiplier].
type Round8 struct{ To DType }

// Name is Round8.
func (Round8) Name() string { return "Round8" }

// Class of Round8 is a step of its own.
func (Round8) Class([]*Value) Class { return Whole }

// AppendKey appends the type.
func (o Round8) AppendKey(key []byte) []byte { return append(key, byte(o.To)) }

// Infer is the input's shape, in bfloat16.
func (Round8) Infer(in []*Value) (Type, error) {
	if d := in[0].dtype; d != Float32 && !d.Is16Bit() {
		return Type{}, &DTypeError{Hint: "float32 or a 16-bit float is needed"}
	}
	return Type{in[0].shape, BFloat16}, nil
}

// Gradient of Round8 is dy: what rounding loses has none that is of use.
func (Round8) Gradient(r *Recorder, in []*Value, _, dy *Value, _ []bool) []*Value {
	return []*Value{r.as(dy, in[0].dtype)}
}

// rounded8 is a gradient as products with 8-bit factors take it: E5M2, whose range
// is wider than E4M3's, in float32.
func (r *Recorder) rounded8(dy *Value) *Value {
	return r.as(r.Record(Round8{To: Float8E5M2}, dy), Float32)
}
