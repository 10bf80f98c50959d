package ir

import "github.com/quernlab/quern/accel/internal/engine/integer"

// Int8Linear computes y = x·wᵀ for x [N, In] and int8 weights, which are converted to
// floats when they are used. It has no composition: the weights are a parameter of the op, and no other op carries values.
type Int8Linear struct {
	wholeOp
	Weights *integer.Weights
	noGradient
}

func (Int8Linear) Name() string                           { return "Int8Linear" }
func (Int8Linear) multiplyAdds(in [][]int, out []int) int { return Len(out) * last(in[0]) }

// AppendKey appends the identity of the weights.
func (o Int8Linear) AppendKey(key []byte) []byte { return appendInts(key, o.Weights.ID()) }

// Infer returns [N, Out].
func (o Int8Linear) Infer(in []*Value) (Type, error) {
	if err := wantFloat32(in...); err != nil {
		return Type{}, err
	}
	x := in[0].shape
	if len(x) != 2 || x[1] != o.Weights.In {
		return Type{}, &ShapeError{Hint: "x [N In] is needed"}
	}
	return Type{[]int{x[0], o.Weights.Out}, Float32}, nil
}
