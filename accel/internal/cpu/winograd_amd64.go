//go:build !purego

package cpu

import "unsafe"

// nativeWinograds returns the kernels that this CPU can run, the fastest first.
func nativeWinograds() []*winogradKernel {
	switch {
	case hasAVX512:
		return []*winogradKernel{winogradAVX512, winogradAVX2}
	case hasAVX2:
		return []*winogradKernel{winogradAVX2}
	}
	return nil
}

var winogradAVX512 = &winogradKernel{
	lanes: 16, interleave: interleaveAVX512, deinterleave: deinterleaveAVX512,
	input: tileInputAVX512, slope: tileSlopeAVX512, output: tileOutputAVX512, weight: tileWeightAVX512, gradient: tileGradientAVX512,
	tiles: [][]blockTile{
		{blockTile1x1AVX512, blockTile1x2AVX512},
		{blockTile2x1AVX512, blockTile2x2AVX512},
		{blockTile3x1AVX512, blockTile3x2AVX512},
		{blockTile4x1AVX512, blockTile4x2AVX512},
		{blockTile5x1AVX512, blockTile5x2AVX512},
		{blockTile6x1AVX512, blockTile6x2AVX512},
		{blockTile7x1AVX512, blockTile7x2AVX512},
		{blockTile8x1AVX512, blockTile8x2AVX512},
		{blockTile9x1AVX512, blockTile9x2AVX512},
		{blockTile10x1AVX512, blockTile10x2AVX512},
		{blockTile11x1AVX512, blockTile11x2AVX512},
		{blockTile12x1AVX512, blockTile12x2AVX512},
		{blockTile13x1AVX512, blockTile13x2AVX512},
		{blockTile14x1AVX512, blockTile14x2AVX512},
	},
	sums: []sumTile{sumTile8x1AVX512, sumTile8x2AVX512},
}

var winogradAVX2 = &winogradKernel{
	lanes: 8, interleave: interleaveByEights, deinterleave: deinterleaveByEights,
	input: tileInputAVX2, slope: tileSlopeAVX2, output: tileOutputAVX2, weight: tileWeightAVX2, gradient: tileGradientAVX2,
	tiles: [][]blockTile{
		{blockTile1x1AVX2, blockTile1x2AVX2},
		{blockTile2x1AVX2, blockTile2x2AVX2},
		{blockTile3x1AVX2, blockTile3x2AVX2},
		{blockTile4x1AVX2, blockTile4x2AVX2},
		{blockTile5x1AVX2, blockTile5x2AVX2},
		{blockTile6x1AVX2, blockTile6x2AVX2},
	},
	sums: []sumTile{sumTile4x1AVX2, sumTile4x2AVX2},
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
