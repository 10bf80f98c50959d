//go:build !purego

package cpu

// nativeShifts returns the convolution kernels that this CPU can run, the fastest first.
func nativeShifts() []shiftKernel {
	avx2 := shiftKernel{mr: 4, nr: 24, single: 64, lanes: 8, tile: shiftTile4x24, tile1: shiftTile1x64,
		dots: shiftDots4x3AVX2, dots1: shiftDots1x3AVX2, biasRows: biasRowsAVX2}
	avx512 := shiftKernel{mr: 8, nr: 48, single: 128, lanes: 16, tile: shiftTile8x48, tile1: shiftTile1x128,
		dots: shiftDots8x3AVX512, dots1: shiftDots1x3AVX512, biasRows: biasRowsAVX512}
	return native(avx512, avx2)
}
