package ir

import "github.com/quernlab/quern/accel/internal/integer"

// ByteLinear computes y = x·wᵀ for x [N, In] and int8 weights, which are converted to
// floats when they are used.
type ByteLinear struct {
	Weights *integer.Weights
	noGradient
}

// Name returns "ByteLinear".
func (ByteLinear) Name() string { return "ByteLinear" }

// Class returns Whole: ByteLinear is a step of its own.
func (ByteLinear) Class([]*Value) Class { return Whole }

// AppendKey appends the identity of the weights.
func (o ByteLinear) AppendKey(key []byte) []byte { return appendInts(key, o.Weights.ID()) }

// Infer returns [N, Out].
func (o ByteLinear) Infer(in []*Value) (Type, error) {
	if err := wantFloat32(in...); err != nil {
		return Type{}, err
	}
	x := in[0].shape
	if len(x) != 2 || x[1] != o.Weights.In {
		return Type{}, &ShapeError{Hint: "x [N In] is needed"}
	}
	return Type{[]int{x[0], o.Weights.Out}, Float32}, nil
}
