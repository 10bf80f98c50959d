package kernel

import "github.com/quernlab/quern/accel/internal/engine/tensortype"

// What the methods of 16-bit floats do outside of kernels. It is not in thread.go, because Compile reads that file without its imports.

func widenFloat16(bits uint16) float32  { return tensortype.Float16Value(bits) }
func widenBFloat16(bits uint16) float32 { return tensortype.BFloat16Value(bits) }
func narrowFloat16(x float32) uint16    { return tensortype.Float16Bits(x) }
func narrowBFloat16(x float32) uint16   { return tensortype.BFloat16Bits(x) }
