package ir

// Reshape computes y = x with other dimensions and the same elements in row-major order: a
// view where the layout allows it, else a copy.
type Reshape struct {
	movement
	Shape []int
}

func (Reshape) Name() string { return "Reshape" }

// Class returns View.
func (Reshape) Class([]*Value) Class { return View }

// AppendKey appends nothing: the shape is part of every key.
func (Reshape) AppendKey(key []byte) []byte { return key }

// Infer returns the shape given.
func (o Reshape) Infer(in []*Value) (Type, error) {
	if Len(o.Shape) != in[0].Len() {
		return Type{}, &ShapeError{Hint: "cannot be reshaped to " + FormatShape(o.Shape) + ": the number of elements must be the same"}
	}
	return Type{o.Shape, in[0].dtype}, nil
}

func (o Reshape) view(in Layout) (Layout, bool) {
	if !in.Contiguous() {
		return o.onesMoved(in)
	}
	return Layout{Shape: o.Shape, Stride: Strides(o.Shape), Offset: in.Offset}, true
}

// onesMoved returns the view if only dimensions of size 1 are added or removed.
func (o Reshape) onesMoved(in Layout) (Layout, bool) {
	out := Layout{Shape: o.Shape, Stride: make([]int, len(o.Shape)), Offset: in.Offset}
	k := 0
	for i, n := range o.Shape {
		if n == 1 {
			continue
		}
		for k < len(in.Shape) && in.Shape[k] == 1 {
			k++
		}
		if k == len(in.Shape) || in.Shape[k] != n {
			return Layout{}, false
		}
		out.Stride[i] = in.Stride[k]
		k++
	}
	for ; k < len(in.Shape); k++ {
		if in.Shape[k] != 1 {
			return Layout{}, false
		}
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
