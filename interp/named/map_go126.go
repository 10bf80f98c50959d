//go:build !go1.27

package named

// mapLayout is the end of internal/abi.MapType in Go 1.26.
type mapLayout struct {
	groupSize, slotSize, elemOffset uintptr
	flags, _                        uint32
}
