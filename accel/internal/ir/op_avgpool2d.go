package ir

// AvgPool2D is the mean of each window of x [N, C, H, W], in which padding
// counts as zeros; torch's avg_pool2d.
type AvgPool2D struct{ Pool }

func (AvgPool2D) Name() string { return "AvgPool2D" }

// Infer returns [N, C, OH, OW]; there is no dilation.
func (o AvgPool2D) Infer(in []*Value) (Type, error) {
	if o.Dilation != [2]int{1, 1} {
		return Type{}, &ShapeError{Hint: "an average has no dilation"}
	}
	return o.Pool.Infer(in)
}

// Gradient returns dy's share at each element of the window.
func (o AvgPool2D) Gradient(r *Recorder, in []*Value, _, dy *Value, _ []bool) []*Value {
	return []*Value{r.Record(AvgPool2DGradient{Pool: o.Pool, H: in[0].shape[2], W: in[0].shape[3]}, dy)}
}

// AvgPool2DGradient computes the gradient dx of AvgPool2D from dy, for x of H×W.
type AvgPool2DGradient struct {
	Pool
	gradientOp
	H, W int
}

func (AvgPool2DGradient) Name() string { return "AvgPool2DGradient" }

// Infer returns x's type.
func (o AvgPool2DGradient) Infer(in []*Value) (Type, error) {
	s := in[0].shape
	return Type{[]int{s[0], s[1], o.H, o.W}, in[0].dtype}, nil
}
