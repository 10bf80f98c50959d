package ir

// Div computes y = a/b, elementwise with broadcasting; IEEE 754 at zero.
type Div struct{ binaryOp }

func (Div) Name() string { return "Div" }
func (Div) onnx() string { return "Div" }

// Gradient returns dy/b and -dy·y/b, summed over broadcast dimensions.
func (Div) Gradient(r *Recorder, in []*Value, out, dy *Value, wants []bool) []*Value {
	a, b := in[0], in[1]
	var da, db *Value
	if wants[0] {
		da = r.sumTo(r.Record(Div{}, dy, b), a.shape)
	}
	if wants[1] {
		db = r.sumTo(r.Record(Neg{}, r.Record(Div{}, r.Mul(dy, out), b)), b.shape)
	}
	return []*Value{da, db}
}
