package ir

// Minimum computes y = min(a, b), elementwise with broadcasting; NaN if either is NaN.
type Minimum struct{ binaryOp }

func (Minimum) Name() string { return "Minimum" }
func (Minimum) onnx() string { return "Min" }

// Gradient returns dy where the input is the smaller one; equal inputs take half each.
func (Minimum) Gradient(r *Recorder, in []*Value, _, dy *Value, wants []bool) []*Value {
	return r.eachGradient(in, wants, func(i int) *Value { return r.Mul(dy, r.larger(in[1-i], in[i])) })
}
