package check

import (
	"sort"
	"strings"
)

// A lineTable has the offsets of the line starts of a text.
type lineTable []int

func linesOf(src string) lineTable {
	starts := make(lineTable, 1, 1+strings.Count(src, "\n"))
	for i := 0; ; {
		n := strings.IndexByte(src[i:], '\n')
		if n < 0 {
			return starts
		}
		i += n + 1
		starts = append(starts, i)
	}
}

// position returns the line and column of an offset, counted from 1.
func (t lineTable) position(offset int) (line, column int) {
	line = sort.SearchInts(t, offset+1)
	return line, offset - t[line-1] + 1
}

// text returns a line of src, whose table t is, without its newline.
func (t lineTable) text(src string, line int) string {
	end := len(src)
	if line < len(t) {
		end = t[line] - 1
	}
	return src[t[line-1]:end]
}
