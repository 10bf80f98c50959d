package ir

import "fmt"

// Unfold is the windows of Size elements along one axis, which move by Step elements and whose elements are
// Dilation apart, as a view: y[…, i, j, …] = x[…, i·Step + j·Dilation, …]. Compositions of convolutions and pools
// record it.
type Unfold struct {
	movement
	noGradient
	Axis, Size, Step, Dilation int
}

func (Unfold) Name() string { return "Unfold" }

// Class returns View.
func (Unfold) Class([]*Value) Class { return View }

// AppendKey appends the windows.
func (o Unfold) AppendKey(key []byte) []byte {
	return appendInts(key, o.Axis, o.Size, o.Step, o.Dilation)
}

// Infer returns the shape with the number of windows and their size in place of the axis.
func (o Unfold) Infer(in []*Value) (Type, error) {
	s := in[0].shape
	if o.Axis < 0 || o.Axis >= len(s) || o.Size < 1 || o.Step < 1 || o.Dilation < 1 || (o.Size-1)*o.Dilation >= s[o.Axis] {
		return Type{}, &ShapeError{Hint: fmt.Sprintf("there is no window of %d elements with step %d and dilation %d along axis %d", o.Size, o.Step, o.Dilation, o.Axis)}
	}
	return Type{o.shape(s), in[0].dtype}, nil
}

func (o Unfold) shape(s []int) []int {
	count := (s[o.Axis]-1-(o.Size-1)*o.Dilation)/o.Step + 1
	return append(append(append([]int{}, s[:o.Axis]...), count, o.Size), s[o.Axis+1:]...)
}

func (o Unfold) view(in Layout) (Layout, bool) {
	along := in.Stride[o.Axis]
	stride := append(append(append([]int{}, in.Stride[:o.Axis]...), along*o.Step, along*o.Dilation), in.Stride[o.Axis+1:]...)
	return Layout{Shape: o.shape(in.Shape), Stride: stride, Offset: in.Offset}, true
}

// window is a window that moves over an image along one axis.
type window struct{ size, step, padding, dilation int }

// windowsOf returns the window of an image along both axes, as that of an op with these parameters.
func windowsOf(size [2]int, image []int, step, padding, dilation [2]int) (w [2]window) {
	for i := range w {
		s, d := Reach(image[i], size[i], step[i], padding[i], dilation[i])
		w[i] = window{size[i], s, padding[i], d}
	}
	return w
}

// windows returns the windows [N, C, OH, KH, OW, KW] of x [N, C, H, W] with padding of a value.
func (r *Recorder) windows(x *Value, w [2]window, value float64) *Value {
	for i, a := range [2]int{2, 4} {
		x = r.padded(x, a, w[i].padding, value)
		x = r.Record(Unfold{Axis: a, Size: w[i].size, Step: w[i].step, Dilation: w[i].dilation}, x)
	}
	return x
}

// padded returns x with n elements of a value on both sides of an axis.
func (r *Recorder) padded(x *Value, axis, n int, value float64) *Value {
	if n == 0 {
		return x
	}
	if value == 0 {
		return r.Record(Pad{Axis: axis, Before: n, Size: x.shape[axis] + 2*n}, x)
	}
	shape := append([]int{}, x.shape...)
	shape[axis] = n
	side := r.Record(Expand{Shape: shape}, r.scalar(value, x.dtype))
	return r.Record(Concat{Axis: axis}, side, x, side)
}

// reaching returns, for each element of an image of sizes [H, W], the elements of dy [N, C, OH, OW] whose
// windows it is in, [N, C, H, KH, W, KW]: the window's last element first. It is 0 for those that there are
// not.
func (r *Recorder) reaching(dy *Value, w [2]window, image []int) *Value {
	for i, a := range [2]int{2, 4} {
		n, step := dy.shape[a], w[i].step
		if step > 1 { // zeros between the elements
			shape := dy.shape
			dy = r.Record(Pad{Axis: a + 1, Size: step}, r.keep(dy, a+1))
			dy = r.Reshape(dy, append(append(append([]int{}, shape[:a]...), n*step), shape[a+1:]...))
		}
		reach := (w[i].size - 1) * w[i].dilation
		dy = r.placed(dy, a, reach-w[i].padding, image[i]+reach)
		dy = r.Record(Unfold{Axis: a, Size: w[i].size, Step: 1, Dilation: w[i].dilation}, dy)
	}
	return dy
}

// placed returns x from an offset along an axis of a size, which may be negative, with zeros around it.
func (r *Recorder) placed(x *Value, axis, at, size int) *Value {
	if from, to := max(0, -at), min(x.shape[axis], size-at); from > 0 || to < x.shape[axis] {
		x, at = r.Record(Slice{Axis: axis, From: min(from, max(from, to)), To: max(from, to)}, x), max(0, at)
	}
	return r.Record(Pad{Axis: axis, Before: min(at, size-x.shape[axis]), Size: size}, x)
}

// flip returns x from the end along an axis.
func (r *Recorder) flip(x *Value, axis int) *Value {
	if x.shape[axis] < 2 {
		return x
	}
	from := r.Record(CumSum{Reverse: true}, r.Record(Fill{Value: 1, Shape: []int{x.shape[axis]}, DType: Float64}))
	from = r.as(r.Record(AddScalar{Scalar: -1}, from), Int32)
	return r.swap(r.Record(IndexSelect{}, r.swap(x, 0, axis), from), 0, axis)
}
