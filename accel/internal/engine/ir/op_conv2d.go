package ir

import (
	"fmt"
	"math"
)

// Conv2D is the two-dimensional cross-correlation of x [N, C, H, W] with w
// [O, C/Groups, KH, KW], plus a bias [O] if there is a third input:
//
//	y[n, o, i, j] = b[o] + Σ w[o, c, u, v] · x[n, c', i·stride + u·dilation - padding, j·…]
//
// over c, u and v, where c' is channel c of o's group, and x is 0 outside. It is
// what torch.nn.functional.conv2d computes. An activation that follows fuses
// into it. Pairs are height and width.
type Conv2D struct {
	wholeOp
	Stride, Padding, Dilation [2]int
	Groups                    int
}

func (Conv2D) Name() string                           { return "Conv2D" }
func (Conv2D) Autocast() Autocast                     { return Cast16Bit }
func (Conv2D) multiplyAdds(in [][]int, out []int) int { return Len(out) * Len(in[1][1:]) }

// AppendKey appends stride, padding, dilation and groups.
func (o Conv2D) AppendKey(key []byte) []byte {
	key = appendInts(key, o.Stride[:]...)
	key = appendInts(key, o.Padding[:]...)
	return appendInts(appendInts(key, o.Dilation[:]...), o.Groups)
}

// Infer returns [N, O, OH, OW].
func (o Conv2D) Infer(in []*Value) (Type, error) {
	if err := wantFloat(in...); err != nil {
		return Type{}, err
	}
	x, w := in[0].shape, in[1].shape
	if len(x) != 4 || len(w) != 4 {
		return Type{}, &ShapeError{Hint: "x [N C H W] and w [O C/groups KH KW] are needed"}
	}
	for i := range 2 {
		if o.Stride[i] < 1 || o.Dilation[i] < 1 || o.Padding[i] < 0 {
			return Type{}, &ShapeError{Hint: fmt.Sprintf("stride %v and dilation %v must be at least 1, padding %v not negative", o.Stride, o.Dilation, o.Padding)}
		}
	}
	if o.Groups < 1 || x[1] != w[1]*o.Groups || w[0]%o.Groups != 0 {
		return Type{}, &ShapeError{Hint: fmt.Sprintf("with %d groups, x must have %d·%d channels and w a multiple of %d outputs", o.Groups, o.Groups, w[1], o.Groups)}
	}
	if len(in) == 3 && !sameShape(in[2].shape, w[:1]) {
		return Type{}, &ShapeError{Hint: "the bias must have one element for each output channel"}
	}
	out := []int{x[0], w[0], 0, 0}
	for i := range 2 {
		n, err := Windows(x[2+i], w[2+i], o.Stride[i], o.Padding[i], o.Dilation[i])
		if err != nil {
			return Type{}, err
		}
		out[2+i] = n
	}
	return Type{out, in[0].dtype}, nil
}

// Compose multiplies the kernels with the windows of the image, which it stores: KH·KW times the elements of x, or
// fewer with a stride.
func (o Conv2D) Compose(r *Recorder, in []*Value) *Value {
	x, w := in[0], in[1]
	columns := r.columns(r.windows(x, o.window(x.shape[2:], w.shape[2:]), 0), o.Groups)
	kernels := r.Reshape(w, []int{o.Groups, w.shape[0] / o.Groups, Len(w.shape[1:])})
	t, err := o.Infer(in)
	if err != nil {
		panic(err)
	}
	y := r.Reshape(r.Record(MatMul{}, kernels, columns), t.Shape)
	if len(in) == 3 {
		y = r.Add(y, r.perChannel(in[2], y))
	}
	return y
}

// window returns the windows of kernels [KH, KW] in an image [H, W].
func (o Conv2D) window(image, kernel []int) [2]window {
	return windowsOf([2]int(kernel), image, o.Stride, o.Padding, o.Dilation)
}

// columns returns windows [N, C, OH, KH, OW, KW] as matrices [N, Groups, C/Groups·KH·KW, OH·OW].
func (r *Recorder) columns(x *Value, groups int) *Value {
	s := x.shape
	return r.Reshape(r.Record(Permute{Perm: []int{0, 1, 3, 5, 2, 4}}, x), []int{s[0], groups, s[1] / groups * s[3] * s[5], s[2] * s[4]})
}

// Windows returns the number of positions of a window along one dimension.
func Windows(size, window, stride, padding, dilation int) (int, error) {
	if padding > (math.MaxInt32-size)/2 {
		return 0, &ShapeError{Hint: fmt.Sprintf("%d elements with padding %d on both sides are too many; at most %d are supported", size, padding, math.MaxInt32)}
	}
	whole := size + 2*padding
	if window < 1 || whole < 1 || window-1 > (whole-1)/dilation {
		return 0, &ShapeError{Hint: fmt.Sprintf("a window of %d elements with dilation %d does not fit into %d with padding %d on both sides", window, dilation, size, padding)}
	}
	return (whole-dilation*(window-1)-1)/stride + 1, nil
}

// Reach returns the stride and the dilation limited to what makes a difference for a window along one
// dimension: devices compute with both, in 32 bits.
func Reach(size, window, stride, padding, dilation int) (int, int) {
	if window == 1 {
		dilation = min(dilation, 1)
	}
	return min(stride, max(1, size+2*padding)), dilation
}

// Gradient returns a convolution of dy with the rotated kernel, a convolution of x with dy,
// and the sum of dy over the batch and all positions.
func (o Conv2D) Gradient(r *Recorder, in []*Value, _, dy *Value, wants []bool) []*Value {
	out := make([]*Value, len(in))
	if wants[0] {
		out[0] = r.Record(Conv2DInputGradient{Conv2D: o, H: in[0].shape[2], W: in[0].shape[3]}, dy, in[1])
	}
	if wants[1] {
		out[1] = r.Record(Conv2DWeightGradient{Conv2D: o, KH: in[1].shape[2], KW: in[1].shape[3]}, in[0], dy)
	}
	if len(in) == 3 && wants[2] {
		out[2] = r.Record(Sum{From: 0, To: 1}, r.Record(Sum{From: 2, To: 4}, unpooled(dy)))
	}
	return out
}

// unpooled returns dy and its sum over an image's positions. If dy comes from a pool of a
// ReLU, the sum is that of the pool's own dy, each of which goes to one position.
func unpooled(dy *Value) *Value {
	if _, ok := dy.op.(MaxPool2DGradient); !ok {
		return dy
	}
	if _, masked := dy.in[2].op.(ReLUGradient); !masked { // a window of padding only has no such position
		return dy
	}
	return dy.in[2]
}

// Conv2DInputGradient computes the gradient of Conv2D with respect to x [N, C, H, W], from
// dy [N, O, OH, OW] and w. It is also a transposed convolution of dy.
type Conv2DInputGradient struct {
	Conv2D
	H, W int
}

func (Conv2DInputGradient) Name() string                         { return "Conv2DInputGradient" }
func (Conv2DInputGradient) multiplyAdds(in [][]int, _ []int) int { return Len(in[0]) * Len(in[1][1:]) }

// Infer returns [N, C, H, W].
func (o Conv2DInputGradient) Infer(in []*Value) (Type, error) {
	return Type{[]int{in[0].shape[0], in[1].shape[1] * o.Groups, o.H, o.W}, in[0].dtype}, nil
}

// Gradient returns, for the gradient g of dx, the convolution of g with w and the gradient of w
// that g as x would have.
func (o Conv2DInputGradient) Gradient(r *Recorder, in []*Value, _, g *Value, wants []bool) []*Value {
	out := make([]*Value, 2)
	if wants[0] {
		out[0] = r.Record(o.Conv2D, g, in[1])
	}
	if wants[1] {
		out[1] = r.Record(Conv2DWeightGradient{Conv2D: o.Conv2D, KH: in[1].shape[2], KW: in[1].shape[3]}, g, in[0])
	}
	return out
}

// Compose multiplies the kernels with dy, and adds the products up where they are in the image. It stores as many as
// Conv2D.Compose.
func (o Conv2DInputGradient) Compose(r *Recorder, in []*Value) *Value {
	dy, w := in[0], in[1]
	image, s, d := []int{o.H, o.W}, w.shape, dy.shape
	kernels := r.swapLast(r.Reshape(w, []int{o.Groups, s[0] / o.Groups, Len(s[1:])}))
	slopes := r.Reshape(dy, []int{d[0], o.Groups, d[1] / o.Groups, d[2] * d[3]})
	columns := r.Reshape(r.Record(MatMul{}, kernels, slopes), []int{d[0], s[1] * o.Groups, s[2], s[3], d[2], d[3]})
	return r.fold(r.Record(Permute{Perm: []int{0, 1, 4, 2, 5, 3}}, columns), o.window(image, s[2:]), image)
}

// Conv2DWeightGradient computes the gradient of Conv2D with respect to w [O, C/Groups, KH,
// KW], from x and dy.
type Conv2DWeightGradient struct {
	gradientOp
	Conv2D
	KH, KW int
}

func (Conv2DWeightGradient) Name() string                           { return "Conv2DWeightGradient" }
func (Conv2DWeightGradient) multiplyAdds(in [][]int, out []int) int { return Len(in[1]) * Len(out[1:]) }

// Infer returns [O, C/Groups, KH, KW].
func (o Conv2DWeightGradient) Infer(in []*Value) (Type, error) {
	return Type{[]int{in[1].shape[1], in[0].shape[1] / o.Groups, o.KH, o.KW}, in[0].dtype}, nil
}

// Compose multiplies dy with the windows of the image.
func (o Conv2DWeightGradient) Compose(r *Recorder, in []*Value) *Value {
	x, dy := in[0], in[1]
	s := dy.shape
	columns := r.columns(r.windows(x, o.window(x.shape[2:], []int{o.KH, o.KW}), 0), o.Groups)
	products := s[0] * s[2] * s[3]
	columns = r.Reshape(r.Record(Permute{Perm: []int{1, 0, 3, 2}}, columns), []int{o.Groups, products, columns.shape[2]})
	slopes := r.Reshape(dy, []int{s[0], o.Groups, s[1] / o.Groups, s[2] * s[3]})
	slopes = r.Reshape(r.Record(Permute{Perm: []int{1, 2, 0, 3}}, slopes), []int{o.Groups, s[1] / o.Groups, products})
	return r.Reshape(r.Record(MatMul{}, slopes, columns), []int{s[1], x.shape[1] / o.Groups, o.KH, o.KW})
}
