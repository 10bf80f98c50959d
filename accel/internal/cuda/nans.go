package cuda

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/quernlab/quern/accel/internal/ir"
)

// errDropsNaN is why a library's plan is not taken: its ReLU is a maximum as the
// hardware computes it, which is 0 for NaN and would hide that a training diverged.
var errDropsNaN = errors.New("its ReLU of NaN is not NaN")

// notANumber is a quiet NaN of a type, twice for types of 16 bits.
func notANumber(t ir.DType) uint32 {
	switch t {
	case ir.Float16:
		return 0x7e007e00
	case ir.BFloat16:
		return 0x7fc07fc0
	}
	return 0x7fc00000
}

// mostLooked is how many bytes of a result are looked at.
const mostLooked = 1 << 14

// check tries what a plan does not tell, on memory that holds zeros and does so again
// when it is done: the ReLU of a product of NaN must be NaN, as ours is.
func (w *multiplication) check(p *program) (err error) {
	if !w.product.ReLU {
		return nil
	}
	d, slot := p.device, w.a.Slot
	words := roundUp(max(p.slots[slot].Bytes, 1)) / 4
	if err := d.ctx.Fill(p.at[slot], notANumber(w.a.DType), 4, words, d.stream); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.ctx.Fill(p.at[slot], 0, 4, words, d.stream)) }()
	launches, err := w.launches(p)
	if err != nil {
		return err
	}
	for _, l := range launches {
		if err := d.launch(l); err != nil {
			return err
		}
	}
	looked := d.host[:min(ir.Len(w.y.Shape)*w.y.DType.Size(), mostLooked)]
	if err := d.ctx.CopyToHost(looked, p.address(w.y), d.stream); err != nil {
		return err
	}
	if err := d.ctx.SyncStream(d.stream); err != nil {
		return err
	}
	if !allNaN(looked, w.y.DType) {
		return errDropsNaN
	}
	return nil
}

// allNaN tells whether all numbers of a type are NaN.
func allNaN(b []byte, t ir.DType) bool {
	for ; len(b) > 0; b = b[t.Size():] {
		switch t {
		case ir.Float32:
			if x := math.Float32frombits(binary.LittleEndian.Uint32(b)); x == x {
				return false
			}
		case ir.Float16:
			if binary.LittleEndian.Uint16(b)&0x7fff <= 0x7c00 {
				return false
			}
		case ir.BFloat16:
			if binary.LittleEndian.Uint16(b)&0x7fff <= 0x7f80 {
				return false
			}
		}
	}
	return true
}
