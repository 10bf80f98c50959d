//go:build js && quern_simd

package cpu

import "unsafe"

// A browser's vectors have four elements. Go's compiler does not use them, so the tiles are functions of another
// WebAssembly module, install/lite/src/simd.mjs, and programs with the tag quern_simd need a page that loads it.

// wasmTile is a tile of f/2+1 rows and f%2+1 vectors. Distances are in bytes.
//
//go:wasmimport quern tile
//go:noescape
func wasmTile(f, k int32, a unsafe.Pointer, row, step int32, b unsafe.Pointer, next int32, c unsafe.Pointer, ldc, mode int32, bias unsafe.Pointer)

func nativeTiles() []gemmKernel {
	const rows, vectors = 6, 2
	kernel := gemmKernel{name: simdName, mr: rows, nr: 4 * vectors, lanes: 4, packWindows: packWindowsGeneric, spin: spinGeneric, spinFlops: 12 * 2}
	for r := range rows {
		var tiles []tile
		for v := range vectors {
			tiles = append(tiles, repeated(func(k int, a *float32, row, step int, b *float32, next int, c *float32, ldc, mode int, bias *float32) {
				wasmTile(int32(r*vectors+v), int32(k), unsafe.Pointer(a), int32(row)*4, int32(step)*4, unsafe.Pointer(b), int32(next)*4,
					unsafe.Pointer(c), int32(ldc)*4, int32(mode), unsafe.Pointer(bias))
			}))
		}
		kernel.tiles = append(kernel.tiles, tiles)
	}
	return []gemmKernel{kernel}
}

// simdName is the name of this implementation, which has its own matrix multiplication only.
const simdName = "SIMD128"

func nativeVectors() []*vectors {
	v := *genericVectors
	v.name = simdName
	return []*vectors{&v}
}

func nativeShifts() []shiftKernel { return []shiftKernel{genericShift} }

func nativeWinograds() []*winogradKernel { return []*winogradKernel{genericWinograd} }

func nativeChannels() []channelKernel { return []channelKernel{genericChannels} }
