package ir

// Linear computes y = x·wᵀ + b for x [N, In], w [Out, In] and b [Out]; the bias is added in
// the matmul's epilogue, and an activation that follows fuses into it. With FP8, x and w
// are of [Round8], and so are the factors of the gradients.
type Linear struct {
	wholeOp
	FP8 bool
}

func (Linear) Name() string                           { return "Linear" }
func (Linear) Autocast() Autocast                     { return Cast16Bit }
func (Linear) multiplyAdds(in [][]int, out []int) int { return Len(out) * last(in[0]) }
func (Linear) strided()                               {}
func (Linear) contracted(input, axes int) int {
	if input > 1 {
		return -1
	}
	return axes - 1
}

// AppendKey appends how the gradient is computed.
func (o Linear) AppendKey(key []byte) []byte { return appendFlag(key, o.FP8) }

// Infer returns [N, Out].
func (Linear) Infer(in []*Value) (Type, error) {
	if err := wantFloat32(in...); err != nil {
		return Type{}, err
	}
	x, w, b := in[0].shape, in[1].shape, in[2].shape
	if len(x) != 2 || len(w) != 2 || len(b) != 1 || x[1] != w[1] || w[0] != b[0] {
		return Type{}, &ShapeError{Hint: "x [N In], w [Out In] and b [Out] are needed"}
	}
	return Type{[]int{x[0], w[0]}, Float32}, nil
}

// Compose multiplies and adds.
func (o Linear) Compose(r *Recorder, in []*Value) *Value {
	return r.Add(r.Record(MatMul{FP8: o.FP8}, in[0], r.swapLast(in[1])), in[2])
}

// Gradient returns dy·w, dyᵀ·x and the sum of dy's rows.
func (o Linear) Gradient(r *Recorder, in []*Value, _, dy *Value, wants []bool) []*Value {
	var dx, dw, db *Value
	factor := dy
	if o.FP8 && (wants[0] || wants[1]) {
		factor = r.rounded8(dy)
	}
	if wants[0] {
		dx = r.Record(MatMul{}, factor, in[1])
	}
	if wants[1] {
		dw = r.product(r.swapLast(factor), in[0], in[1])
	}
	if wants[2] {
		db = r.Record(Sum{From: 0, To: 1}, dy)
	}
	return []*Value{dx, dw, db}
}
