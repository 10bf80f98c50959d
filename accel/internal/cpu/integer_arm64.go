//go:build !purego

package cpu

import "golang.org/x/sys/cpu"

// byteKernels returns the kernels that this CPU can run, the fastest first.
func byteKernels() []*byteKernel {
	var list []*byteKernel
	if cpu.ARM64.HasI8MM {
		list = append(list, &byteKernel{name: "NEON I8MM", set: neonName, mr: 8, lanes: 4, group: 4, tiles: byteTilesSUDOT, byteVectors: neonByteVectors})
	}
	if cpu.ARM64.HasASIMDDP {
		list = append(list, &byteKernel{name: "NEON DotProd", set: neonName, mr: 8, lanes: 4, group: 4, tiles: byteTilesSDOT, byteVectors: neonByteVectors})
	}
	return append(list, &byteKernel{name: neonName, set: neonName, mr: 8, lanes: 4, group: 1, int16: true, tiles: byteTilesSMLAL, byteVectors: neonByteVectors}, genericBytes)
}

var byteTilesSUDOT = [][]byteTile{
	{byteTile1x4SUDOT, byteTile1x8SUDOT},
	{byteTile2x4SUDOT, byteTile2x8SUDOT},
	{byteTile3x4SUDOT, byteTile3x8SUDOT},
	{byteTile4x4SUDOT, byteTile4x8SUDOT},
	{byteTile5x4SUDOT, byteTile5x8SUDOT},
	{byteTile6x4SUDOT, byteTile6x8SUDOT},
	{byteTile7x4SUDOT, byteTile7x8SUDOT},
	{byteTile8x4SUDOT, byteTile8x8SUDOT},
}

var byteTilesSDOT = [][]byteTile{
	{byteTile1x4SDOT, byteTile1x8SDOT},
	{byteTile2x4SDOT, byteTile2x8SDOT},
	{byteTile3x4SDOT, byteTile3x8SDOT},
	{byteTile4x4SDOT, byteTile4x8SDOT},
	{byteTile5x4SDOT, byteTile5x8SDOT},
	{byteTile6x4SDOT, byteTile6x8SDOT},
	{byteTile7x4SDOT, byteTile7x8SDOT},
	{byteTile8x4SDOT, byteTile8x8SDOT},
}

var byteTilesSMLAL = [][]byteTile{
	{byteTile1x4SMLAL, byteTile1x8SMLAL},
	{byteTile2x4SMLAL, byteTile2x8SMLAL},
	{byteTile3x4SMLAL, byteTile3x8SMLAL},
	{byteTile4x4SMLAL, byteTile4x8SMLAL},
	{byteTile5x4SMLAL, byteTile5x8SMLAL},
	{byteTile6x4SMLAL, byteTile6x8SMLAL},
	{byteTile7x4SMLAL, byteTile7x8SMLAL},
	{byteTile8x4SMLAL, byteTile8x8SMLAL},
}

var neonByteVectors = byteVectors{
	quantize:   byteQuantizer(4, quantizeNEON),
	requantize: scaledRows(4, requantizeNEON, requantizeGeneric),
	dequantize: scaledRows(4, dequantizeNEON, dequantizeGeneric),
	tapSums: func(sums []int32, x []uint8, offsets []int, w []int32, pitch int) {
		tapSumsNEON(len(offsets), len(sums), &sums[0], &x[0], &offsets[0], &w[0], pitch)
	},
	largest: func(d, x []uint8, offsets []int) { largestTapNEON(len(offsets), len(d), &d[0], &x[0], &offsets[0]) },
	gather: func(count, n int, dst, x []uint8, offsets []int, step int) {
		if count > 0 {
			gatherRunsNEON(count, len(offsets), n, &dst[0], &x[0], &offsets[0], step)
		}
	},
	dot:   byteDot(16, dotBytesNEON),
	widen: byteWidener(16, widenBytesNEON),
}
