package kernels

import (
	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

type round8LargestParams struct {
	Largest, X Pointer
	N          uint64
	Type       uint32
}

type round8PackParams struct {
	Y                          Pointer
	Plain, Transposed          Packed8
	X, Largest                 Pointer
	Count, Rows, Columns, Type uint32
}

// Packed8 is a matrix of 8-bit floats: its head, which holds the exponent e of its scale
// and 2⁻ᵉ, and its rows, which start Pitch bytes apart. Pitch and addresses are multiples
// of 16.
type Packed8 struct {
	At, Head Pointer // 0 if absent
	Pitch    int64
}

var (
	fp8Types      = []string{"e4m3_sm89", "e5m2_sm89"}
	round8Largest = declare[round8LargestParams]("round8", "round8_largest", fp8Types, 256)
	round8Pack    = declare[round8PackParams]("round8", "round8_pack", fp8Types, 256)
)

// fp8Type returns the type part of a variant's name.
func fp8Type(d tensortype.DType) string {
	if d == tensortype.Float8E5M2 {
		return "e5m2"
	}
	return "e4m3"
}

// Round8 rounds a row-major matrix of type From, float32 or 16-bit floats, to To with one
// scale: see ir.Round8. It needs compute capability 8.9 or later.
type Round8 struct {
	From, To      tensortype.DType
	Rows, Columns int
}

// round8Blocks is the maximum number of blocks that compute partial maxima: as many as a
// block of round8_pack has threads.
const round8Blocks = 256

// Workspace returns the size of the workspace, which holds the maximum of each block.
func (o Round8) Workspace() int { return 4 * round8Blocks }

// Launches writes y as bfloat16, the FP8 matrix row by row, and its transpose.
func (o Round8) Launches(y Pointer, plain, transposed Packed8, x, work Pointer) ([]Launch, error) {
	n := o.Rows * o.Columns
	if n == 0 {
		return nil, nil
	}
	if err := checkSizes("rounds", o.Rows, o.Columns); err != nil {
		return nil, err
	}
	v := fp8Type(o.To) + "_sm89"
	blocks := min(ceil(n, 1024), round8Blocks)
	grid := driver.Dim{X: uint32(ceil(o.Columns, 64)), Y: uint32(min(ceil(o.Rows, 64), 65535)), Z: 1}
	return []Launch{
		round8Largest.launch(v, blocks, round8LargestParams{work, x, uint64(n), uint32(o.From)}),
		round8Pack.grid(v, grid, 0, round8PackParams{y, plain, transposed, x, work, uint32(blocks), uint32(o.Rows), uint32(o.Columns), uint32(o.From)}),
	}, nil
}

func init() {
	register(planRound8)
}

// packed8 describes a packed operand at an address, whose rows are pitch bytes apart.
func packed8(o ir.Operand, at Pointer, pitch int) Packed8 {
	return Packed8{At: at, Head: at - Pointer(o.Offset), Pitch: int64(pitch)}
}

// planRound8 writes bfloat16 elements, and packed 8-bit ones row by row, column by column or
// both. The types and strides of the outputs say which: see ir.FP8Multiplier.
func planRound8(p Planner, op ir.Round8, s ir.Step) Launcher {
	x := s.In[0]
	o := Round8{From: x.DType, To: op.To, Rows: 1, Columns: ir.Len(x.Shape)}
	if len(x.Shape) == 2 {
		o.Rows, o.Columns = x.Shape[0], x.Shape[1]
	}
	p.NeedWorkspace(o.Workspace())
	return func(a Addresses) ([]Launch, error) {
		var y Pointer
		var byRow, byColumn Packed8
		for i, out := range s.Out {
			switch {
			case !out.DType.IsFP8():
				y = a.Out[i]
			case out.Stride[1] == 1:
				byRow = packed8(out, a.Out[i], out.Stride[0])
			default:
				byColumn = packed8(out, a.Out[i], out.Stride[1])
			}
		}
		return o.Launches(y, byRow, byColumn, a.In[0], a.Work)
	}
}
