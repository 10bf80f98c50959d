package cpu

import (
	"fmt"
	"testing"
	"unsafe"
)

// TestLines takes the lines of two matrices in groups of some size, as tiles of that depth do. Each line of each row must come.
func TestLines(t *testing.T) {
	for _, n := range []int{1, 7, 32, 500} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			const rows, pitch, width = 70, 48, 40
			memory := make([]float32, (rows-1)*pitch+width)
			missing := map[uintptr]bool{}
			for r := range rows {
				for c := 0; c < width; c += cacheLine / 4 {
					missing[uintptr(unsafe.Pointer(&memory[r*pitch+c]))] = true
				}
			}
			var l lines
			l.add(matrix{memory, pitch, 1}, 1, width)
			l.add(matrix{memory[pitch:], pitch, 1}, rows-1, width)
			l.add(matrix{memory, 1, pitch}, width, rows) // columns, whose lines are next to each other
			l.add(matrix{nil, pitch, 1}, 0, width)
			for {
				from, stride := l.next(n)
				if from == nil {
					break
				}
				for i := range n { // a tile prefetches as many lines as its depth, also behind the last row
					delete(missing, uintptr(unsafe.Pointer(from))+uintptr(i*stride*4))
				}
			}
			if len(missing) > 0 {
				t.Errorf("%d lines did not come", len(missing))
			}
		})
	}
}
