package wire

import "unicode/utf8"

// cursorOffset converts a cursor in code points to a byte offset. A cursor that is nil or
// after the end means the end, one before the start means the start.
func cursorOffset(code string, cursor *int) int {
	if cursor == nil {
		return len(code)
	}
	left := *cursor
	for offset := range code {
		if left <= 0 {
			return offset
		}
		left--
	}
	return len(code)
}

// codePoints converts a byte offset to code points.
func codePoints(code string, offset int) int {
	return utf8.RuneCountInString(code[:min(max(offset, 0), len(code))])
}
