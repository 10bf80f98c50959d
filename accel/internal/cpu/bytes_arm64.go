//go:build !purego

package cpu

// divideVectors does as many bytes as whole vectors hold.
func divideVectors(dst []float32, src []byte, by float32) (done int) {
	whole := len(dst) &^ 7
	if whole > 0 {
		divideBytesNEON(whole, &dst[0], &src[0], by)
	}
	return whole
}
