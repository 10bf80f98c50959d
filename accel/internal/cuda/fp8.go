package cuda

import (
	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/kernels"
	"github.com/quernlab/quern/accel/internal/ir"
)

func init() {
	register(round8)
}

// packedFP8 describes a packed operand at an address, whose rows are pitch bytes apart.
func packedFP8(o ir.Operand, at kernels.Pointer, pitch int) kernels.Packed8 {
	return kernels.Packed8{At: at, Head: at - kernels.Pointer(o.Offset), Pitch: int64(pitch)}
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
	return func(a addresses) ([]kernels.Launch, error) {
		var y kernels.Pointer
		var byRow, byColumn kernels.Packed8
		for i, out := range s.Out {
			switch {
			case !out.DType.IsFP8():
				y = a.out[i]
			case out.Stride[1] == 1:
				byRow = packedFP8(out, a.out[i], out.Stride[0])
			default:
				byColumn = packedFP8(out, a.out[i], out.Stride[1])
			}
		}
		return o.Launches(y, byRow, byColumn, a.in[0], a.work)
	}
}

// fp8MatMul multiplies packed factors: a [M, K] · bᵀ [K, N].
func fp8MatMul(p *program, s ir.Step) launcher {
	a, b, y := s.In[0], s.In[1], s.Out[0]
	o := kernels.MatMul8{A: a.DType, M: a.Shape[0], N: b.Shape[0], K: a.Shape[1], Bias: len(s.In) == 3, ReLU: endsWithReLU(s),
		Output16: y.DType.Is16Bit(), Hopper: p.device.hasWgmma()}
	return p.withBias(s, o.Workspace(), func(at addresses) ([]kernels.Launch, error) {
		return o.Launches(at.out[0], packedFP8(a, at.in[0], a.Stride[0]), packedFP8(b, at.in[1], b.Stride[0]), at.optional(2), at.work)
	})
}
