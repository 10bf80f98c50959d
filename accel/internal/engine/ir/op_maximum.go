package ir

// Maximum computes y = max(a, b), elementwise with broadcasting; NaN if either is NaN.
type Maximum struct{ binaryOp }

func (Maximum) Name() string { return "Maximum" }
func (Maximum) onnx() string { return "Max" }

// Gradient returns dy where the input is the larger one; equal inputs take half each.
func (Maximum) Gradient(r *Recorder, in []*Value, out, dy *Value, wants []bool) []*Value {
	return r.eachGradient(in, wants, func(i int) *Value { return r.Mul(dy, r.larger(in[i], in[1-i])) })
}

// larger returns 1 where a > b, 1/2 where they are equal, else 0.
func (r *Recorder) larger(a, b *Value) *Value {
	return r.as(r.Add(r.Record(Greater{}, a, b), r.MulScalar(r.Record(Eq{}, a, b), 0.5)), a.dtype)
}
