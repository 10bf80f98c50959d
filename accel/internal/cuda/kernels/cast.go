package kernels

import (
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

type castParams struct {
	Y, X   Pointer
	N      uint64
	Type   uint32
	Layout layout
}

func init() {
	register(planCast)
	for d := tensortype.Float32; d.Known(); d++ {
		add(castTo(d).entry())
	}
}

func castTo(d tensortype.DType) kernel[castParams] {
	return kernel[castParams]{"cast", "cast_" + d.String(), moves, 256}
}

// Cast converts x to another element type, y, in row-major order. The caller adds the
// layout's offset to x.
type Cast struct {
	From, To tensortype.DType
	Layout   ir.Layout
}

// Launches computes y. It returns an error for a layout with too many dimensions.
func (o Cast) Launches(y, x Pointer) ([]Launch, error) {
	n := ir.Len(o.Layout.Shape)
	if n == 0 {
		return nil, nil
	}
	l, err := newLayout(o.Layout)
	if err != nil {
		return nil, err
	}
	return []Launch{castTo(o.To).launch("any", linear(n), castParams{Y: y, X: x, N: uint64(n), Type: uint32(o.From), Layout: l})}, nil
}

func planCast(_ Planner, _ ir.Cast, s ir.Step) Launcher {
	o := Cast{From: s.In[0].DType, To: s.Out[0].DType, Layout: s.In[0].Layout}
	return func(a Addresses) ([]Launch, error) { return o.Launches(a.Out[0], a.In[0]) }
}
