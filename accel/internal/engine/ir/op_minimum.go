package ir

// Minimum computes y = min(a, b), elementwise with broadcasting; NaN if either is NaN.
type Minimum struct{ binaryOp }

func (Minimum) Name() string { return "Minimum" }
func (Minimum) onnx() string { return "Min" }

// Gradient returns dy where the input is the smaller one; equal inputs take half each.
func (Minimum) Gradient(r *Recorder, in []*Value, _, dy *Value, wants []bool) []*Value {
	a, b := in[0], in[1]
	var da, db *Value
	if wants[0] {
		da = r.sumTo(r.Mul(dy, r.larger(b, a)), a.shape)
	}
	if wants[1] {
		db = r.sumTo(r.Mul(dy, r.larger(a, b)), b.shape)
	}
	return []*Value{da, db}
}
