package ir

import "github.com/quernlab/quern/accel/internal/engine/integer"

// Quantized is the result of a network of 8-bit integers for the input x. It has no composition, for the reason of
// [Int8Linear]; its reference is the plain Go in integer_generic.go of the CPU.
type Quantized struct {
	wholeOp
	Network *integer.Network
	noGradient
}

func (Quantized) Name() string { return "Quantized" }

// AppendKey appends the identity of the network.
func (o Quantized) AppendKey(key []byte) []byte { return appendInts(key, o.Network.ID()) }

// Infer returns the output shape of the network.
func (o Quantized) Infer(in []*Value) (Type, error) {
	if err := wantFloat32(in...); err != nil {
		return Type{}, err
	}
	shape, err := o.Network.Output(in[0].shape)
	if err != nil {
		return Type{}, &ShapeError{Hint: err.Error()}
	}
	return Type{shape, Float32}, nil
}
