//go:build !purego

package cpu

import "golang.org/x/sys/cpu"

// byteKernels returns the kernels that this CPU can run, the fastest first.
func byteKernels() []*byteKernel {
	var list []*byteKernel
	if hasAVX512 && cpu.X86.HasAVX512VNNI {
		list = append(list, vnni512Bytes)
	}
	if hasAVX2 && cpu.X86.HasAVXVNNI {
		list = append(list, vnni256Bytes)
	}
	if hasAVX2 {
		list = append(list, avx2Bytes)
	}
	return append(list, genericBytes)
}

var (
	vnni512Bytes = &byteKernel{
		name: "AVX-512 VNNI", set: "AVX512", mr: 14, lanes: 16, group: 4, tiles: byteTilesVNNI512, byteVectors: avx512ByteVectors,
	}
	vnni256Bytes = &byteKernel{
		name: "AVX-VNNI", set: "AVX2", mr: 6, lanes: 8, group: 4, tiles: byteTilesVNNI256, byteVectors: avx2ByteVectors,
	}
	avx2Bytes = &byteKernel{
		name: "AVX2", set: "AVX2", mr: 6, lanes: 8, group: 2, int16: true, tiles: byteTilesAVX2, byteVectors: avx2ByteVectors,
	}
)

var avx512ByteVectors = byteVectors{
	quantize:   byteQuantizer(16, quantizeAVX512),
	requantize: scaledRows(16, requantizeAVX512, requantizeGeneric),
	dequantize: scaledRows(16, dequantizeAVX512, dequantizeGeneric),
	tapSums:    tapSumsVector,
	largest:    largestVector,
	gather:     gatherVector,
	dot:        byteDot(64, dotBytesAVX512),
	widen:      byteWidener(16, widenBytesAVX512),
}

var avx2ByteVectors = byteVectors{
	quantize:   byteQuantizer(8, quantizeAVX2),
	requantize: scaledRows(8, requantizeAVX2, requantizeGeneric),
	dequantize: scaledRows(8, dequantizeAVX2, dequantizeGeneric),
	tapSums:    tapSumsVector,
	largest:    largestVector,
	gather:     gatherVector,
	dot:        byteDot(32, dotBytesAVX2),
	widen:      byteWidener(8, widenBytesAVX2),
}

func tapSumsVector(sums []int32, x []uint8, offsets []int, w []int32, pitch int) {
	tapSumsAVX2(len(offsets), len(sums), &sums[0], &x[0], &offsets[0], &w[0], pitch)
}

func largestVector(d, x []uint8, offsets []int) {
	largestTapAVX2(len(offsets), len(d), &d[0], &x[0], &offsets[0])
}

func gatherVector(count, n int, dst, x []uint8, offsets []int, step int) {
	if count > 0 {
		gatherRunsAVX2(count, len(offsets), n, &dst[0], &x[0], &offsets[0], step)
	}
}
