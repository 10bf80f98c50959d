//go:build !go1.27

package layout

// wholeMapType is internal/abi.MapType of Go 1.26.
type wholeMapType struct {
	mapType
	groupSize, slotSize, elemOffset uintptr
	flags, _                        uint32
}
