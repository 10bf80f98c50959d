//go:build !amd64 || purego

package frame

func findSpecials(masks []uint64, data []byte, separator byte) {
	specialsGeneric(masks, data, separator)
}

func findOffsets(offsets []uint32, masks []uint64) { offsetsGeneric(offsets, masks) }
