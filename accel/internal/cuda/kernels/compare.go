package kernels

import (
	"fmt"

	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

type compareParams struct {
	Y, A, B          Pointer
	N                uint64
	Greater          uint32
	LayoutA, LayoutB layout
}

var compareTypes = []tensortype.DType{tensortype.Float64, tensortype.Int32, tensortype.Int64, tensortype.Uint8}

func init() {
	register(planCompare[ir.Eq])
	register(planCompare[ir.Greater])
	for _, d := range compareTypes {
		add(compare(d).entry())
	}
}

func compare(d tensortype.DType) kernel[compareParams] {
	if d == tensortype.Bool {
		d = tensortype.Uint8
	}
	return kernel[compareParams]{"compare", "compare_" + d.String(), moves, 256}
}

// Compare computes y = 1 where a > b (if Greater) or a == b, else 0, as float32, for types
// other than float32. A and B are the operands' layouts broadcast to y's shape; the caller
// adds their offsets.
type Compare struct {
	DType   tensortype.DType
	Greater bool
	A, B    ir.Layout
}

// Launches computes y. It returns an error for a layout with too many dimensions and for
// types that fused kernels compare.
func (o Compare) Launches(y, a, b Pointer) ([]Launch, error) {
	if o.DType == tensortype.Float32 || o.DType.Is16Bit() {
		return nil, fmt.Errorf("there is no CUDA kernel that only compares %s; fused kernels do", o.DType)
	}
	n := ir.Len(o.A.Shape)
	if n == 0 {
		return nil, nil
	}
	la, err := newLayout(o.A)
	if err != nil {
		return nil, err
	}
	lb, err := newLayout(o.B)
	if err != nil {
		return nil, err
	}
	return []Launch{compare(o.DType).launch("any", linear(n), compareParams{Y: y, A: a, B: b, N: uint64(n), Greater: flag(o.Greater), LayoutA: la, LayoutB: lb})}, nil
}

func planCompare[O ir.Op](_ Planner, _ O, s ir.Step) Launcher {
	a, b, y := s.In[0], s.In[1], s.Out[0]
	_, greater := s.Op.(ir.Greater)
	o := Compare{DType: a.DType, Greater: greater, A: a.BroadcastTo(y.Shape), B: b.BroadcastTo(y.Shape)}
	return func(a Addresses) ([]Launch, error) { return o.Launches(a.Out[0], a.In[0], a.In[1]) }
}
