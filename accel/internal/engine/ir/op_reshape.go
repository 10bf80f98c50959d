package ir

// Reshape computes y = x with other dimensions and the same elements in row-major order: a
// view where the layout allows it, else a copy.
type Reshape struct {
	viewOp
	movement
	Shape []int
}

func (Reshape) Name() string { return "Reshape" }

// Infer returns the shape given.
func (o Reshape) Infer(in []*Value) (Type, error) {
	if Len(o.Shape) != in[0].Len() {
		return Type{}, &ShapeError{Hint: "cannot be reshaped to " + FormatShape(o.Shape) + ": the number of elements must be the same"}
	}
	return Type{o.Shape, in[0].dtype}, nil
}

func (o Reshape) view(in Layout) (Layout, bool) {
	if in.Contiguous() {
		return Layout{Shape: o.Shape, Stride: Strides(o.Shape), Offset: in.Offset}, true
	}
	from := in.Squeeze() // its dimensions cannot be merged any more, only split
	out := Layout{Shape: o.Shape, Stride: make([]int, len(o.Shape)), Offset: in.Offset}
	k, left := len(from.Shape), 1 // left is what is not yet split off from dimension k
	stride := 0
	for i := len(o.Shape) - 1; i >= 0; i-- {
		n := o.Shape[i]
		if n == 1 {
			continue
		}
		if left == 1 {
			k--
			left, stride = from.Shape[k], from.Stride[k]
		}
		if left%n != 0 {
			return Layout{}, false
		}
		out.Stride[i] = stride
		left, stride = left/n, stride*n
	}
	return out, true
}

// Gradient returns dy in x's shape.
func (Reshape) Gradient(r *Recorder, in []*Value, _, dy *Value, _ []bool) []*Value {
	return []*Value{r.Reshape(dy, in[0].shape)}
}

// Reshape records a reshape where the shape differs.
func (r *Recorder) Reshape(v *Value, shape []int) *Value {
	if sameShape(v.shape, shape) {
		return v
	}
	return r.Record(Reshape{Shape: append([]int{}, shape...)}, v)
}
