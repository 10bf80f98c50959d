package ir

import "slices"

// Sums of gradients of slices, before → after:
//
//	pad(a) + pad(b), side by side       pad(concat(a, b))
//	  … that fill the whole             concat(a, b)
//	concat of neighboring parts of v   the part of v, a view
//
// So the gradient of a value that is split into slices is computed in one pass or without
// copies.

// join returns the sum of two gradients of one value.
func (r *Recorder) join(a, b *Value) *Value {
	first, ok := a.op.(Pad)
	second, too := b.op.(Pad)
	if !ok || !too || first.Axis != second.Axis || a.dtype != b.dtype {
		return r.Add(a, b)
	}
	if second.Before < first.Before {
		a, b, first, second = b, a, second, first
	}
	axis := first.Axis
	x, y := a.in[0], b.in[0]
	if first.Before+x.shape[axis] != second.Before {
		return r.Add(a, b)
	}
	joined := r.concat(axis, x, y)
	if joined.shape[axis] == first.Size {
		return joined
	}
	return r.Record(Pad{Axis: axis, Before: first.Before, Size: first.Size}, joined)
}

// concat concatenates two values, which may be concatenations themselves.
func (r *Recorder) concat(axis int, x, y *Value) *Value {
	var parts []*Value
	for _, v := range []*Value{x, y} {
		if c, ok := v.op.(Concat); ok && c.Axis == axis {
			parts = append(parts, v.in...)
		} else {
			parts = append(parts, v)
		}
	}
	if v := r.neighbors(axis, parts); v != nil {
		return v
	}
	return r.Record(Concat{Axis: axis}, parts...)
}

// neighbors returns the concatenation of values that together are a range of another, maybe with
// the dimensions in another order, as a view; and nil for others. Casts of them become one of
// the whole.
func (r *Recorder) neighbors(axis int, parts []*Value) *Value {
	base, all, casts := viewed(parts[0])
	all = Layout{Shape: slices.Clone(all.Shape), Stride: slices.Clone(all.Stride), Offset: all.Offset}
	for _, v := range parts[1:] {
		from, l, other := viewed(v)
		if from != base || !slices.Equal(other, casts) {
			return nil
		}
		if all.Shape[axis] == 1 { // its stride did not matter
			all.Stride[axis] = l.Offset - all.Offset
		}
		if l.Offset != all.Offset+all.Shape[axis]*all.Stride[axis] {
			return nil
		}
		for d, n := range l.Shape {
			if n != 1 && l.Stride[d] != all.Stride[d] {
				return nil
			}
		}
		all.Shape[axis] += l.Shape[axis]
	}
	order, ok := all.inMemoryOrder()
	if !ok && !all.Contiguous() || Len(all.Shape) == 0 {
		return nil
	}
	flat := r.Reshape(base, []int{base.Len()})
	for _, d := range casts {
		flat = r.as(flat, d)
	}
	if !ok {
		return r.part(flat, all.Offset, all.Shape)
	}
	return r.Record(Permute{Perm: inverse(order)}, r.part(flat, all.Offset, all.permuted(order).Shape))
}

// viewed returns the value of which v is a view, and where its elements are in that value, if it were
// row-major. casts are the types between them, the last that of v.
func viewed(v *Value) (base *Value, l Layout, casts []DType) {
	if v.op == nil || len(v.in) != 1 {
		return v, RowMajor(v.shape), nil
	}
	switch op := v.op.(type) {
	case Cast:
		base, l, casts = viewed(v.in[0])
		return base, l, append(casts, op.To)
	case viewer:
		base, l, casts = viewed(v.in[0])
		if out, ok := op.view(l); ok {
			return base, out, casts
		}
	}
	return v, RowMajor(v.shape), nil
}
