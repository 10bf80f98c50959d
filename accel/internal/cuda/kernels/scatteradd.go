package kernels

import (
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
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

// ScatterAdd computes y [Rows, Length]: it adds each row of x [N, Length] to the row of y
// that its int32 index names, in order. Rows that no index names are 0. An index that is
// out of range is reported as a fault and its row skipped.
type ScatterAdd struct {
	DType           tensortype.DType
	N, Rows, Length int
}

// Workspace returns the size of the workspace: two 32-bit numbers per row of y.
func (o ScatterAdd) Workspace() int { return 8 * o.Rows }

// Launches computes y.
func (o ScatterAdd) Launches(y, x, index, fault, work Pointer) []Launch {
	v := real(o.DType)
	count, first := work, work+Pointer(4*o.Rows)
	var out []Launch
	if o.Rows > 0 {
		out = append(out, scatterReset.launch(v, linear(o.Rows), scatterResetParams{count, first, uint32(o.Rows)}))
	}
	if o.N > 0 {
		out = append(out, scatterCount.launch(v, linear(o.N), scatterCountParams{count, first, index, fault, uint32(o.N), uint32(o.Rows)}))
	}
	if o.Rows*o.Length == 0 {
		return out
	}
	k, blocks := scatterRowsWarp, min(ceil(o.Rows*ceil(o.Length, 32), 8), maxBlocks)
	if o.Length >= 256 {
		k, blocks = scatterRowsBlock, min(o.Rows*ceil(o.Length, 256), maxBlocks)
	}
	return append(out, k.launch(v, blocks, scatterRowsParams{y, x, count, first, index, uint32(o.N), uint32(o.Rows), uint64(o.Length)}))
}

func init() {
	register(planScatterAdd)
}

func planScatterAdd(p Planner, _ ir.IndexAdd, s ir.Step) Launcher {
	pick, y := s.In[1], s.Out[0]
	o := ScatterAdd{DType: y.DType, N: ir.Len(pick.Shape), Rows: y.Shape[0], Length: ir.Len(y.Shape[1:])}
	p.NeedWorkspace(o.Workspace())
	p.Check(indices("IndexAdd", o.Rows))
	return func(a Addresses) ([]Launch, error) {
		return o.Launches(a.Out[0], a.In[0], a.In[1], a.Fault, a.Work), nil
	}
}
