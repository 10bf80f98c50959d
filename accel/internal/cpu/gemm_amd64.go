//go:build !purego

package cpu

import "math/bits"

// nativeTiles returns the kernels that this CPU can run, the fastest first.
func nativeTiles() []gemmKernel {
	avx2 := gemmKernel{name: "AVX2", mr: 6, nr: 16, lanes: 8, tiles: tilesAVX2, interleave: interleave8, interleaved: 8, interleaveFew: interleavesFew, copyRows: copyRows, copied: 8, copyFew: copyFew, copyPanels: packsPanels, storeEdge: storeEdgeAVX2, everySecond: everySecond, packWindows: packWindowsAVX2, packsFast: true, spin: fmaAVX2, spinFlops: 12 * 8 * 2}
	avx512 := gemmKernel{name: "AVX512", mr: 14, nr: 32, lanes: 16, tiles: tilesAVX512, interleave: interleave8, interleaved: 8, interleaveFew: interleavesFew, copyRows: copyRows, copied: 8, copyFew: copyFew, copyPanels: packsPanels, storeEdge: storeEdgeAVX512, everySecond: everySecond, packWindows: packWindowsAVX512, packsFast: true, rowTiles: rowTilesAVX512, spin: fmaAVX512, spinFlops: 24 * 16 * 2}
	return native(avx512, avx2)
}

var interleavesFew = []func(dst, src *float32, row, k int){4: interleave4, 5: interleave5, 6: interleave6}

// packsPanels packs columns of a row-major matrix as copyPanels does.
func packsPanels(dst, src []float32, col, n, k, panels int) (rows int) {
	least, most := n/panels, (n+panels-1)/panels
	rows = k &^ 3
	few := least >= 4 && most <= 8 && col >= n
	if few {
		rows = (k - 1) &^ 3 // a row is written up to eight elements, which the next one overwrites
	}
	if rows == 0 || !few && (least < 8 || most > 32 || most > 16 && least < 24) {
		return 0
	}
	for first := 0; first < panels; first += mostPanels {
		var parts [mostPanels][3]int
		count := min(mostPanels, panels-first)
		for q := range count {
			from, to := panelTop(n, panels, first+q), panelTop(n, panels, first+q+1)
			parts[q] = [3]int{from * 4, from * k * 4, (to - from) * 4}
		}
		switch {
		case few:
			copyPanels1(&dst[0], &src[0], &parts[0][0], count, rows, col)
		case most <= 16:
			copyPanels2(&dst[0], &src[0], &parts[0][0], count, rows, col)
		default:
			copyPanels4(&dst[0], &src[0], &parts[0][0], count, rows, col)
		}
	}
	return rows
}

// packWindowsAVX2 splits windows where an element is not selected.
func packWindowsAVX2(dst, runs []float32, offsets []int, w int, list []window) {
	if len(offsets) == 0 {
		return
	}
	parts := make([]window, 0, windowLen) // a panel has at most as many columns
	for _, x := range list {
		for mask, at := uint(x.mask), 0; mask != 0; {
			zeros := bits.TrailingZeros(mask)
			ones := bits.TrailingZeros(^(mask >> zeros))
			parts = append(parts, window{from: x.from + (at+zeros)*4, taken: ones * 4})
			mask >>= zeros + ones
			at += zeros + ones
		}
	}
	if len(parts) > 0 {
		windowsAVX2(&dst[0], &runs[0], &offsets[0], len(offsets), w, &parts[0].from, len(parts))
	}
}

func packWindowsAVX512(dst, runs []float32, offsets []int, w int, list []window) {
	if len(offsets) == 0 || len(list) == 0 {
		return
	}
	windowsAVX512(&dst[0], &runs[0], &offsets[0], len(offsets), w, &list[0].from, len(list))
}
