package cpu

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestFewRows compares multiplications that do not pack their right-hand side with float64.
func TestFewRows(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, kernel := range allTiles() {
		d := NewWith(kernel.name, 2)
		defer d.Close()
		for _, size := range [][3]int{{1, 4096, 300}, {1, 1024, 1100}, {4, 640, 768}, {6, 1024, 520}, {3, 1000, 1000}, {2, 999, 700}, {1, 3072, 768}, {1, 2309, 301}, {4, 5000, 130}, {2, 1024, 257}, {3, 16, 20000}} {
			m, n, k := size[0], size[1], size[2]
			for _, transposed := range []bool{false, true} {
				t.Run(fmt.Sprint(kernel.name, size, transposed), func(t *testing.T) {
					for _, bias := range []bool{false, true} {
						checkGEMM(t, d, r, m, n, k, false, transposed, bias, bias)
						checkGEMM(t, d, r, m, n, k, true, transposed, bias, !bias)
					}
				})
			}
		}
	}
}
