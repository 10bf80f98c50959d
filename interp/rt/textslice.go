package rt

// Compiled Go gives []byte(s) and []rune(s) a capacity that depends on s: the length where it is constant, that of a buffer
// where the slice is short and does not leave its function, and else what the allocator gives.

// textBuffer is the length of that buffer.
const textBuffer = 32

// TextBytes returns []byte(s).
func TextBytes(s string, exact, local bool) []byte { return textSlice([]byte(s), exact, local) }

// TextRunes returns []rune(s).
func TextRunes(s string, exact, local bool) []rune { return textSlice([]rune(s), exact, local) }

func textSlice[T byte | rune](x []T, exact, local bool) []T {
	switch {
	case exact:
		return x[:len(x):len(x)]
	case local && len(x) <= textBuffer:
		buffer := make([]T, len(x), textBuffer)
		copy(buffer, x)
		return buffer
	}
	return x
}
