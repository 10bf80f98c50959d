package main

import "fmt"

// storeEdge generates the end of a tile that is wider than the remaining columns of the result: it adds a buffer of whole vectors to some
// columns of the result, or replaces them, and applies the epilogue. What is not there to be added is read from a vector of -0, which
// changes no sum, without advancing.
func storeEdge(o *output) {
	a := o.declare("storeEdgeNEON", "rows, n int, c *float32, ldc int, edge *float32, width, mode int, bias *float32",
		" writes n columns, less than width, which is a multiple of four; bias may be nil.")
	a.bytes("ldc", "width")
	const low, none = 31, 0x80000000
	a.constants()
	a.line("FMOVQ %d(R26), F%d", a.constant(0xff800000), low) // the lower bound: -Inf or 0
	a.line("TBZ $%d, R6, bounded", clampZero)
	a.zeros(low, 1)
	a.label("bounded")
	a.line("ADD $%d, R26, R8", a.constant(none))
	// R20 and R21 are the distances of vectors of c and of biases, R22 and R23 of single elements.
	a.line("AND $%d, R6, R9", 1<<addResult)
	a.line("LSL $4, R9, R20")
	a.line("LSL $2, R9, R22")
	a.line("MOVD $16, R21")
	a.line("MOVD $4, R23")
	a.line("CBNZ R7, row")
	a.line("MOVD R8, R7")
	a.line("MOVD $0, R21")
	a.line("MOVD $0, R23")
	a.label("row")
	a.line("MOVD R1, R9")
	a.line("MOVD R2, R10")
	a.line("MOVD R4, R11")
	a.line("MOVD R8, R12")
	a.line("MOVD R7, R13")
	a.line("TBZ $%d, R6, vectors", addResult)
	a.line("MOVD R2, R12")
	a.label("vectors")
	for i, move := range []string{"FMOVQ", "FMOVS"} {
		n := []int{lanes, 1}[i]
		label := fmt.Sprintf("by%d", n)
		a.line("SUBS $%d, R9, R9", n)
		a.line("BLT %sdone", label)
		a.label(label)
		a.line("%s.P %d(R11), F0", move, 4*n)
		a.line("%s (R12), F1", move)
		a.line("%s (R13), F2", move)
		a.line("ADD R%d, R12, R12", 20+2*i)
		a.line("ADD R%d, R13, R13", 21+2*i)
		a.three("FADD", 0, 1, 0)
		a.three("FADD", 0, 0, 2)
		a.three("FMAX", 0, 0, low)
		a.line("%s.P F0, %d(R10)", move, 4*n)
		a.line("SUBS $%d, R9, R9", n)
		a.line("BGE %s", label)
		a.label(label + "done")
		a.line("ADD $%d, R9, R9", n)
	}
	a.line("ADD R3, R2, R2")
	a.line("ADD R5, R4, R4")
	a.line("SUBS $1, R0, R0")
	a.line("BNE row")
	a.line("RET")
}
