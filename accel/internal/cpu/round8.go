package cpu

import (
	"math"
	"unsafe"

	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

var _ = implement[ir.Round8](newRound8)

// newRound8 returns a step that rounds to 8-bit floats with one scale, in two passes: the maximum of each chunk,
// then the elements.
func newRound8(_ *Device, s ir.Step) (step, error) {
	in, to := s.In[0], s.Op.(ir.Round8).To
	ofChunks := make([]float32, (ir.Len(in.Shape)+moveLen-1)/moveLen) // maximum of each chunk, ignoring NaN
	return stepFunc(func(p *program) error {
		src, dst := p.memory[in.Slot], elements[uint16](p, s.Out[0])
		p.device.pool.split(len(dst), moveLen, func(at, end, _ int) {
			largest := float32(0)
			floats(src, in, at, end, func(_ int, x []float32) {
				for _, f := range x {
					if m := float32(math.Abs(float64(f))); m > largest {
						largest = m
					}
				}
			})
			ofChunks[at/moveLen] = largest
		})
		largest := float32(0)
		for _, m := range ofChunks {
			largest = max(largest, m)
		}
		exponent := tensortype.Float8Scale(to, largest)
		up, down := float32(math.Ldexp(1, exponent)), float32(math.Ldexp(1, -exponent))
		p.device.pool.split(len(dst), moveLen, func(at, end, _ int) {
			floats(src, in, at, end, func(at int, x []float32) {
				for i, f := range x {
					if math.IsInf(float64(f), 0) {
						f = float32(math.NaN())
					}
					dst[at+i] = tensortype.BFloat16Bits(tensortype.Float8Value(to, tensortype.Float8Bits(to, f*up)) * down)
				}
			})
		})
		return nil
	}), nil
}

// floats calls f with some elements at a time, as floats.
func floats(src unsafe.Pointer, in ir.Operand, at, end int, f func(at int, x []float32)) {
	var x [256]float32
	for ; at < end; at += len(x) {
		x := x[:min(len(x), end-at)]
		castTo(x, src, in.DType, in.Layout, at)
		f(at, x)
	}
}
