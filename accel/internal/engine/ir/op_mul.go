package ir

// Mul computes y = a·b, elementwise with broadcasting.
type Mul struct{ binaryOp }

func (Mul) Name() string { return "Mul" }
func (Mul) onnx() string { return "Mul" }

// Gradient returns dy·b and dy·a, summed over broadcast dimensions.
func (Mul) Gradient(r *Recorder, in []*Value, out, dy *Value, wants []bool) []*Value {
	return r.eachGradient(in, wants, func(i int) *Value { return r.Mul(dy, in[1-i]) })
}

// Mul records a·b.
func (r *Recorder) Mul(a, b *Value) *Value { return r.Record(Mul{}, a, b) }
