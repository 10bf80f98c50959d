package ptxsim

import (
	"fmt"
	"slices"
)

// Work is what a run has executed, counted with a [Watch].
type Work struct {
	Blocks int // that ran
	// Instructions are those that warps have executed, without branches, barriers and those that all lanes skip.
	Instructions int
	// FLOPs are the additions, subtractions, multiplications, divisions and approximations of functions of floats by all threads. A
	// multiplication with addition counts as two.
	FLOPs int
	// Loaded and Stored are bytes of global memory that threads have read and written; an atomic operation does both.
	Loaded, Stored int
}

var (
	floatTypes = []string{"f16", "bf16", "f32", "f64", "tf32", "e4m3", "e5m2"}
	pairTypes  = []string{"f16x2", "bf16x2", "f32x2"}
	oneFLOP    = []string{"add", "sub", "mul", "div", "sqrt", "rsqrt", "rcp", "ex2", "lg2", "sin", "cos", "tanh"}
)

// flopsOf returns the FLOPs of an instruction: of one lane, or for a product of matrices of all 32.
func flopsOf(s *statement) (lane, warp int) {
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(s.mods, w) })
	}
	elements := 0
	switch {
	case has(pairTypes...):
		elements = 2
	case has(floatTypes...):
		elements = 1
	}
	switch {
	case s.opcode == "fma" || s.opcode == "mad":
		return 2 * elements, 0
	case slices.Contains(oneFLOP, s.opcode), (s.opcode == "atom" || s.opcode == "red") && has("add"):
		return elements, 0
	case s.opcode == "mma", s.opcode == "wmma" && has("mma"), s.opcode == "wgmma" && has("mma_async"):
		if elements == 0 {
			return 0, 0
		}
		for _, w := range s.mods {
			var m, n, k int
			if found, _ := fmt.Sscanf(w, "m%dn%dk%d", &m, &n, &k); found == 3 {
				if s.opcode == "wgmma" {
					m /= 4 // warps
				}
				return 0, 2 * m * n * k
			}
		}
	}
	return 0, 0
}
