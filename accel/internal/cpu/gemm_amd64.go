//go:build !purego

package cpu

// nativeTiles are the tiles that this processor can run, the fastest first.
func nativeTiles() []gemmKernel {
	avx2 := gemmKernel{name: "AVX2", mr: 6, nr: 16, tile: tile6x16, interleave: interleave8, copyRows: copyRows, spin: fmaAVX2, spinFlops: 12 * 8 * 2}
	avx512 := gemmKernel{name: "AVX512", mr: 14, nr: 32, tile: tile14x32, interleave: interleave8, copyRows: copyRows, spin: fmaAVX512, spinFlops: 24 * 16 * 2}
	switch {
	case hasAVX512:
		return []gemmKernel{avx512, avx2}
	case hasAVX2:
		return []gemmKernel{avx2}
	}
	return nil
}
