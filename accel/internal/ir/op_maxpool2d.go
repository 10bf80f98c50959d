package ir

import "fmt"

// Pool is a window that moves over images [N, C, H, W]. Pairs are height and width.
type Pool struct {
	Kernel, Stride, Padding, Dilation [2]int
}

// Class returns Whole: a pool is a step of its own.
func (Pool) Class([]*Value) Class { return Whole }

// AppendKey appends the window.
func (o Pool) AppendKey(key []byte) []byte {
	key = appendInts(key, o.Kernel[:]...)
	key = appendInts(key, o.Stride[:]...)
	key = appendInts(key, o.Padding[:]...)
	return appendInts(key, o.Dilation[:]...)
}

// Infer returns [N, C, OH, OW].
func (o Pool) Infer(in []*Value) (Type, error) {
	if err := wantFloat(in...); err != nil {
		return Type{}, err
	}
	x := in[0].shape
	if len(x) != 4 {
		return Type{}, &ShapeError{Hint: "x must be [N C H W]"}
	}
	out := []int{x[0], x[1], 0, 0}
	for i := range 2 {
		if o.Kernel[i] < 1 || o.Stride[i] < 1 || o.Dilation[i] < 1 || o.Padding[i] < 0 || o.Padding[i] > o.Kernel[i]/2 {
			return Type{}, &ShapeError{Hint: fmt.Sprintf("kernel %v, stride %v and dilation %v must be at least 1, and padding %v at most half of the kernel", o.Kernel, o.Stride, o.Dilation, o.Padding)}
		}
		n, err := Windows(x[2+i], o.Kernel[i], o.Stride[i], o.Padding[i], o.Dilation[i])
		if err != nil {
			return Type{}, err
		}
		out[2+i] = n
	}
	return Type{out, in[0].dtype}, nil
}

// MaxPool2D is the largest element of each window of x [N, C, H, W], NaN if it
// has one; torch's max_pool2d.
type MaxPool2D struct{ Pool }

func (MaxPool2D) Name() string { return "MaxPool2D" }

// Gradient returns dy at the window's first largest element. Where x comes from a ReLU, the
// ReLU's gradient is applied to the fewer elements of dy first: the largest element is
// positive where y is. See [ReLU.Gradient]. That is no use if the ReLU has other users.
func (o MaxPool2D) Gradient(r *Recorder, in []*Value, out, dy *Value, _ []bool) []*Value {
	if y := reluOf(in[0]); y != nil && !hasGradient(in[0], y) {
		dy = r.Record(ReLUGradient{}, dy, out)
	}
	return []*Value{r.Record(MaxPool2DGradient{Pool: o.Pool}, in[0], out, dy)}
}

// hasGradient reports whether gradients of v, or of what it was cast from up to y, come from other
// users, too.
func hasGradient(v, y *Value) bool {
	for ; v != y; v = v.in[0] {
		if v.grad != nil {
			return true
		}
	}
	return y.grad != nil
}

// MaxPool2DGradient computes the gradient dx of MaxPool2D from x, y and dy.
type MaxPool2DGradient struct {
	Pool
	gradientOp
}

func (MaxPool2DGradient) Name() string { return "MaxPool2DGradient" }

// Infer returns x's type.
func (MaxPool2DGradient) Infer(in []*Value) (Type, error) { return Type{in[0].shape, in[0].dtype}, nil }
