package ir

// Sub computes y = a - b, elementwise with broadcasting.
type Sub struct{ binaryOp }

func (Sub) Name() string { return "Sub" }
func (Sub) onnx() string { return "Sub" }

// Gradient returns dy and -dy, summed over broadcast dimensions.
func (Sub) Gradient(r *Recorder, in []*Value, out, dy *Value, wants []bool) []*Value {
	a, b := in[0], in[1]
	var da, db *Value
	if wants[0] {
		da = r.sumTo(dy, a.shape)
	}
	if wants[1] {
		db = r.sumTo(r.Record(Neg{}, dy), b.shape)
	}
	return []*Value{da, db}
}
