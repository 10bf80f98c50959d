package tensor

import "github.com/quernlab/quern/accel/internal/engine/ir"

// Tril returns t [B…, M, N] with the lower triangle of each matrix and 0 elsewhere: torch's tril.
// It keeps the elements on the diagonal and to the left of it. Diagonal 0 is the main one, 1 the one
// to the right of it, -1 the one to the left. t has any element type. For t [[1 2] [3 4]], Tril(0)
// returns [[1 0] [3 4]].
func (t *Tensor) Tril(diagonal int) *Tensor {
	return t.triangle("Tril", ir.Triangle{Diagonal: diagonal})
}

// Triu returns t [B…, M, N] with the upper triangle of each matrix and 0 elsewhere: torch's triu. It
// keeps the elements on the diagonal and to the right of it; see Tril. For t [[1 2] [3 4]], Triu(1)
// returns [[0 2] [0 0]].
func (t *Tensor) Triu(diagonal int) *Tensor {
	return t.triangle("Triu", ir.Triangle{Diagonal: diagonal, Upper: true})
}

func (t *Tensor) triangle(name string, op ir.Triangle) *Tensor {
	return arrange(composite{name: name}, func(r *ir.Recorder, v []*ir.Value) *ir.Value { return r.Record(op, v[0]) }, t)
}
