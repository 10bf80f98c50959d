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

// checkIndices returns the kernel that only checks indices.
func checkIndices(index, fault Pointer, count, available int) Launch {
	return indexCheck.launch("any", linear(count), indexCheckParams{index, fault, uint64(count), uint32(available)})
}

// planGather copies the rows that int32 indices name. An index that is out of range gives zeros and is a fault.
func planGather(p Planner, _ ir.IndexSelect, s ir.Step) Launcher {
	x, count := s.In[0], ir.Len(s.In[1].Shape)
	rows, row := x.Shape[0], ir.Len(x.Shape[1:])*x.DType.Size() // bytes
	p.Check(indices("IndexSelect", rows))
	return func(a Addresses) ([]Launch, error) {
		y, x, index := a.Out[0], a.In[0], a.In[1]
		switch {
		case count == 0:
			return nil, nil
		case row == 0:
			return []Launch{checkIndices(index, a.Fault, count, rows)}, nil
		}
		w := moveWidth(row, int(y), int(x))
		return []Launch{bySize[gatherParams]("gather", "gather", w).launch("any", linear(count*row/w),
			gatherParams{y, x, index, a.Fault, uint64(count), uint64(row / w), uint32(rows)})}, nil
	}
}

// planOneHot writes rows with 1 at the int32 index, 0 elsewhere. An index that is out of range is a fault.
func planOneHot(p Planner, op ir.OneHot, s ir.Step) Launcher {
	count := ir.Len(s.In[0].Shape)
	p.Check(indices("OneHot", op.Classes))
	return func(a Addresses) ([]Launch, error) {
		switch {
		case count == 0:
			return nil, nil
		case op.Classes == 0:
			return []Launch{checkIndices(a.In[0], a.Fault, count, 0)}, nil
		}
		return []Launch{oneHot.launch("any", linear(count*op.Classes), oneHotParams{a.Out[0], a.In[0], a.Fault, uint64(count), uint32(op.Classes)})}, nil
	}
}

// planIndex converts int64 indices to int32 and checks their range; the fault has the int64
// value, since one out of range may not fit int32.
func planIndex(p Planner, op ir.Index, s ir.Step) Launcher {
	n := ir.Len(s.In[0].Shape)
	p.Check(func(fault uint64, value int64) error {
		element, _, wrong := Fault(fault)
		if !wrong {
			return nil
		}
		return op.Error(int(value), element)
	})
	return func(a Addresses) ([]Launch, error) {
		if n == 0 {
			return nil, nil
		}
		return []Launch{
			index.launch("any", linear(n), indexParams{a.Out[0], a.In[0], a.Fault, uint64(n), uint64(op.Size)}),
			indexValue.launch("any", 1, indexValueParams{a.Fault + 8, a.In[0], a.Fault, uint64(n)}),
		}, nil
	}
}
