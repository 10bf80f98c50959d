package cuda

import (
	"fmt"

	"github.com/quernlab/quern/accel/internal/cuda/driver"
	"github.com/quernlab/quern/accel/internal/cuda/kernels"
	"github.com/quernlab/quern/accel/internal/ir"
)

// The compute capability and the version of CUDA from which on there are 8-bit floats,
// and the capability of wgmma.
const (
	leastEights     = 89
	leastEightsCUDA = 12040
	hopperOnly      = 90
)

// MultipliesEight tells why the GPU does not multiply 8-bit floats.
func (d *Device) MultipliesEight() error {
	i := d.ctx.Info()
	if i.Capability() < leastEights {
		return fmt.Errorf("%s is of compute capability %d.%d, and 8-bit floats need 8.9 or more", d.name, i.Major, i.Minor)
	}
	if i.CUDA < leastEightsCUDA {
		return fmt.Errorf("%s: the NVIDIA driver supports CUDA %d.%d, and 8-bit floats need 12.4 or later; update the driver", d.name, i.CUDA/1000, i.CUDA%1000/10)
	}
	return nil
}

// packed8 is where a packed operand lies, the rows of which are a pitch apart.
func (p *program) packed8(o ir.Operand, pitch int) kernels.Packed8 {
	return kernels.Packed8{At: p.address(o), Head: p.at[o.Slot], Pitch: int64(pitch)}
}

// scaleAt is where a head has 2⁻ᵉ, by which libraries multiply.
const scaleAt = 4

// scale is where the scale of a packed operand lies.
func (p *program) scale(o ir.Operand) driver.Pointer { return p.at[o.Slot] + scaleAt }

// eightMultiplications are the ways in which cuBLASLt multiplies packed factors a [M, K]
// and b [N, K].
//
// The library multiplies with both scales as float32, which the own kernels do one
// after the other: for factors that are all below 1e-19 the library's sums may be 0,
// and for factors with some above 1e19 infinite.
func (p *program) eightMultiplications(s ir.Step, label string) (kind any, ways []step) {
	f := factors{a: s.In[0], b: turned(s.In[1]), y: s.Out[0], bias: len(s.In) == 3, relu: relu(s)}
	var bias ir.Operand
	if f.bias {
		bias = s.In[2]
	}
	return p.multiplications(f, bias, label)
}

// round8 writes bfloat16 numbers, and packed ones in one order or both, which its
// outputs tell by their types and shapes: see ir.EightProducts.
func round8(p *program, s ir.Step) launcher {
	x := s.In[0]
	o := kernels.Round8{From: x.DType, To: s.Op.(ir.Round8).To, Rows: 1, Columns: ir.Len(x.Shape)}
	if len(x.Shape) == 2 {
		o.Rows, o.Columns = x.Shape[0], x.Shape[1]
	}
	p.room(o.Workspace())
	return func(p *program) ([]kernels.Launch, error) {
		var y kernels.Pointer
		var plain, turned kernels.Packed8
		for _, out := range s.Out {
			switch {
			case !out.DType.Eight():
				y = p.address(out)
			case out.Stride[1] == 1:
				plain = p.packed8(out, out.Stride[0])
			default:
				turned = p.packed8(out, out.Stride[1])
			}
		}
		return o.Launches(y, plain, turned, p.address(x), p.work())
	}
}

// eightProduct is a product of packed factors a [M, K] and b [N, K].
func eightProduct(p *program, s ir.Step) launcher {
	a, b, y := s.In[0], s.In[1], s.Out[0]
	o := kernels.MatMul8{A: a.DType, M: a.Shape[0], N: b.Shape[0], K: a.Shape[1], Bias: len(s.In) == 3, ReLU: relu(s),
		Half: y.DType.Half(), Hopper: p.device.hasWgmma()}
	bias := p.biasOf(s, o.Workspace())
	return func(p *program) ([]kernels.Launch, error) {
		at, out, err := bias(p)
		if err != nil {
			return nil, err
		}
		product, err := o.Launches(p.address(y), p.packed8(a, a.Stride[0]), p.packed8(b, b.Stride[0]), at, p.work())
		return append(out, product...), err
	}
}
