package kernels

import (
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

type sumRowsParams struct {
	Y, Work, X    Pointer
	Rows, N, Each uint64
	Parts         uint32
	XKind, YKind  uint32
	Divisor       float64
}

type sumColumnsParams struct {
	Y, Work, X     Pointer
	Outer          uint32
	N, Inner, Each uint64
	Parts          uint32
	XKind, YKind   uint32
	Divisor        float64
}

var (
	sumRows    = declareRows[sumRowsParams]("sum", "sum_rows")
	sumColumns = declare[sumColumnsParams]("sum", "sum_columns", reals, 256)
)

// Sum computes the sum along the middle dimension of x [Outer, N, Inner], or the mean.
type Sum struct {
	DType           tensortype.DType // of the computation
	Outer, N, Inner int
	Mean            bool
	X, Y            tensortype.DType // DType, or 16-bit floats if that is float32
}

// parts returns the number of parts that N is split into, so that all SMs have work, and
// the length of one.
func (o Sum) parts() (parts, each int) {
	if o.Inner == 1 {
		parts = min(ceil(o.N, 8192), ceil(maxMeetings, max(1, o.Outer)))
	} else {
		parts = min(ceil(o.N, 64), ceil(maxMeetings, max(1, o.Outer*ceil(o.Inner, 32))))
	}
	parts = max(1, parts)
	each = max(1, ceil(o.N, parts))
	return max(1, ceil(o.N, each)), each
}

// Workspace returns the size of the workspace, which holds the sums of the parts in float64.
func (o Sum) Workspace() int {
	parts, _ := o.parts()
	if parts == 1 {
		return 0
	}
	return parts * o.Outer * o.Inner * 8
}

// Launches computes y [Outer, Inner].
func (o Sum) Launches(y, x, work Pointer) []Launch {
	if o.Outer*o.Inner == 0 {
		return nil
	}
	v := real(o.DType)
	parts, each := o.parts()
	divisor := 1.0
	if o.Mean {
		divisor = float64(o.N)
	}
	if o.Inner == 1 {
		return []Launch{sumRows.launch(v, o.Outer*parts, each, sumRowsParams{y, work, x, uint64(o.Outer), uint64(o.N), uint64(each), uint32(parts), kind(o.X), kind(o.Y), divisor})}
	}
	return []Launch{sumColumns.launch(v, min(parts*o.Outer*ceil(o.Inner, 32), maxBlocks),
		sumColumnsParams{Y: y, Work: work, X: x, Outer: uint32(o.Outer), N: uint64(o.N), Inner: uint64(o.Inner), Each: uint64(each), Parts: uint32(parts), XKind: kind(o.X), YKind: kind(o.Y), Divisor: divisor})}
}

func init() {
	register(planSum)
}

func planSum(p Planner, op ir.Sum, s ir.Step) Launcher {
	o := Sum{DType: computes(s.Out[0].DType), Mean: op.Mean, X: s.In[0].DType, Y: s.Out[0].DType}
	o.Outer, o.N, o.Inner = splitAround(s.In[0].Shape, op.From, op.To)
	p.NeedWorkspace(o.Workspace())
	return func(a Addresses) ([]Launch, error) { return o.Launches(a.Out[0], a.In[0], a.Work), nil }
}
