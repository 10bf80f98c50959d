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

// Compose averages the windows.
func (o AvgPool2D) Compose(r *Recorder, in []*Value) *Value {
	x := r.windows(in[0], o.window(in[0].shape[2:]), 0)
	return r.Record(Sum{From: 2, To: 4, Mean: true}, r.Record(Permute{Perm: []int{0, 1, 3, 5, 2, 4}}, x))
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

// Compose adds up the shares of the windows that each element is in.
func (o AvgPool2DGradient) Compose(r *Recorder, in []*Value) *Value {
	image, s := []int{o.H, o.W}, in[0].shape
	dy := r.Record(Div{}, in[0], r.scalar(float64(o.Kernel[0]*o.Kernel[1]), in[0].dtype))
	shares := r.Record(Expand{Shape: []int{s[0], s[1], s[2], o.Kernel[0], s[3], o.Kernel[1]}}, r.keep(r.keep(dy, 3), 5))
	return r.fold(shares, o.window(image), image)
}
