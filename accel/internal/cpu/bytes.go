package cpu

// DivideBytes converts bytes to floats and divides them, as for the pixels of a batch. It
// may be called from any goroutine, and needs no device. src must be at least as long as
// dst. Neither escapes to the heap.
func DivideBytes(dst []float32, src []byte, by float32) {
	src = src[:len(dst)]
	done := divideVectors(dst, src, by)
	divideBytesGeneric(dst[done:], src[done:], by)
}
