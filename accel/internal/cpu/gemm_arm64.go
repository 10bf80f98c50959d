//go:build !purego

package cpu

// NEON is part of every arm64 CPU.

// nativeTiles returns the kernel for vectors of four elements.
func nativeTiles() []gemmKernel {
	return []gemmKernel{{name: neonName, mr: 8, nr: 12, lanes: 4, tiles: tilesNEON, interleave: interleave4, interleaved: 4, copyRows: copyRows, copied: 4,
		packsRows: true, storeEdge: storeEdgeNEON, packWindows: packWindowsGeneric, spin: fmaNEON, spinFlops: 24 * 4 * 2}}
}

// neonName is the name of this implementation.
const neonName = "NEON"

func nativeShifts() []shiftKernel {
	return []shiftKernel{{mr: 8, nr: 12, single: 32, lanes: 4, tile: shiftTile8x12NEON, tile1: shiftTile1x32NEON,
		dots: shiftDots8x3NEON, dots1: shiftDots1x3NEON, biasRows: biasRowsNEON}}
}

func biasRowsNEON(rows, width int, d *float32, dpitch int, a *float32, apitch int, bias, low float32) {
	whole := width &^ (four - 1)
	for r := range rows {
		to, from := behind(d, r*dpitch, width), behind(a, r*apitch, width)
		if whole > 0 {
			biasRowNEON(whole, &to[0], &from[0], bias, low)
		}
		for i, v := range from[whole:] {
			to[whole+i] = max(v+bias, low)
		}
	}
}
