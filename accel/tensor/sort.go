package tensor

import "github.com/quernlab/quern/accel/internal/engine/ir"

// Sort returns the elements along an axis in ascending or descending order, and their indices along
// it, int32. Equal elements keep their order, and NaN counts as the largest: torch's sort with
// stable=True. The gradient flows to the elements that the values were taken from. For t
// [[3 1 2]], Sort(-1, false) returns [[1 2 3]] and [[1 2 0]].
func (t *Tensor) Sort(along int, descending bool) (values, indices *Tensor) {
	n := 0
	if s := t.Shape(); len(s) > 0 {
		n = s[axis("Sort", s, along)]
	}
	return t.sorted("Sort", along, ir.ArgSort{K: n, Descending: descending})
}

// TopK returns the k largest elements along an axis, the largest first, or the k smallest, the
// smallest first, and their indices along it, int32. Of equal elements the first are taken, and NaN
// counts as the largest: torch's topk. For t [3 1 2], TopK(2, 0, true) returns [3 2] and [0 2].
func (t *Tensor) TopK(k, along int, largest bool) (values, indices *Tensor) {
	return t.sorted("TopK", along, ir.ArgSort{K: k, Descending: largest})
}

func (t *Tensor) sorted(name string, along int, op ir.ArgSort) (values, indices *Tensor) {
	shape := t.Shape()
	a, last := axis(name, shape, along), len(shape)-1
	n := shape[a]
	rows := t
	perm := make([]int, len(shape)) // exchanges the axis and the last one; it is its own inverse
	for i := range perm {
		perm[i] = i
	}
	if perm[a], perm[last] = last, a; a != last {
		rows = t.Permute(perm...)
	}
	back := func(r *ir.Recorder, v *ir.Value) *ir.Value {
		if a == last {
			return v
		}
		return r.Record(ir.Permute{Perm: perm}, v)
	}
	positions := compute(composite{name: name}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		x := v[0]
		if d := x.DType(); d == Int32 || d == Uint8 { // float64 has their values
			x = r.Record(ir.Cast{To: Float64}, x)
		}
		return r.Record(op, x)
	}, rows)
	values = arrange(composite{name: name}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		return back(r, r.Record(ir.IndexSelect{}, r.Reshape(v[0], []int{v[0].Len()}), v[1]))
	}, rows, positions)
	indices = arrange(composite{name: name}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		p := r.Record(ir.Cast{To: Float64}, v[0]) // exact, as is the rounded quotient
		row := r.Record(ir.Floor{}, r.Record(ir.Div{}, p, fill(r, float64(max(n, 1)), Float64)))
		return back(r, r.Record(ir.Cast{To: Int32}, r.Record(ir.Sub{}, p, r.MulScalar(row, float64(n)))))
	}, positions)
	positions.Release()
	return values, indices
}
