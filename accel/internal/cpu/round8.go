package cpu

import (
	"math"
	"unsafe"

	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

var _ = implement[ir.Round8](newRound8)

// round8 rounds to 8-bit floats with one scale, in two passes: the maximum of each chunk,
// then the elements.
type round8 struct {
	in, out ir.Operand
	to      ir.DType
	largest []float32 // maximum of each chunk, ignoring NaN
}

func newRound8(_ *Device, s ir.Step) (step, error) {
	n := ir.Len(s.In[0].Shape)
	return &round8{in: s.In[0], out: s.Out[0], to: s.Op.(ir.Round8).To, largest: make([]float32, (n+moveLen-1)/moveLen)}, nil
}

func (k *round8) run(p *program) error {
	src, dst := p.memory[k.in.Slot], elements[uint16](p, k.out)
	p.device.pool.split(len(dst), moveLen, func(at, end, _ int) {
		largest := float32(0)
		k.read(src, at, end, func(_ int, x []float32) {
			for _, f := range x {
				if m := float32(math.Abs(float64(f))); m > largest {
					largest = m
				}
			}
		})
		k.largest[at/moveLen] = largest
	})
	largest := float32(0)
	for _, m := range k.largest {
		largest = max(largest, m)
	}
	exponent := tensortype.Float8Scale(k.to, largest)
	up, down := float32(math.Ldexp(1, exponent)), float32(math.Ldexp(1, -exponent))
	p.device.pool.split(len(dst), moveLen, func(at, end, _ int) {
		k.read(src, at, end, func(at int, x []float32) {
			for i, f := range x {
				if math.IsInf(float64(f), 0) {
					f = float32(math.NaN())
				}
				dst[at+i] = tensortype.BFloat16Bits(tensortype.Float8Value(k.to, tensortype.Float8Bits(k.to, f*up)) * down)
			}
		})
	})
	return nil
}

// read calls f with some elements at a time, as floats.
func (k *round8) read(src unsafe.Pointer, at, end int, f func(at int, x []float32)) {
	var x [256]float32
	for ; at < end; at += len(x) {
		x := x[:min(len(x), end-at)]
		castTo(x, src, k.in.DType, k.in.Layout, at)
		f(at, x)
	}
}
