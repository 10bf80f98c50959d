//go:build !purego

package cpu

import "unsafe"

// nativeWinograds returns the kernels that this CPU can run, the fastest first.
func nativeWinograds() []*winogradKernel { return native(winogradAVX512, winogradAVX2) }

var winogradAVX512 = &winogradKernel{
	lanes: 16, interleave: interleaveAVX512, deinterleave: deinterleaveAVX512,
	input: tileInputAVX512, slope: tileSlopeAVX512, output: tileOutputAVX512, weight: tileWeightAVX512, gradient: tileGradientAVX512,
	tiles: blockTilesAVX512,
	sums:  []sumTile{sumTile8x1AVX512, sumTile8x2AVX512},
}

var winogradAVX2 = &winogradKernel{
	lanes: 8, interleave: interleaveByEights, deinterleave: deinterleaveByEights,
	input: tileInputAVX2, slope: tileSlopeAVX2, output: tileOutputAVX2, weight: tileWeightAVX2, gradient: tileGradientAVX2,
	tiles: blockTilesAVX2,
	sums:  []sumTile{sumTile4x1AVX2, sumTile4x2AVX2},
}

// interleaveByEights leaves the columns after the last multiple of eight to plain Go.
func interleaveByEights(n int, dst, src *float32, row int, offsets *int) {
	whole := n &^ 7
	if whole > 0 {
		interleaveAVX2(whole, dst, src, row, offsets)
	}
	if whole < n {
		interleaveGeneric(8, n-whole, dst, &behind(src, whole, 1)[0], row, &unsafe.Slice(offsets, n)[whole])
	}
}

func deinterleaveByEights(n int, dst *float32, row int, src *float32, offsets *int) {
	whole := n &^ 7
	if whole > 0 {
		deinterleaveAVX2(whole, dst, row, src, offsets)
	}
	if whole < n {
		deinterleaveGeneric(8, n-whole, &behind(dst, whole, 1)[0], row, src, &unsafe.Slice(offsets, n)[whole])
	}
}
