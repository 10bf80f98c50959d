package kernels

import (
	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/ir"
	"github.com/quernlab/quern/accel/internal/tensortype"
)

type normParams struct {
	Y, X, W, B        Pointer
	Epsilon           float64
	Rows, N, Centered uint32
	YKind, XKind      uint32
}

type normInputParams struct {
	DX, X, DY, W          Pointer
	Epsilon               float64
	Rows, N, Centered     uint32
	DXKind, XKind, DYKind uint32
}

type normRowsParams struct {
	Kept, X                  Pointer
	Epsilon                  float64
	Rows, N, Centered, XKind uint32
}

type normWeightParams struct {
	Partial, X, DY, Kept Pointer
	Rows, N, RowsEach    uint32
	XKind, DYKind        uint32
}

type normWeightSumParams struct {
	Y, Partial        Pointer
	N, Parts, Results uint32
}

var (
	normEach      = declareRows[normParams]("norm", "norm")
	normInputRows = declareRows[normInputParams]("norm", "norm_input")
	normRows      = declareRows[normRowsParams]("norm", "norm_rows")
	normWeight    = declare[normWeightParams]("norm", "norm_weight", reals, 256)
	normWeightSum = declare[normWeightSumParams]("norm", "norm_weight_sum", reals, 256)
)

// Norm is LayerNorm if Centered, else RMSNorm, of each row of x [Rows, N].
type Norm struct {
	DType    tensortype.DType // of the computation and of the parameters
	Centered bool
	Epsilon  float64
	Rows, N  int
	X, DY, Y tensortype.DType // of x, dy, and y or dx: DType, or 16-bit floats if that is float32
}

// Launches computes y from x; b is only read if Centered.
func (o Norm) Launches(y, x, w, b Pointer) []Launch {
	if o.Rows == 0 || o.N == 0 {
		return nil
	}
	return []Launch{normEach.launch(real(o.DType), o.Rows, o.N, normParams{y, x, w, b, o.Epsilon, uint32(o.Rows), uint32(o.N), flag(o.Centered), kind(o.Y), kind(o.X)})}
}

// InputGradient computes dx from x, dy and w.
func (o Norm) InputGradient(dx, x, dy, w Pointer) []Launch {
	if o.Rows == 0 || o.N == 0 {
		return nil
	}
	return []Launch{normInputRows.launch(real(o.DType), o.Rows, o.N, normInputParams{dx, x, dy, w, o.Epsilon, uint32(o.Rows), uint32(o.N), flag(o.Centered), kind(o.Y), kind(o.X), kind(o.DY)})}
}

// parts returns the number of blocks that the rows are split over in WeightGradient, and
// the number of rows of each.
func (o Norm) parts() (parts, each int) {
	parts = max(1, min(ceil(o.Rows, 32), ceil(528, max(1, ceil(o.N, 32)))))
	each = max(1, ceil(o.Rows, parts))
	return max(1, ceil(o.Rows, each)), each
}

// WeightWorkspace returns the size of the workspace of WeightGradient.
func (o Norm) WeightWorkspace() int {
	parts, _ := o.parts()
	return (2*o.Rows + 2*parts*o.N) * o.DType.Size()
}

// WeightGradient computes dw and, if Centered, db: [2, N] or [1, N].
func (o Norm) WeightGradient(y, x, dy, work Pointer) []Launch {
	if o.N == 0 {
		return nil
	}
	v := real(o.DType)
	parts, each := o.parts()
	partial := work + Pointer(2*o.Rows*o.DType.Size())
	results := 1 + int(flag(o.Centered))
	var out []Launch
	if o.Rows > 0 {
		out = append(out, normRows.launch(v, o.Rows, o.N, normRowsParams{work, x, o.Epsilon, uint32(o.Rows), uint32(o.N), flag(o.Centered), kind(o.X)}))
	}
	return append(out,
		normWeight.grid(v, driver.Dim{X: uint32(ceil(o.N, 32)), Y: uint32(parts), Z: 1}, 0,
			normWeightParams{partial, x, dy, work, uint32(o.Rows), uint32(o.N), uint32(each), kind(o.X), kind(o.DY)}),
		normWeightSum.launch(v, ceil(results*o.N, 256), normWeightSumParams{y, partial, uint32(o.N), uint32(parts), uint32(results)}))
}

func init() {
	register(func(_ Planner, op ir.LayerNorm, s ir.Step) Launcher { return rowNorm(s, true, op.Epsilon).plan() })
	register(func(_ Planner, op ir.RMSNorm, s ir.Step) Launcher { return rowNorm(s, false, op.Epsilon).plan() })
	register(func(_ Planner, op ir.LayerNormInputGradient, s ir.Step) Launcher {
		return rowNorm(s, true, op.Epsilon).planInput()
	})
	register(func(_ Planner, op ir.RMSNormInputGradient, s ir.Step) Launcher {
		return rowNorm(s, false, op.Epsilon).planInput()
	})
	register(func(p Planner, op ir.LayerNormWeightGradient, s ir.Step) Launcher {
		return rowNorm(s, true, op.Epsilon).planWeight(p)
	})
	register(func(p Planner, op ir.RMSNormWeightGradient, s ir.Step) Launcher {
		return rowNorm(s, false, op.Epsilon).planWeight(p)
	})
}

func rowNorm(s ir.Step, centered bool, epsilon float64) Norm {
	rows, n := splitLast(s.In[0].Shape)
	return Norm{DType: computes(s.In[0].DType), Centered: centered, Epsilon: epsilon, Rows: rows, N: n, X: s.In[0].DType, DY: s.In[1].DType, Y: s.Out[0].DType}
}

func (o Norm) plan() Launcher {
	return func(a Addresses) ([]Launch, error) { return o.Launches(a.Out[0], a.In[0], a.In[1], a.Optional(2)), nil }
}

func (o Norm) planInput() Launcher {
	return func(a Addresses) ([]Launch, error) { return o.InputGradient(a.Out[0], a.In[0], a.In[1], a.In[2]), nil }
}

func (o Norm) planWeight(p Planner) Launcher {
	p.NeedWorkspace(o.WeightWorkspace())
	return func(a Addresses) ([]Launch, error) { return o.WeightGradient(a.Out[0], a.In[0], a.In[1], a.Work), nil }
}
