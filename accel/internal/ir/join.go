package ir

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
	if axis == 0 {
		v, from, to, ok := flatPart(x)
		w, next, end, too := flatPart(y)
		if ok && too && v == w && to == next {
			shape := append([]int{x.shape[0] + y.shape[0]}, x.shape[1:]...)
			if Len(shape) == end-from {
				return r.part(v, from, shape)
			}
		}
	}
	var parts []*Value
	for _, v := range []*Value{x, y} {
		if c, ok := v.op.(Concat); ok && c.Axis == axis {
			parts = append(parts, v.in...)
		} else {
			parts = append(parts, v)
		}
	}
	return r.Record(Concat{Axis: axis}, parts...)
}

// flatPart returns the range of a flat value that v is a reshaped view of.
func flatPart(v *Value) (flat *Value, from, to int, ok bool) {
	for v.op != nil && len(v.in) > 0 {
		switch op := v.op.(type) {
		case Reshape:
			v = v.in[0]
			continue
		case Slice:
			if len(v.in[0].shape) == 1 {
				return v.in[0], op.From, op.To, true
			}
		}
		break
	}
	return nil, 0, 0, false
}
