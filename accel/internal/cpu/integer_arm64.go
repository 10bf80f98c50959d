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
