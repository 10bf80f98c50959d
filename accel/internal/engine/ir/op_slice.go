package ir

import "fmt"

// Slice computes y = x[…, From:To, …] along one axis; a view.
type Slice struct {
	viewOp
	movement
	Axis, From, To int
}

func (Slice) Name() string { return "Slice" }

// AppendKey appends axis and range.
func (o Slice) AppendKey(key []byte) []byte { return appendInts(key, o.Axis, o.From, o.To) }

// Infer returns the shape with the axis shortened.
func (o Slice) Infer(in []*Value) (Type, error) {
	s := append([]int{}, in[0].shape...)
	if o.Axis < 0 || o.Axis >= len(s) || o.From < 0 || o.From > o.To || o.To > s[o.Axis] {
		return Type{}, &ShapeError{Hint: fmt.Sprintf("the range %d:%d is outside of axis %d", o.From, o.To, o.Axis)}
	}
	s[o.Axis] = o.To - o.From
	return Type{s, in[0].dtype}, nil
}

func (o Slice) view(in Layout) (Layout, bool) {
	out := Layout{Shape: append([]int{}, in.Shape...), Stride: in.Stride, Offset: in.Offset + o.From*in.Stride[o.Axis]}
	out.Shape[o.Axis] = o.To - o.From
	if Len(out.Shape) == 0 {
		out.Offset = 0
	}
	return out, true
}

// Gradient returns dy where the slice was, and 0 elsewhere.
func (o Slice) Gradient(r *Recorder, in []*Value, _, dy *Value, _ []bool) []*Value {
	if o.From == 0 && o.To == in[0].shape[o.Axis] {
		return []*Value{dy}
	}
	return []*Value{r.pad(Pad{Axis: o.Axis, Before: o.From, Size: in[0].shape[o.Axis]}, dy)}
}
