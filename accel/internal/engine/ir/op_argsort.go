package ir

import (
	"fmt"
	"math"
)

// ArgSort is the positions of the first K elements of each row of x [R…, N] in sorted order: y
// [R…, K], int32, where element i of row r has the position r·N + i. Equal elements keep their
// order. NaN counts as the largest; 0 and -0 are equal.
type ArgSort struct {
	wholeOp
	noGradient
	K          int
	Descending bool
}

func (ArgSort) Name() string { return "ArgSort" }

// AppendKey appends K and the direction.
func (o ArgSort) AppendKey(key []byte) []byte { return appendFlag(appendInts(key, o.K), o.Descending) }

// Infer returns [R…, K], int32.
func (o ArgSort) Infer(in []*Value) (Type, error) {
	t, err := inferRows(in)
	if err != nil {
		return Type{}, err
	}
	n := len(t.Shape) - 1
	if o.K < 0 || o.K > t.Shape[n] {
		return Type{}, &ShapeError{Hint: fmt.Sprintf("%d elements cannot be selected from %d", o.K, t.Shape[n])}
	}
	if in[0].Len() > math.MaxInt32 {
		return Type{}, &ShapeError{Hint: "more than 2³¹-1 elements cannot be sorted"}
	}
	return Type{append(append([]int{}, t.Shape[:n]...), o.K), Int32}, nil
}

// Compose counts for each element those that come before it, and puts its position there. It stores N² comparisons for
// each row.
func (o ArgSort) Compose(r *Recorder, in []*Value) *Value {
	x := in[0]
	k := len(x.shape) - 1
	n, rows := x.shape[k], Len(x.shape[:k])
	x = r.Reshape(x, []int{rows, n})
	this, other := r.keep(x, 2), r.keep(x, 1)
	nan := func(v *Value) *Value { return r.Record(Not{}, r.Record(Eq{}, v, v)) }
	less := func(a, b *Value) *Value { // NaN is the largest
		return r.Record(Or{}, r.Record(Greater{}, b, a), r.Record(And{}, nan(b), r.Record(Eq{}, a, a)))
	}
	first := less(other, this)
	if o.Descending {
		first = less(this, other)
	}
	equal := r.Record(Or{}, r.Record(Eq{}, this, other), r.Record(And{}, nan(this), nan(other)))
	earlier := r.Record(Triangle{Diagonal: -1}, r.Record(Fill{Value: 1, Shape: []int{n, n}, DType: Float32}))
	before := r.Record(Or{}, first, r.Record(And{}, equal, earlier))
	rank := r.as(r.Record(Sum{From: 2, To: 3}, before), Float64)
	begin := r.keep(r.MulScalar(r.count(rows), float64(n)), 1)
	at := r.as(r.flat(r.Add(rank, begin)), Int32)
	order := r.Record(IndexAdd{Rows: rows * n, Row: []int{}}, r.count(rows*n), at)
	order = r.Record(Slice{Axis: 1, To: o.K}, r.Reshape(order, []int{rows, n}))
	return r.as(r.Reshape(order, append(append([]int{}, in[0].shape[:k]...), o.K)), Int32)
}
