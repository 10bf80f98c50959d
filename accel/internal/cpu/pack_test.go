package cpu

import (
	"fmt"
	"math"
	"testing"
)

// TestPackRows checks panels of all heights, of both layouts and of depths that are no multiple of eight, and that nothing
// outside is written.
func TestPackRows(t *testing.T) {
	for _, kernel := range allTiles() {
		for rows := 1; rows <= 2*kernel.mr+1; rows++ {
			for _, k := range []int{1, 7, 8, 17, 40} {
				for _, columnMajor := range []bool{false, true} {
					t.Run(fmt.Sprint(kernel.name, rows, "x", k, columnMajor), func(t *testing.T) {
						checkPackRows(t, kernel, rows, k, columnMajor)
					})
				}
			}
		}
	}
}

func checkPackRows(t *testing.T, kernel gemmKernel, rows, k int, columnMajor bool) {
	const guard, gap = -1, 3
	row, col := k+gap, 1
	if columnMajor {
		row, col = 1, rows+gap
	}
	src := make([]float32, (rows-1)*row+(k-1)*col+1)
	for i := range src {
		src[i] = float32(math.NaN())
	}
	for i := range rows {
		for p := range k {
			src[i*row+p*col] = float32(i*1000 + p)
		}
	}
	dst := make([]float32, rows*k+16)
	for i := range dst {
		dst[i] = guard
	}
	kernel.packRows(dst[8:][:rows*k], src, row, col, rows, k)
	for i, v := range dst {
		if (i < 8 || i >= 8+rows*k) && v != guard {
			t.Fatalf("element %d after the panels is %v", i-8-rows*k, v)
		}
	}
	panels, to := kernel.panels(rows), 0
	for p := range panels {
		from := to
		if to += rows / panels; p < rows%panels { // the first ones are taller
			to++
		}
		for i := from; i < to; i++ {
			for q := range k {
				if got := dst[8+from*k+q*(to-from)+i-from]; got != float32(i*1000+q) {
					t.Fatalf("element (%d, %d) is %v", i, q, got)
				}
			}
		}
	}
}
