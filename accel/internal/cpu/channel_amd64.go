//go:build !purego

package cpu

// nativeChannels returns the kernels that this CPU can run, the fastest first.
func nativeChannels() []channelKernel {
	avx2 := channelKernel{sum: sumRowsAVX2, square: squareRowsAVX2, scale: scaleRowsAVX2, slope: slopeRowsAVX2, slopeScale: slopeScaleRowsAVX2, pool: poolRowsAVX2, poolSlope: poolSlopeRowsAVX2}
	avx512 := channelKernel{sum: sumRowsAVX2, square: squareRowsAVX512, scale: scaleRowsAVX512, slope: slopeRowsAVX512, slopeScale: slopeScaleRowsAVX512, pool: poolRowsAVX512, poolSlope: poolSlopeRowsAVX512}
	return native(avx512, avx2)
}
