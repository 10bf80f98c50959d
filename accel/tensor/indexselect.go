package tensor

import (
	"slices"

	"github.com/quernlab/quern/accel/internal/ir"
)

// IndexSelect picks rows: the result is t[index[i]] for each i, in index's shape
// followed by the row's. index is int32, int64 or uint8. It panics with an
// *IndexError if an index is outside of t's first dimension. The gradient adds
// rows up in the order of the index, and so is the same each time.
func (t *Tensor) IndexSelect(index *Tensor) *Tensor {
	return arrange("IndexSelect", func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		rows := 0
		if s := v[0].Shape(); len(s) > 0 {
			rows = s[0]
		}
		return r.Record(ir.IndexSelect{}, v[0], indices(r, "IndexSelect", v[1], rows))
	}, t, index)
}

// Embedding returns the row of weight [V, D] for each of the ids, of any shape: ids
// are int32, int64 or uint8, below V. It is weight.IndexSelect(ids).
func Embedding(weight, ids *Tensor) *Tensor { return weight.IndexSelect(ids) }

// IndexAdd adds t's rows up: the result has so many rows, and row index[i] of
// it is the sum of the rows t[i], in the order of the index; 0 if there is none.
// t's shape is index's followed by the row's. index is int32, int64 or uint8.
func (t *Tensor) IndexAdd(index *Tensor, rows int) *Tensor {
	return compute("IndexAdd", func(r *ir.Recorder, v []*ir.Value) *ir.Value {
		n := len(v[1].Shape())
		if len(v[0].Shape()) < n {
			panic(&ShapeError{Op: "IndexAdd", Shapes: [][]int{slices.Clone(v[0].Shape()), slices.Clone(v[1].Shape())}, Hint: "the first input must have one row per index"})
		}
		i := indices(r, "IndexAdd", v[1], rows)
		return r.Record(ir.IndexAdd{Rows: rows, Row: slices.Clone(v[0].Shape()[n:])}, v[0], i)
	}, t, index)
}

// indices returns an index tensor as int32. An index that is known already and outside
// of 0..size-1 is an *IndexError now, before the op is recorded: a list with a bad
// index could not be run.
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
