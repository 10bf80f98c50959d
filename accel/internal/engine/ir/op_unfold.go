package ir

import "fmt"

// Unfold is the windows of Size elements along one axis, which move by Step elements and whose elements are
// Dilation apart, as a view: y[…, i, j, …] = x[…, i·Step + j·Dilation, …]. Compositions of convolutions and pools
// record it.
type Unfold struct {
	viewOp
	movement
	noGradient
	Axis, Size, Step, Dilation int
}

func (Unfold) Name() string { return "Unfold" }
func (Unfold) noONNX() string {
	return "compositions of convolutions and pools record it, which are operators of ONNX"
}

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

// fold is the adjoint of windows with zeros: it adds the elements of windows [N, C, OH, KH, OW, KW] up where they are in
// an image of sizes [H, W].
func (r *Recorder) fold(y *Value, w [2]window, image []int) *Value {
	return r.foldAxis(r.foldAxis(y, 4, w[1], image[1]), 2, w[0], image[0])
}

// foldAxis folds the windows and their elements, which are two axes, to one of n elements. Without dilation it takes
// as many elements of each window at once as lie between the windows, which do not overlap then.
func (r *Recorder) foldAxis(y *Value, axis int, w window, n int) (sum *Value) {
	group := 1
	if w.dilation == 1 {
		group = w.step
	}
	for j := 0; j < w.size; j += group {
		part := r.Record(Slice{Axis: axis + 1, From: j, To: min(j+group, w.size)}, y)
		if part.shape[axis+1] < w.step {
			part = r.Record(Pad{Axis: axis + 1, Size: w.step}, part)
		}
		s := part.shape
		part = r.Reshape(part, append(append(append([]int{}, s[:axis]...), s[axis]*s[axis+1]), s[axis+2:]...))
		part = r.placed(part, axis, j*w.dilation-w.padding, n)
		if sum == nil {
			sum = part
		} else {
			sum = r.Add(sum, part)
		}
	}
	return sum
}

// placed returns x from an offset along an axis of a size, which may be negative, with zeros around it.
func (r *Recorder) placed(x *Value, axis, at, size int) *Value {
	to := max(0, min(x.shape[axis], size-at))
	from := min(max(0, -at), to)
	if from > 0 || to < x.shape[axis] {
		x = r.Record(Slice{Axis: axis, From: from, To: to}, x)
	}
	if x.shape[axis] == size {
		return x
	}
	return r.Record(Pad{Axis: axis, Before: min(max(0, at), size-x.shape[axis]), Size: size}, x)
}
