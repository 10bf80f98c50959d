package kernels

import (
	"github.com/quernlab/quern/accel/internal/engine/ir"
)

type scatterCountParams struct {
	Count, First, Index, Fault Pointer
	N, Rows                    uint32
}

type scatterRowsParams struct {
	Y, X, Count, First, Index Pointer
	N, Rows                   uint32
	Length                    uint64
}

type scatterResetParams struct {
	Count, First Pointer
	Rows         uint32
}

var (
	scatterReset     = declare[scatterResetParams]("scatteradd", "scatter_reset", reals, 256)
	scatterCount     = declare[scatterCountParams]("scatteradd", "scatter_count", reals, 256)
	scatterRowsWarp  = declare[scatterRowsParams]("scatteradd", "scatter_rows_warp", reals, 256)
	scatterRowsBlock = declare[scatterRowsParams]("scatteradd", "scatter_rows_block", reals, 256)
)

func init() {
	register(planScatterAdd)
}

// planScatterAdd adds each row of x to the row of y that its int32 index names, in order. Rows that no index names are 0. An
// index that is out of range is a fault and its row skipped. The workspace has two 32-bit numbers for each row of y.
func planScatterAdd(p Planner, _ ir.IndexAdd, s ir.Step) Launcher {
	shape, v := s.Out[0].Shape, real(s.Out[0].DType)
	n, rows, length := ir.Len(s.In[1].Shape), shape[0], ir.Len(shape[1:])
	p.NeedWorkspace(8 * rows)
	p.Check(indices("IndexAdd", rows))
	return func(a Addresses) (out []Launch, err error) {
		index, count, first := a.In[1], a.Work, a.Work+Pointer(4*rows)
		if rows > 0 {
			out = append(out, scatterReset.launch(v, linear(rows), scatterResetParams{count, first, uint32(rows)}))
		}
		if n > 0 {
			out = append(out, scatterCount.launch(v, linear(n), scatterCountParams{count, first, index, a.Fault, uint32(n), uint32(rows)}))
		}
		if rows*length == 0 {
			return out, nil
		}
		k, blocks := scatterRowsWarp, min(ceil(rows*ceil(length, 32), 8), maxBlocks)
		if length >= 256 {
			k, blocks = scatterRowsBlock, min(rows*ceil(length, 256), maxBlocks)
		}
		return append(out, k.launch(v, blocks, scatterRowsParams{a.Out[0], a.In[0], count, first, index, uint32(n), uint32(rows), uint64(length)})), nil
	}
}
