package rt

// Compiled Go gives []byte(s) and []rune(s) a capacity that depends on s: the length if s is
// constant (exact), that of a buffer on the stack if the slice is short and does not escape
// (local), and otherwise the size class of the allocator.

// textBuffer is the capacity of that buffer.
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
