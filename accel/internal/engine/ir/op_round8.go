package ir

// Round8 computes y = x rounded to an 8-bit float, with a scale for the whole tensor:
//
//	y = round(x·s)/s    for s = 2ᵉ, the greatest with max|x|·s ≤ the type's largest
//
// The scale is computed from x itself (current scaling), so there is no state between
// steps. It is a power of two, so y is exact in bfloat16 and rounding twice does not change
// s. An infinity becomes NaN, since the type's largest value would hide it. A device with
// FP8 matmul multiplies the bytes of two such tensors: see [FP8Multiplier].
//
// It has no composition: the power of two is the exponent of the largest element, and no other op reads bits.
type Round8 struct {
	wholeOp
	To DType
}

func (Round8) Name() string   { return "Round8" }
func (Round8) noONNX() string { return "it rounds to 8-bit floats; AutocastFP8 is for training" }

// AppendKey appends the type.
func (o Round8) AppendKey(key []byte) []byte { return append(key, byte(o.To)) }

// Infer returns the input's shape, in bfloat16.
func (Round8) Infer(in []*Value) (Type, error) {
	if d := in[0].dtype; d != Float32 && !d.Is16Bit() {
		return Type{}, &DTypeError{Hint: "float32 or a 16-bit float is needed"}
	}
	return Type{in[0].shape, BFloat16}, nil
}

// Gradient returns dy: the gradient of rounding itself is not useful (straight-through).
func (Round8) Gradient(r *Recorder, in []*Value, _, dy *Value, _ []bool) []*Value {
	return []*Value{r.as(dy, in[0].dtype)}
}

// rounded8 rounds a gradient for an FP8 matmul: to E5M2, whose range is wider than E4M3's,
// in float32.
func (r *Recorder) rounded8(dy *Value) *Value {
	return r.as(r.Record(Round8{To: Float8E5M2}, dy), Float32)
}
