package cpu

import (
	"unsafe"

	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/internal/engine/tensortype"
)

// gatherFloat16 is gatherAs for 16-bit floats.
func gatherFloat16[D number](dst []D, base unsafe.Pointer, d ir.DType, l ir.Layout, at int) {
	var bits [256]uint16
	for i := 0; i < len(dst); i += len(bits) {
		b := bits[:min(len(bits), len(dst)-i)]
		gatherAs[uint16](b, base, l, at+i)
		for j, h := range b {
			dst[i+j] = D(float16Value(d, h))
		}
	}
}

func float16Value(d ir.DType, b uint16) float32 {
	if d == ir.Float16 {
		return tensortype.Float16Value(b)
	}
	return tensortype.BFloat16Value(b)
}

// castToFloat16 rounds elements of any type to 16-bit floats, through float32.
func castToFloat16(dst []uint16, to ir.DType, src unsafe.Pointer, from ir.DType, l ir.Layout, at int) {
	var buffer [256]float32
	for i := 0; i < len(dst); i += len(buffer) {
		w := buffer[:min(len(buffer), len(dst)-i)]
		castTo(w, src, from, l, at+i)
		for j, f := range w {
			if to == ir.Float16 {
				dst[i+j] = tensortype.Float16Bits(f)
			} else {
				dst[i+j] = tensortype.BFloat16Bits(f)
			}
		}
	}
}
