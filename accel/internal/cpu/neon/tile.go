package main

import "fmt"

// The highest and the widest tile: 24 accumulators, 3 vectors of b and 2 of a are 29 of 32 registers.
const (
	highest = 8
	widest  = 3
	lanes   = 4
)

// Registers of a tile, after the accumulators.
const (
	columnsOfB = 24
	rowsOfA    = 27
	spare      = 29
)

// Bits of a tile's mode, as in package cpu.
const (
	addResult = 0 // bit number
	clampZero = 1
)

func gemm(o *output) {
	for mr := 1; mr <= highest; mr++ {
		for nv := 1; nv <= widest; nv++ {
			tile(o, mr, nv)
		}
	}
	interleave(o)
	copyRows(o)
	storeEdge(o)
	peak(o)
}

// tile generates c (+)= a·b as the tiles for amd64 do, see there. If a's rows are next to each other, as in packed panels, it loads
// vectors of a, else element by element.
func tile(o *output, mr, nv int) {
	name := fmt.Sprintf("tile%dx%dNEON", mr, nv*lanes)
	o.function(name, "func(k int, a *float32, row, step int, b *float32, next int, c *float32, ldc, mode int, bias, ahead *float32, stride, count, nextA, nextC, nextAhead int)",
		fmt.Sprintf(" is genericTile for %d rows and %d columns.", mr, nv*lanes), 128)
	o.tabled("tile", "NEON", mr, name)
	o.label("tile")
	for i, name := range []string{"k", "a", "row", "step", "b", "next", "c", "ldc"} {
		o.line("MOVD %s+%d(FP), R%d", name, 8*i, i)
	}
	o.line("MOVD ahead+80(FP), R8")
	o.line("MOVD stride+88(FP), R9")
	o.line("LSL $2, R3, R3")
	o.line("LSL $2, R5, R5")
	o.line("LSL $2, R7, R7")
	o.line("LSL $2, R9, R9")
	o.line("MOVD R6, R10")
	for i := range mr {
		o.line("PRFM (R10), PLDL1KEEP")
		if i < mr-1 {
			o.line("ADD R7, R10, R10")
		}
	}
	o.zeros(0, mr*nv)
	o.line("CBZ R0, done")
	if mr > 1 {
		o.line("CMP $1, R2")
		o.line("BNE rows")
	}
	o.label("one")
	loadColumns(o, nv)
	loadRows(o, mr)
	o.line("ADD R3, R1, R1")
	multiply(o, mr, nv)
	o.line("SUBS $1, R0, R0")
	o.line("BNE one")
	if mr > 1 {
		o.line("B done")
		o.label("rows")
		o.line("LSL $2, R2, R2")
		o.line("MOVD R1, R10")
		for i := 1; i < mr; i++ {
			o.line("ADD R2, R%d, R%d", 9+i, 10+i)
		}
		o.label("each")
		loadColumns(o, nv)
		for i := range mr {
			o.line("VLD1 (R%d), V%d.S[%d]", 10+i, rowsOfA+i/lanes, i%lanes)
			o.line("ADD R3, R%d, R%d", 10+i, 10+i)
		}
		multiply(o, mr, nv)
		o.line("SUBS $1, R0, R0")
		o.line("BNE each")
	}
	o.label("done")
	finish(o, mr, nv)
}

func loadColumns(o *output, nv int) {
	if nv >= 2 {
		o.line("FLDPQ (R4), (F%d, F%d)", columnsOfB, columnsOfB+1)
	}
	if nv != 2 {
		o.line("FMOVQ %d(R4), F%d", 16*(nv-1), columnsOfB+nv-1)
	}
	o.line("PRFM (R8), PLDL2KEEP")
	o.line("ADD R5, R4, R4")
	o.line("ADD R9, R8, R8")
}

// loadRows loads neighboring rows, and nothing after them.
func loadRows(o *output, mr int) {
	at, v := 0, rowsOfA
	for ; mr-at >= lanes; at += lanes {
		o.line("FMOVQ %d(R1), F%d", 4*at, v)
		v++
	}
	switch mr - at {
	case 1:
		o.line("FMOVS %d(R1), F%d", 4*at, v)
	case 2:
		o.line("FMOVD %d(R1), F%d", 4*at, v)
	case 3:
		o.line("FMOVD %d(R1), F%d", 4*at, v)
		o.line("ADD $%d, R1, R10", 4*at+8)
		o.line("VLD1 (R10), V%d.S[2]", v)
	}
}

// multiply adds one step of the depth.
func multiply(o *output, mr, nv int) {
	for i := range mr {
		for v := range nv {
			d, n, m := i*nv+v, columnsOfB+v, rowsOfA+i/lanes
			o.line("WORD $0x%08x // FMLA V%d.S4, V%d.S4, V%d.S[%d]", fmlaBy(d, n, m, i%lanes), d, n, m, i%lanes)
		}
	}
}

// finish adds to the result or replaces it, with bias and ReLU.
func finish(o *output, mr, nv int) {
	o.line("MOVD mode+64(FP), R0")
	o.line("MOVD bias+72(FP), R1")
	o.line("TBZ $%d, R0, bias", addResult)
	o.line("MOVD R6, R10")
	for i := range mr {
		for v := range nv {
			o.line("FMOVQ %d(R10), F%d", 16*v, spare+v)
		}
		for v := range nv {
			o.three("FADD", i*nv+v, spare+v, i*nv+v)
		}
		o.line("ADD R7, R10, R10")
	}
	o.label("bias")
	o.line("CBZ R1, clamp")
	for v := range nv {
		o.line("FMOVQ %d(R1), F%d", 16*v, spare+v)
	}
	for i := range mr * nv {
		o.three("FADD", i, i, spare+i%nv)
	}
	o.label("clamp")
	o.line("TBZ $%d, R0, store", clampZero)
	o.zeros(spare, 1)
	for i := range mr * nv {
		o.three("FMAX", i, i, spare)
	}
	o.label("store")
	for i := range mr {
		for v := range nv {
			o.line("FMOVQ F%d, %d(R6)", i*nv+v, 16*v)
		}
		o.line("ADD R7, R6, R6")
	}
	o.line("MOVD count+96(FP), R0")
	o.line("SUBS $1, R0, R0")
	o.line("BEQ last")
	o.line("MOVD R0, count+96(FP)")
	for _, p := range []struct{ pointer, next string }{{"a+8", "nextA+104"}, {"c+48", "nextC+112"}, {"ahead+80", "nextAhead+120"}} {
		o.line("MOVD %s(FP), R0", p.pointer)
		o.line("MOVD %s(FP), R1", p.next)
		o.line("ADD R1<<2, R0, R0")
		o.line("MOVD R0, %s(FP)", p.pointer)
	}
	o.line("B tile")
	o.label("last")
	o.line("RET")
}

// interleave generates the transposition of 4 rows of a depth that is a multiple of 4.
func interleave(o *output) {
	o.declare("interleave4", "dst, src *float32, row, k, w int", " writes dst[p*w+i] = src[i*row+p] for i < 4 and p < k, a multiple of 4.").bytes("row", "w")
	o.line("CBZ R3, done")
	o.line("MOVD R1, R10")
	for i := 1; i < 4; i++ {
		o.line("ADD R2, R%d, R%d", 9+i, 10+i)
	}
	o.label("block")
	for i := range 4 {
		o.line("FMOVQ.P 16(R%d), F%d", 10+i, i)
	}
	transpose(o)
	for p := range 4 {
		o.line("FMOVQ F%d, (R0)", 16+p)
		o.line("ADD R4, R0, R0")
	}
	o.line("SUBS $4, R3, R3")
	o.line("BNE block")
	o.label("done")
	o.line("RET")
}

// transpose writes the columns of V0 to V3 to V16 to V19.
func transpose(o *output) {
	for i := 0; i < 4; i += 2 { // 2×2 blocks transposed
		o.line("VTRN1 V%d.S4, V%d.S4, V%d.S4", i+1, i, 4+i)
		o.line("VTRN2 V%d.S4, V%d.S4, V%d.S4", i+1, i, 5+i)
	}
	for i := range 2 {
		o.line("VTRN1 V%d.D2, V%d.D2, V%d.D2", 6+i, 4+i, 16+i)
		o.line("VTRN2 V%d.D2, V%d.D2, V%d.D2", 6+i, 4+i, 18+i)
	}
}

// copyRows generates the copy of rows of at least four elements, four at a time; the last four may overlap the previous ones.
func copyRows(o *output) {
	o.declare("copyRows", "dst, src *float32, k, q, w, col int", " writes dst[p*w+i] = src[p*col+i] for i < q, at least 4, and p < k.").bytes("w", "col", "q")
	o.line("SUB $16, R3, R3")
	o.line("CBZ R2, done")
	o.label("row")
	o.line("MOVD R1, R10")
	o.line("MOVD R0, R11")
	o.line("ADD R3, R1, R12")
	o.line("ADD R3, R0, R13")
	o.line("B more")
	o.label("four")
	o.line("FMOVQ.P 16(R10), F0")
	o.line("FMOVQ.P F0, 16(R11)")
	o.label("more")
	o.line("CMP R12, R10")
	o.line("BLO four")
	o.line("FMOVQ (R12), F0")
	o.line("FMOVQ F0, (R13)")
	o.line("ADD R5, R1, R1")
	o.line("ADD R4, R0, R0")
	o.line("SUBS $1, R2, R2")
	o.line("BNE row")
	o.label("done")
	o.line("RET")
}

// peak generates a loop of 24 independent multiply-adds of four lanes.
func peak(o *output) {
	o.declare("fmaNEON", "n int", " runs 24 fused multiply-adds of four lanes n times.")
	o.zeros(0, 32)
	o.label("more")
	for i := range 24 {
		o.line("WORD $0x%08x // FMLA V%d.S4, V30.S4, V31.S[0]", fmlaBy(i, 30, 31, 0), i)
	}
	o.line("SUBS $1, R0, R0")
	o.line("BNE more")
	o.line("RET")
}
