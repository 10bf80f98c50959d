//go:build !purego

package cpu

func nativeChannels() []channelKernel {
	return []channelKernel{{sum: sumRowsNEON, square: squareRowsNEON, scale: scaleRowsNEON, slope: slopeRowsNEON, slopeScale: slopeScaleRowsNEON,
		pool: poolRowsNEON, poolSlope: poolSlopeRowsNEON}}
}
