package tensor

import (
	"slices"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

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
