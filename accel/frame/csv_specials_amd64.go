//go:build !purego

package frame

import "golang.org/x/sys/cpu"

// findSpecials is specialsGeneric.
func findSpecials(masks []uint64, data []byte, separator byte) {
	switch blocks := len(data) / 64; {
	case !cpu.X86.HasAVX2:
		specialsGeneric(masks, data, separator)
	case blocks > 0:
		_ = masks[blocks-1]
		specialsAVX2(blocks, &masks[0], &data[0], separator)
	}
}

// findOffsets is offsetsGeneric, and needs eight elements more.
func findOffsets(offsets []uint32, masks []uint64) {
	if !cpu.X86.HasBMI1 || !cpu.X86.HasPOPCNT {
		offsetsGeneric(offsets, masks)
		return
	}
	offsetsBMI(len(masks), &masks[0], &offsets[0])
}
