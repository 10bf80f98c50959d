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
