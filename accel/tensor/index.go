package tensor

import (
	"fmt"
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// Gather returns the elements of t at the indices along an axis: for t and index of three dimensions and axis 1,
// y[i, j, k] = t[i, index[i, j, k], k]. It is torch's gather: index is int32, int64 or uint8, has as many
// dimensions as t, and is not longer than t along other axes; the result has its shape. t has any element
// type. It panics with an *IndexError if an index is not in 0..n-1, where n is t's size along the axis.
// [Tensor.IndexSelect] selects whole rows.
func (t *Tensor) Gather(along int, index *Tensor) *Tensor {
	return arrange(composite{name: "Gather"}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		l := linesOf(r, "Gather", v[0].Shape(), v[1], along)
		return l.joined(r, r.Record(ir.IndexSelect{}, l.apart(r, v[0]), l.positions), l.k)
	}, t, index)
}

// ScatterAdd returns t with the elements of src added at the indices along an axis: for three dimensions and
// axis 1, y[i, index[i, j, k], k] += src[i, j, k]. It is torch's scatter_add: index is as in [Tensor.Gather],
// and src has at least its size along each axis; what is beyond is not used. Elements for one index are added
// in the order of the index.
func (t *Tensor) ScatterAdd(along int, index, src *Tensor) *Tensor {
	return compute(composite{name: "ScatterAdd", cast: ir.CastWidest}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		l := linesOf(r, "ScatterAdd", v[0].Shape(), v[1], along)
		sum := r.Record(l.add(), l.source(r, v[2]), l.positions)
		return r.Add(v[0], l.spread(r, sum))
	}, t, index, src)
}

// Scatter returns t with the elements of src at the indices along an axis: for three dimensions and axis 1,
// y[i, index[i, j, k], k] = src[i, j, k]. It is torch's scatter; index and src are as in [Tensor.ScatterAdd]. If
// an index occurs twice, the last element is taken, and only it has a gradient.
func (t *Tensor) Scatter(along int, index, src *Tensor) *Tensor {
	return compute(composite{name: "Scatter", cast: ir.CastWidest}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		x := v[0]
		wantFloat("Scatter", x)
		l := linesOf(r, "Scatter", x.Shape(), v[1], along)
		from, n := l.source(r, v[2]), l.positions.Len()
		if n == 0 {
			return x
		}
		// In the order of positions, the last of equal ones is followed by another.
		at := r.Record(ir.Cast{To: Float64}, l.positions)
		order := r.Record(ir.ArgSort{K: n}, at)
		at = r.Record(ir.IndexSelect{}, at, order)
		next := r.Record(ir.Concat{}, r.Record(ir.Slice{From: 1, To: n}, at), r.Reshape(fill(r, -1, Float64), []int{1}))
		last := r.Record(ir.Not{}, r.Record(ir.Eq{}, at, next))
		to := r.Record(ir.Cast{To: Int32}, at)
		from = r.Record(ir.Where{}, last, r.Record(ir.IndexSelect{}, from, order), fill(r, 0, x.DType()))
		hit, value := r.Record(l.add(), last, to), r.Record(l.add(), from, to)
		return r.Record(ir.Where{}, l.spread(r, hit), l.spread(r, value), x)
	}, t, index, src)
}

// BinCount returns how often each of the numbers 0..bins-1 occurs in t, as int64 [bins]: torch's bincount with the
// number of bins, which torch takes from the largest element. t is int32, int64 or uint8 and has any shape. It
// panics with an *IndexError if an element is not in 0..bins-1. For t [0 2 2], BinCount(4) returns [1 0 2 0].
func (t *Tensor) BinCount(bins int) *Tensor {
	return arrange(composite{name: "BinCount"}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		if bins < 0 {
			panic(&ShapeError{Op: "BinCount", Shapes: [][]int{slices.Clone(v[0].Shape())}, Hint: fmt.Sprintf("%d bins: their number cannot be negative", bins)})
		}
		n := v[0].Len()
		at := r.Reshape(checkedIndex(r, "BinCount", v[0], bins), []int{n})
		ones := r.Record(ir.Fill{Value: 1, Shape: []int{n}, DType: Float64}) // float64 counts up to 2⁵³
		return r.Record(ir.Cast{To: Int64}, r.Record(ir.IndexAdd{Rows: bins, Row: []int{}}, ones, at))
	}, t)
}

// checkedIndex returns an index as int32. It panics with an *IndexError if an element is outside of 0..size-1 and
// computed; else the check is part of the list.
func checkedIndex(r *ir.Recorder, op string, v *ir.Value, size int) *ir.Value {
	if d := v.DType(); d != Int32 && d != Int64 && d != Uint8 {
		panic(&DTypeError{Op: op, DTypes: []DType{d}, Hint: "the index must be int32, int64 or uint8: tensor.FromInts(list, shape...) makes one"})
	}
	r.CheckIndices(op, v, size)
	return r.Record(ir.Index{For: op, Size: size}, cast(r, v, Int64))
}

// lines are the elements of a tensor along an axis: one line for each index of the other axes, in so far as an
// index tensor has them.
type lines struct {
	op        string
	axis      int
	shape     []int // of the tensor
	index     []int // shape of the index
	n, k      int   // elements of a line of the tensor, and of the index
	positions *ir.Value
}

// linesOf returns the lines of a tensor to which an index leads. positions has for each element of the index, line
// by line, the position of the tensor's element in its lines: int32 [lines·k].
func linesOf(r *ir.Recorder, op string, shape []int, index *ir.Value, along int) lines {
	a := axis(op, shape, along)
	l := lines{op: op, axis: a, shape: shape, index: index.Shape(), n: shape[a]}
	if len(l.index) != len(shape) {
		panic(l.fails(l.index, "the index must have as many dimensions as the tensor"))
	}
	for d, n := range l.index {
		if d != a && n > shape[d] {
			panic(l.fails(l.index, fmt.Sprintf("the index may be longer than the tensor along axis %d only", a)))
		}
	}
	l.k = l.index[a]
	at := exchange(r, r.Record(ir.Cast{To: Float64}, checkedIndex(r, op, index, l.n)), a, len(shape)-1)
	count := ir.Len(at.Shape()[:len(shape)-1])
	checkPositions(op, shape, count*l.n)
	begin := r.Reshape(r.MulScalar(countTo(r, count, false), float64(l.n)), []int{count, 1})
	at = r.Add(r.Reshape(at, []int{count, l.k}), begin)
	l.positions = r.Reshape(r.Record(ir.Cast{To: Int32}, at), []int{count * l.k})
	return l
}

func (l *lines) fails(other []int, hint string) error {
	return &ShapeError{Op: l.op, Shapes: [][]int{slices.Clone(l.shape), slices.Clone(other)}, Hint: hint}
}

// apart returns the elements of x line by line.
func (l *lines) apart(r *ir.Recorder, x *ir.Value) *ir.Value {
	for d, n := range l.index {
		if d != l.axis && n < x.Shape()[d] {
			x = r.Record(ir.Slice{Axis: d, To: n}, x)
		}
	}
	x = exchange(r, x, l.axis, len(l.index)-1)
	return r.Reshape(x, []int{x.Len()})
}

// source returns the elements of src for those of the index.
func (l *lines) source(r *ir.Recorder, src *ir.Value) *ir.Value {
	s := src.Shape()
	if len(s) != len(l.index) {
		panic(l.fails(s, "the source must have as many dimensions as the tensor"))
	}
	for d, n := range l.index {
		if n > s[d] {
			panic(l.fails(s, "the source must be at least as large as the index, "+ir.FormatShape(l.index)))
		}
	}
	return l.apart(r, r.Record(ir.Slice{Axis: l.axis, To: l.k}, src))
}

// add returns the op that adds up the elements for each position.
func (l *lines) add() ir.IndexAdd {
	return ir.IndexAdd{Rows: ir.Len(l.index[:l.axis]) * l.n * ir.Len(l.index[l.axis+1:]), Row: []int{}}
}

// joined is the inverse of apart for lines of the given number of elements.
func (l *lines) joined(r *ir.Recorder, flat *ir.Value, n int) *ir.Value {
	s, last := slices.Clone(l.index), len(l.index)-1
	s[l.axis] = n
	s[l.axis], s[last] = s[last], s[l.axis]
	return exchange(r, r.Reshape(flat, s), l.axis, last)
}

// spread returns the elements of all lines in the tensor's shape, 0 where the index has no lines.
func (l *lines) spread(r *ir.Recorder, flat *ir.Value) *ir.Value {
	y := l.joined(r, flat, l.n)
	for d, n := range l.shape {
		if y.Shape()[d] < n {
			y = r.Record(ir.Pad{Axis: d, Size: n}, y)
		}
	}
	return y
}

// IndexSelect selects rows: the result is t[index[i]] for each i, with the shape of index followed
// by that of a row. index is int32, int64 or uint8. It panics with an *IndexError if an index is
// outside of t's first dimension. The gradient adds rows in the order of the index, so it is
// deterministic.
func (t *Tensor) IndexSelect(index *Tensor) *Tensor {
	return arrange(ir.IndexSelect{}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		rows := 0
		if s := v[0].Shape(); len(s) > 0 {
			rows = s[0]
		}
		return r.Record(ir.IndexSelect{}, v[0], indices(r, "IndexSelect", v[1], rows))
	}, t, index)
}

// Embedding returns the row of weight [V, D] for each id; ids have any shape and are int32, int64
// or uint8 below V. It is weight.IndexSelect(ids).
func Embedding(weight, ids *Tensor) *Tensor { return weight.IndexSelect(ids) }

// IndexAdd adds rows: the result has the given number of rows, and row r is the sum of the rows
// t[i] with index[i] = r, in the order of the index, or 0 if there is none. The shape of t is that
// of index followed by that of a row. index is int32, int64 or uint8.
func (t *Tensor) IndexAdd(index *Tensor, rows int) *Tensor {
	return compute(ir.IndexAdd{}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		n := len(v[1].Shape())
		if len(v[0].Shape()) < n {
			panic(&ShapeError{Op: "IndexAdd", Shapes: [][]int{slices.Clone(v[0].Shape()), slices.Clone(v[1].Shape())}, Hint: "the tensor must have one row per index"})
		}
		i := indices(r, "IndexAdd", v[1], rows)
		return r.Record(ir.IndexAdd{Rows: rows, Row: slices.Clone(v[0].Shape()[n:])}, v[0], i)
	}, t, index)
}

// indices returns an index tensor as int32. It panics with an *IndexError if the index is already
// computed and out of range, before the op is recorded: a list with a bad index cannot run.
func indices(r *ir.Recorder, op string, v *ir.Value, size int) *ir.Value {
	r.CheckIndices(op, v, size)
	switch v.DType() {
	case Int64:
		return r.Record(ir.Index{For: op, Size: size}, v)
	case Uint8:
		return r.Record(ir.Cast{To: Int32}, v)
	}
	return v
}

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
	if a != last {
		rows = arrange(composite{name: name}, func(r *ir.Recorder, v []*ir.Value) *ir.Value { return exchange(r, v[0], a, last) }, t)
	}
	positions := compute(composite{name: name}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		x := v[0]
		if d := x.DType(); d == Int32 || d == Uint8 { // float64 has their values
			x = r.Record(ir.Cast{To: Float64}, x)
		}
		return r.Record(op, x)
	}, rows)
	values = arrange(composite{name: name}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		return exchange(r, r.Record(ir.IndexSelect{}, r.Reshape(v[0], []int{v[0].Len()}), v[1]), a, last)
	}, rows, positions)
	indices = arrange(composite{name: name}, func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		p := r.Record(ir.Cast{To: Float64}, v[0]) // exact, as is the rounded quotient
		row := r.Record(ir.Floor{}, r.Record(ir.Div{}, p, fill(r, float64(max(n, 1)), Float64)))
		return exchange(r, r.Record(ir.Cast{To: Int32}, r.Record(ir.Sub{}, p, r.MulScalar(row, float64(n)))), a, last)
	}, positions)
	positions.Release()
	return values, indices
}
