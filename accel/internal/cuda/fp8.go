package cuda

import (
	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/kernels"
	"github.com/quernlab/quern/accel/internal/ir"
)

func init() {
	register(round8)
}

// packedFP8 describes a packed operand whose rows are pitch bytes apart.
func (p *program) packedFP8(o ir.Operand, pitch int) kernels.Packed8 {
	return kernels.Packed8{At: p.address(o), Head: p.at[o.Slot], Pitch: int64(pitch)}
}

// scaleAt is the offset in an operand's header of 2⁻ᵉ, the scale that libraries multiply
// with.
const scaleAt = 4

// scale returns the address of a packed operand's scale.
func (p *program) scale(o ir.Operand) driver.Pointer { return p.at[o.Slot] + scaleAt }

// round8 writes bfloat16 elements, and packed 8-bit ones row by row, column by column or
// both. The types and strides of the outputs say which: see ir.FP8Multiplier.
func round8(p *program, op ir.Round8, s ir.Step) launcher {
	x := s.In[0]
	o := kernels.Round8{From: x.DType, To: op.To, Rows: 1, Columns: ir.Len(x.Shape)}
	if len(x.Shape) == 2 {
		o.Rows, o.Columns = x.Shape[0], x.Shape[1]
	}
	p.needWorkspace(o.Workspace())
	return func(p *program) ([]kernels.Launch, error) {
		var y kernels.Pointer
		var byRow, byColumn kernels.Packed8
		for _, out := range s.Out {
			switch {
			case !out.DType.IsFP8():
				y = p.address(out)
			case out.Stride[1] == 1:
				byRow = p.packedFP8(out, out.Stride[0])
			default:
				byColumn = p.packedFP8(out, out.Stride[1])
			}
		}
		return o.Launches(y, byRow, byColumn, p.address(x), p.work())
	}
}

// fp8MatMul multiplies packed factors: a [M, K] · bᵀ [K, N].
func fp8MatMul(p *program, s ir.Step) launcher {
	a, b, y := s.In[0], s.In[1], s.Out[0]
	o := kernels.MatMul8{A: a.DType, M: a.Shape[0], N: b.Shape[0], K: a.Shape[1], Bias: len(s.In) == 3, ReLU: endsWithReLU(s),
		Output16: y.DType.Is16Bit(), Hopper: p.device.hasWgmma()}
	bias := p.biasOf(s, o.Workspace())
	return func(p *program) ([]kernels.Launch, error) {
		at, out, err := bias(p)
		if err != nil {
			return nil, err
		}
		launches, err := o.Launches(p.address(y), p.packedFP8(a, a.Stride[0]), p.packedFP8(b, b.Stride[0]), at, p.work())
		return append(out, launches...), err
	}
}
