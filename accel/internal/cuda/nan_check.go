package cuda

import (
	"encoding/binary"
	"errors"

	"github.com/quernlab/quern/accel/internal/cuda/cublaslt"
	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// quietNaN is the bits of a quiet NaN of float32, and those of two of either 16-bit type.
const quietNaN = 0x7fff7fff

// maxVerified is how many bytes of a result are verified.
const maxVerified = 1 << 14

// verify checks that the plan's ReLU or GELU of NaN is NaN, like that of our own kernels. It
// uses the scratch memory, which holds zeros before and after.
func (w *matmulCuBLASLt) verify(p *program) (err error) {
	if !w.gemm.ReLU && w.gemm.GELU == cublaslt.NoGELU {
		return nil
	}
	d, slot := p.device, w.a.Slot
	words := roundUp(max(p.slots[slot].Bytes, 1)) / 4
	if err := d.ctx.Fill(p.at[slot], quietNaN, 4, words, d.stream); err != nil {
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
		var other bool // than NaN
		switch t {
		case ir.Float32:
			other = binary.LittleEndian.Uint32(b)&0x7fffffff <= 0x7f800000
		case ir.Float16:
			other = binary.LittleEndian.Uint16(b)&0x7fff <= 0x7c00
		case ir.BFloat16:
			other = binary.LittleEndian.Uint16(b)&0x7fff <= 0x7f80
		}
		if other {
			return false
		}
	}
	return true
}
