//go:build go1.27

package named

// mapLayout is the end of internal/abi.MapType since Go 1.27.
type mapLayout struct {
	groupSize                                               uintptr
	keysOffset, keyStride, elemsOffset, elemStride, elemOff uintptr
	flags, _                                                uint32
}
