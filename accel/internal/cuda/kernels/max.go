package kernels

import (
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

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

// Max computes the largest element along the middle dimension of x [Outer, N, Inner], N >
// 0, or NaN if there is one.
type Max struct {
	DType           tensortype.DType
	Outer, N, Inner int
}

// Launches computes y [Outer, Inner].
func (o Max) Launches(y, x Pointer) []Launch { return o.launches(y, 0, x) }

// Index computes the index of the first largest element, as int32.
func (o Max) Index(index, x Pointer) []Launch { return o.launches(0, index, x) }

func (o Max) launches(y, index, x Pointer) []Launch {
	v := real(o.DType)
	switch {
	case o.Outer*o.Inner == 0:
		return nil
	case o.Inner > 1:
		return []Launch{maxColumns.launch(v, min(o.Outer*ceil(o.Inner, 32), maxBlocks), maxColumnsParams{y, index, x, uint64(o.Outer), uint64(o.N), uint64(o.Inner)})}
	}
	return []Launch{maxRows.launch(v, o.Outer, o.N, maxRowsParams{y, index, x, uint64(o.Outer), uint64(o.N)})}
}

func init() {
	register(planMax)
	register(planArgMax)
}

// reductionAlong describes a maximum along one axis.
func reductionAlong(x ir.Operand, axis int) Max {
	o := Max{DType: x.DType}
	o.Outer, o.N, o.Inner = splitAround(x.Shape, axis, axis+1)
	return o
}

func planMax(_ Planner, op ir.Max, s ir.Step) Launcher {
	o := reductionAlong(s.In[0], op.Axis)
	return func(a Addresses) ([]Launch, error) { return o.Launches(a.Out[0], a.In[0]), nil }
}

func planArgMax(_ Planner, op ir.ArgMax, s ir.Step) Launcher {
	o := reductionAlong(s.In[0], op.Axis)
	return func(a Addresses) ([]Launch, error) { return o.Index(a.Out[0], a.In[0]), nil }
}
