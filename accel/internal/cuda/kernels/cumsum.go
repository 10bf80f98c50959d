package kernels

import "github.com/quernlab/quern/accel/internal/engine/ir"

type cumSumRowsParams struct {
	Y, X    Pointer
	Rows, N uint64
	Reverse uint32
}

type cumSumColumnsParams struct {
	Y, X            Pointer
	Outer, N, Inner uint64
	Reverse         uint32
}

var (
	cumSumRows    = declare[cumSumRowsParams]("cumsum", "cumsum_rows", reals, 256)
	cumSumColumns = declare[cumSumColumnsParams]("cumsum", "cumsum_columns", reals, 256)
)

func init() {
	register(planCumSum)
}

// planCumSum computes the sums of the elements along an axis up to each of them, or with Reverse from each of them on.
func planCumSum(_ Planner, op ir.CumSum, s ir.Step) Launcher {
	outer, n, inner := splitAround(s.In[0].Shape, op.Axis, op.Axis+1)
	v := real(s.Out[0].DType)
	return func(a Addresses) ([]Launch, error) {
		y, x := a.Out[0], a.In[0]
		switch {
		case outer*n*inner == 0:
			return nil, nil
		case inner == 1:
			return []Launch{cumSumRows.launch(v, min(ceil(outer, 8), maxBlocks), cumSumRowsParams{y, x, uint64(outer), uint64(n), flag(op.Reverse)})}, nil
		}
		return []Launch{cumSumColumns.launch(v, linear(outer*inner), cumSumColumnsParams{y, x, uint64(outer), uint64(n), uint64(inner), flag(op.Reverse)})}, nil
	}
}
