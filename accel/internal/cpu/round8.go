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
	in, out  ir.Operand
	to       ir.DType
	n        int
	src      unsafe.Pointer
	dst      []uint16
	largest  []float32 // maximum of each chunk, ignoring NaN
	exponent int       // exponent of the scale, after the first pass
	rounds   bool      // whether this is the second pass
}

func newRound8(_ *Device, s ir.Step) (step, error) {
	n := ir.Len(s.In[0].Shape)
	return &round8{in: s.In[0], out: s.Out[0], to: s.Op.(ir.Round8).To, n: n, largest: make([]float32, (n+moveLen-1)/moveLen)}, nil
}

func (k *round8) run(p *program) error {
	k.src = p.memory[k.in.Slot]
	k.dst = elements[uint16](p, k.out)
	k.rounds = false
	p.device.pool.run(len(k.largest), k)
	largest := float32(0)
	for _, m := range k.largest {
		largest = max(largest, m)
	}
	k.exponent, k.rounds = tensortype.Float8Scale(k.to, largest), true
	p.device.pool.run(len(k.largest), k)
	k.src, k.dst = nil, nil
	return nil
}

func (k *round8) work(chunk, _ int) {
	at := chunk * moveLen
	end := min(at+moveLen, k.n)
	up, down := float32(math.Ldexp(1, k.exponent)), float32(math.Ldexp(1, -k.exponent))
	largest := float32(0)
	var x [256]float32
	for ; at < end; at += len(x) {
		x := x[:min(len(x), end-at)]
		castTo(x, k.src, k.in.DType, k.in.Layout, at)
		for i, f := range x {
			if !k.rounds {
				if m := float32(math.Abs(float64(f))); m > largest {
					largest = m
				}
				continue
			}
			if math.IsInf(float64(f), 0) {
				f = float32(math.NaN())
			}
			k.dst[at+i] = tensortype.BFloat16Bits(tensortype.Float8Value(k.to, tensortype.Float8Bits(k.to, f*up)) * down)
		}
	}
	if !k.rounds {
		k.largest[chunk] = largest
	}
}
