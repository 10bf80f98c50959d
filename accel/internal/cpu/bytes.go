package cpu

// DivideBytes writes bytes, divided by a number, as floats: pixels as they enter
// a batch. It may be called from any goroutine, and needs no device. src has at
// least dst's length. Neither escapes to the heap.
func DivideBytes(dst []float32, src []byte, by float32) {
	src = src[:len(dst)]
	done := divideVectors(dst, src, by)
	divideBytesGeneric(dst[done:], src[done:], by)
}
