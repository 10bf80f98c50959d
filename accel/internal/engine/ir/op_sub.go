package ir

// Sub computes y = a - b, elementwise with broadcasting.
type Sub struct{ binaryOp }

func (Sub) Name() string { return "Sub" }
func (Sub) onnx() string { return "Sub" }

// Gradient returns dy and -dy, summed over broadcast dimensions.
func (Sub) Gradient(r *Recorder, in []*Value, out, dy *Value, wants []bool) []*Value {
	return r.eachGradient(in, wants, func(i int) *Value {
		if i == 0 {
			return dy
		}
		return r.Record(Neg{}, dy)
	})
}
