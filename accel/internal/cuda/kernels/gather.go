package kernels

import "github.com/quernlab/quern/accel/internal/engine/ir"

type gatherParams struct {
	Y, X, Index, Fault Pointer
	Count, Length      uint64
	Available          uint32
}

type indexCheckParams struct {
	Index, Fault Pointer
	Count        uint64
	Available    uint32
}

type oneHotParams struct {
	Y, Index, Fault Pointer
	Count           uint64
	Classes         uint32
}

type indexParams struct {
	Y, X, Fault Pointer
	N, Size     uint64
}

type indexValueParams struct {
	Value, X, Fault Pointer
	N               uint64
}

var (
	indexCheck = declare[indexCheckParams]("gather", "index_check", moves, 256)
	oneHot     = declare[oneHotParams]("gather", "onehot", moves, 256)
	index      = declare[indexParams]("gather", "index", moves, 256)
	indexValue = declare[indexValueParams]("gather", "index_value", moves, 32)
)

func init() {
	register(planGather)
	register(planOneHot)
	register(planIndex)
	addSized[gatherParams]("gather", "gather", moveWidths)
}

// Gather computes y[i] = x[index[i]] for Count int32 indices. x has Rows rows of Row bytes.
// An index that is out of range gives zeros and is reported as a fault.
type Gather struct{ Count, Rows, Row int }

// Launches copies the rows.
func (o Gather) Launches(y, x, index, fault Pointer) []Launch {
	if o.Count == 0 {
		return nil
	}
	if o.Row == 0 {
		return []Launch{indexCheck.launch("any", linear(o.Count), indexCheckParams{index, fault, uint64(o.Count), uint32(o.Rows)})}
	}
	w := moveWidth(o.Row, int(y), int(x))
	return []Launch{bySize[gatherParams]("gather", "gather", w).launch("any", linear(o.Count*o.Row/w),
		gatherParams{y, x, index, fault, uint64(o.Count), uint64(o.Row / w), uint32(o.Rows)})}
}

// OneHot computes y [Count, Classes] with 1 at the int32 index, 0 elsewhere. An index that
// is out of range is reported as a fault.
type OneHot struct{ Count, Classes int }

// Launches writes y.
func (o OneHot) Launches(y, index, fault Pointer) []Launch {
	switch {
	case o.Count == 0:
		return nil
	case o.Classes == 0:
		return []Launch{indexCheck.launch("any", linear(o.Count), indexCheckParams{index, fault, uint64(o.Count), 0})}
	}
	return []Launch{oneHot.launch("any", linear(o.Count*o.Classes), oneHotParams{y, index, fault, uint64(o.Count), uint32(o.Classes)})}
}

// Index converts N int64 elements of x, which must be in [0, Size), to int32. One that is
// out of range is reported as a fault and written to value, an int64.
type Index struct{ N, Size int }

// Launches writes y.
func (o Index) Launches(y, x, fault, value Pointer) []Launch {
	if o.N == 0 {
		return nil
	}
	return []Launch{
		index.launch("any", linear(o.N), indexParams{y, x, fault, uint64(o.N), uint64(o.Size)}),
		indexValue.launch("any", 1, indexValueParams{value, x, fault, uint64(o.N)}),
	}
}

func planGather(p Planner, _ ir.IndexSelect, s ir.Step) Launcher {
	x, pick := s.In[0], s.In[1]
	o := Gather{Count: ir.Len(pick.Shape), Rows: x.Shape[0], Row: ir.Len(x.Shape[1:]) * x.DType.Size()}
	p.Check(indices("IndexSelect", o.Rows))
	return func(a Addresses) ([]Launch, error) {
		return o.Launches(a.Out[0], a.In[0], a.In[1], a.Fault), nil
	}
}

func planOneHot(p Planner, op ir.OneHot, s ir.Step) Launcher {
	o := OneHot{Count: ir.Len(s.In[0].Shape), Classes: op.Classes}
	p.Check(indices("OneHot", o.Classes))
	return func(a Addresses) ([]Launch, error) { return o.Launches(a.Out[0], a.In[0], a.Fault), nil }
}

// planIndex converts int64 indices to int32 and checks their range; the fault has the int64
// value, since one out of range may not fit int32.
func planIndex(p Planner, op ir.Index, s ir.Step) Launcher {
	o := Index{N: ir.Len(s.In[0].Shape), Size: op.Size}
	p.Check(func(fault uint64, value int64) error {
		element, _, wrong := Fault(fault)
		if !wrong {
			return nil
		}
		return op.Error(int(value), element)
	})
	return func(a Addresses) ([]Launch, error) {
		return o.Launches(a.Out[0], a.In[0], a.Fault, a.Fault+8), nil
	}
}
