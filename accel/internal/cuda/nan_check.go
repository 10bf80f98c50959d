package cuda

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/quernlab/quern/accel/internal/ir"
)

// quietNaN returns a quiet NaN of a type, twice for 16-bit types.
func quietNaN(t ir.DType) uint32 {
	switch t {
	case ir.Float16:
		return 0x7e007e00
	case ir.BFloat16:
		return 0x7fc07fc0
	}
	return 0x7fc00000
}

// maxVerified is how many bytes of a result are verified.
const maxVerified = 1 << 14

// verify checks that the plan's ReLU of NaN is NaN, like that of our own kernels. It uses
// the scratch memory, which holds zeros before and after.
func (w *matmulCuBLASLt) verify(p *program) (err error) {
	if !w.gemm.ReLU {
		return nil
	}
	d, slot := p.device, w.a.Slot
	words := roundUp(max(p.slots[slot].Bytes, 1)) / 4
	if err := d.ctx.Fill(p.at[slot], quietNaN(w.a.DType), 4, words, d.stream); err != nil {
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
	result := d.host[:min(ir.Len(w.y.Shape)*w.y.DType.Size(), maxVerified)]
	if err := d.ctx.CopyToHost(result, p.address(w.y), d.stream); err != nil {
		return err
	}
	if err := d.ctx.SyncStream(d.stream); err != nil {
		return err
	}
	if !allNaN(result, w.y.DType) {
		return errDropsNaN
	}
	return nil
}

// allNaN reports whether all elements of a type are NaN.
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
