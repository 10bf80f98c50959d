//go:build !purego

package cpu

// divideVectors does as many bytes as whole vectors hold.
func divideVectors(dst []float32, src []byte, by float32) (done int) {
	switch {
	case hasAVX512 && len(dst) >= 16:
		divideBytesAVX512(len(dst)/16, &dst[0], &src[0], by)
		return len(dst) &^ 15
	case hasAVX2 && len(dst) >= 8:
		divideBytesAVX2(len(dst)/8, &dst[0], &src[0], by)
		return len(dst) &^ 7
	}
	return 0
}
