package ir

// Mul computes y = a·b, elementwise with broadcasting.
type Mul struct{ binaryOp }

func (Mul) Name() string { return "Mul" }
func (Mul) onnx() string { return "Mul" }

// Gradient returns dy·b and dy·a, summed over broadcast dimensions.
func (Mul) Gradient(r *Recorder, in []*Value, out, dy *Value, wants []bool) []*Value {
	a, b := in[0], in[1]
	var da, db *Value
	if wants[0] {
		da = r.sumTo(r.Mul(dy, b), a.shape)
	}
	if wants[1] {
		db = r.sumTo(r.Mul(dy, a), b.shape)
	}
	return []*Value{da, db}
}

// Mul records a·b.
func (r *Recorder) Mul(a, b *Value) *Value { return r.Record(Mul{}, a, b) }
