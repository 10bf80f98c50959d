package ir

import "github.com/quernlab/quern/accel/internal/integer"

// ByteLinear is y = x·wᵀ for x [N, In] and weights of 8-bit integers, which become
// floats when they are needed.
type ByteLinear struct {
	Weights *integer.Weights
	noGradient
}

// Name is ByteLinear.
func (ByteLinear) Name() string { return "ByteLinear" }

// Class of ByteLinear is a step of its own.
func (ByteLinear) Class([]*Value) Class { return Whole }

// AppendKey appends which weights they are.
func (o ByteLinear) AppendKey(key []byte) []byte { return appendInts(key, o.Weights.ID()) }

// Infer is [N, Out].
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
