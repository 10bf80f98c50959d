package kernels

import "github.com/quernlab/quern/accel/internal/engine/ir"

type maxRowsParams struct {
	Y, Index, X Pointer
	Rows, N     uint64
}

type maxColumnsParams struct {
	Y, Index, X     Pointer
	Outer, N, Inner uint64
}

var (
	maxRows    = declareRows[maxRowsParams]("max", "max_rows")
	maxColumns = declare[maxColumnsParams]("max", "max_columns", reals, 256)
)

func init() {
	register(func(_ Planner, op ir.Max, s ir.Step) Launcher {
		return planMax(op.Axis, s, func(a Addresses) (y, index Pointer) { return a.Out[0], 0 })
	})
	register(func(_ Planner, op ir.ArgMax, s ir.Step) Launcher {
		return planMax(op.Axis, s, func(a Addresses) (y, index Pointer) { return 0, a.Out[0] })
	})
}

// planMax computes the largest element y along an axis, NaN if there is one, or the index of the first largest one as int32.
func planMax(axis int, s ir.Step, results func(a Addresses) (y, index Pointer)) Launcher {
	outer, n, inner := splitAround(s.In[0].Shape, axis, axis+1)
	v := real(s.In[0].DType)
	return func(a Addresses) ([]Launch, error) {
		y, index := results(a)
		x := a.In[0]
		switch {
		case outer*inner == 0:
			return nil, nil
		case inner > 1:
			return []Launch{maxColumns.launch(v, min(outer*ceil(inner, 32), maxBlocks), maxColumnsParams{y, index, x, uint64(outer), uint64(n), uint64(inner)})}, nil
		}
		return []Launch{maxRows.launch(v, outer, n, maxRowsParams{y, index, x, uint64(outer), uint64(n)})}, nil
	}
}
