package kernels

import (
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

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

// CumSum computes y[o, i, c] = x[o, 0, c] + … + x[o, i, c], or with Reverse the sums from
// the end, for x [Outer, N, Inner].
type CumSum struct {
	DType           tensortype.DType
	Outer, N, Inner int
	Reverse         bool
}

// Launches computes y.
func (o CumSum) Launches(y, x Pointer) []Launch {
	v := real(o.DType)
	switch {
	case o.Outer*o.N*o.Inner == 0:
		return nil
	case o.Inner == 1:
		return []Launch{cumSumRows.launch(v, min(ceil(o.Outer, 8), maxBlocks), cumSumRowsParams{y, x, uint64(o.Outer), uint64(o.N), flag(o.Reverse)})}
	}
	return []Launch{cumSumColumns.launch(v, linear(o.Outer*o.Inner), cumSumColumnsParams{y, x, uint64(o.Outer), uint64(o.N), uint64(o.Inner), flag(o.Reverse)})}
}

func init() {
	register(planCumSum)
}

func planCumSum(_ Planner, op ir.CumSum, s ir.Step) Launcher {
	o := CumSum{DType: s.Out[0].DType, Reverse: op.Reverse}
	o.Outer, o.N, o.Inner = splitAround(s.In[0].Shape, op.Axis, op.Axis+1)
	return func(a Addresses) ([]Launch, error) { return o.Launches(a.Out[0], a.In[0]), nil }
}
