package ir

import (
	"fmt"
	"math"
)

// Pool is a window that moves over images [N, C, H, W]. Pairs are height and width.
type Pool struct {
	wholeOp
	Kernel, Stride, Padding, Dilation [2]int
}

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

// window returns the windows in an image [H, W].
func (o Pool) window(image []int) [2]window {
	return windowsOf(o.Kernel, image, o.Stride, o.Padding, o.Dilation)
}

// elements returns the elements [N, C, KH·KW, OH, OW] of the windows of x, with a value outside of the image.
func (o Pool) elements(r *Recorder, x *Value, value float64) *Value {
	y := r.windows(x, o.window(x.shape[2:]), value)
	s := y.shape
	return r.Reshape(r.Record(Permute{Perm: []int{0, 1, 3, 5, 2, 4}}, y), []int{s[0], s[1], s[3] * s[5], s[2], s[4]})
}

// MaxPool2D is the largest element of each window of x [N, C, H, W], NaN if it
// has one; torch's max_pool2d.
type MaxPool2D struct{ Pool }

func (MaxPool2D) Name() string { return "MaxPool2D" }

// Compose finds the largest element of each window.
func (o MaxPool2D) Compose(r *Recorder, in []*Value) *Value {
	return r.Record(Max{Axis: 2}, o.elements(r, in[0], math.Inf(-1)))
}

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

// Compose finds the element of each window that MaxPool2D has taken, the last NaN or else the first of equal ones, and
// adds dy to it.
func (o MaxPool2DGradient) Compose(r *Recorder, in []*Value) *Value {
	x, y, dy := in[0], in[1], in[2]
	s, w := x.shape, o.window(x.shape[2:])
	if x.Len() > math.MaxInt32 {
		panic(&ShapeError{Op: o.Name(), Shapes: [][]int{append([]int{}, s...)}, Hint: "more than 2³¹-1 elements cannot be indexed"})
	}
	all := o.elements(r, x, math.Inf(-1))
	inside := o.elements(r, r.Record(Fill{Value: 1, Shape: []int{1, 1, s[2], s[3]}, DType: Float32}), 0)
	equal := r.Mul(r.Record(Eq{}, all, r.keep(y, 2)), inside)
	number := r.Reshape(r.as(r.count(all.shape[2]), Float32), []int{all.shape[2], 1, 1})
	nan := r.Record(Not{}, r.Record(Eq{}, all, all))
	score := r.Record(Where{}, nan, r.Record(AddScalar{Scalar: 2}, number), equal)
	taken := r.Record(Greater{}, r.Record(Max{Axis: 2}, score), r.scalar(0, Float32)) // not in a window of padding

	at := r.as(r.Record(ArgMax{Axis: 2}, score), Float64)
	row := r.Record(Floor{}, r.Record(Div{}, at, r.scalar(float64(w[1].size), Float64)))
	column := r.Record(Sub{}, at, r.MulScalar(row, float64(w[1].size)))
	place := func(i int, within *Value) *Value { // the position along an axis of the image
		first := r.Record(AddScalar{Scalar: -float64(w[i].padding)}, r.MulScalar(r.count(at.shape[2+i]), float64(w[i].step)))
		if i == 0 {
			first = r.keep(first, 1)
		}
		return r.Add(first, r.MulScalar(within, float64(w[i].dilation)))
	}
	plane := r.Reshape(r.MulScalar(r.count(s[0]*s[1]), float64(s[2]*s[3])), []int{s[0], s[1], 1, 1})
	position := r.Add(r.Add(plane, r.MulScalar(place(0, row), float64(s[3]))), place(1, column))
	position = r.as(r.Record(Where{}, taken, position, r.scalar(0, Float64)), Int32)
	dy = r.Record(Where{}, taken, dy, r.scalar(0, dy.dtype))
	return r.Reshape(r.Record(IndexAdd{Rows: x.Len(), Row: []int{}}, r.flat(dy), r.flat(position)), s)
}
