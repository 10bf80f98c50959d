package ir

// MatMul computes y = a·b for a [M, K] and b [K, N], or for batches [B…, M, K] and [B…, K,
// N] whose leading dimensions broadcast. With FP8, a and b are of [Round8], and so are the
// factors of the gradients.
type MatMul struct {
	wholeOp
	FP8 bool
}

func (MatMul) Name() string                           { return "MatMul" }
func (MatMul) Autocast() Autocast                     { return Cast16Bit }
func (MatMul) onnx() string                           { return "MatMul" }
func (MatMul) multiplyAdds(in [][]int, out []int) int { return Len(out) * last(in[0]) }
func (MatMul) strided()                               {}
func (MatMul) contracted(input, axes int) int         { return axes - 1 - input }

// AppendKey appends how the gradient is computed.
func (o MatMul) AppendKey(key []byte) []byte { return appendFlag(key, o.FP8) }

func isReLU(o Op) bool {
	_, ok := o.(ReLU)
	return ok
}

// Infer returns [B…, M, N].
func (MatMul) Infer(in []*Value) (Type, error) {
	if err := wantFloat(in...); err != nil {
		return Type{}, err
	}
	a, b := in[0].shape, in[1].shape
	n, m := len(a), len(b)
	if n < 2 || m < 2 {
		return Type{}, &ShapeError{Hint: "[B… M K] and [B… K N] are needed"}
	}
	if a[n-1] != b[m-2] {
		return Type{}, &ShapeError{Hint: "the last dimension of the first must equal the second-last of the second"}
	}
	lead, ok := Broadcast(a[:n-2], b[:m-2])
	if !ok {
		return Type{}, &ShapeError{Hint: "the dimensions before the last two do not broadcast"}
	}
	return Type{append(lead, a[n-2], b[m-1]), in[0].dtype}, nil
}

// Gradient returns dy·bᵀ and aᵀ·dy, summed over broadcast dimensions.
func (o MatMul) Gradient(r *Recorder, in []*Value, _, dy *Value, wants []bool) []*Value {
	if o.FP8 {
		dy = r.rounded8(dy)
	}
	return r.eachGradient(in, wants, func(i int) *Value {
		if i == 0 {
			return r.product(dy, r.swapLast(in[1]), in[0])
		}
		return r.product(r.swapLast(in[0]), dy, in[1])
	})
}

// product records a·b, the gradient of a factor. If that is a transposed matrix, then so is the
// gradient: that of the matrix itself is then in row-major order, which is how others read it.
func (r *Recorder) product(a, b, of *Value) *Value {
	if len(a.shape) != 2 || len(b.shape) != 2 || !isTransposed(of) {
		return r.Record(MatMul{}, a, b)
	}
	return r.swapLast(r.Record(MatMul{}, r.swapLast(b), r.swapLast(a)))
}

// isTransposed reports whether a matrix is the transpose of another, maybe in another type.
func isTransposed(v *Value) bool {
	for {
		switch op := v.op.(type) {
		case Cast:
			v = v.in[0]
		case Permute:
			return sameShape(op.Perm, []int{1, 0})
		default:
			return false
		}
	}
}
