package wire

import "unicode/utf8"

// cursorOffset turns a cursor in code points into an offset in bytes. A cursor
// that is absent or past the end is the end; one before the start, the start.
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

// codePoints turns an offset in bytes into one in code points.
func codePoints(code string, offset int) int {
	return utf8.RuneCountInString(code[:min(max(offset, 0), len(code))])
}
