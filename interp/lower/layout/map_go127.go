//go:build go1.27

package layout

// wholeMapType is internal/abi.MapType since Go 1.27.
type wholeMapType struct {
	mapType
	groupSize                                               uintptr
	keysOffset, keyStride, elemsOffset, elemStride, elemOff uintptr
	flags, _                                                uint32
}
