package ir

// Div computes y = a/b, elementwise with broadcasting; IEEE 754 at zero.
type Div struct{ binaryOp }

func (Div) Name() string { return "Div" }
func (Div) onnx() string { return "Div" }

// Gradient returns dy/b and -dy·y/b, summed over broadcast dimensions.
func (Div) Gradient(r *Recorder, in []*Value, out, dy *Value, wants []bool) []*Value {
	return r.eachGradient(in, wants, func(i int) *Value {
		if i == 0 {
			return r.Record(Div{}, dy, in[1])
		}
		return r.Record(Neg{}, r.Record(Div{}, r.Mul(dy, out), in[1]))
	})
}
