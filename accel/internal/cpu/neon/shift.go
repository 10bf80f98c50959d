package main

import "fmt"

// shifts generates the functions of convolutions, whose right-hand side is rows of an image at offsets.
func shifts(o *output) {
	shiftTile(o, highest, widest)
	shiftTile(o, 1, 8)
	shiftDots(o, highest)
	shiftDots(o, 1)
	elementwise(o, "biasRow", 1, 2, func(p *program, x, s []reg) reg { return p.op("FMAX", p.add(x[0], s[0]), s[1]) })
}

// shiftTile generates c (+)= a·b for a packed panel a. A tile of one row is wider: its accumulators must hide the latency.
func shiftTile(o *output, mr, nv int) {
	o.declare(fmt.Sprintf("shiftTile%dx%dNEON", mr, nv*lanes), "k int, a, b *float32, offsets *int, c *float32, ldc, add int",
		fmt.Sprintf(" is shiftTileGeneric for %d rows and %d columns.", mr, nv*lanes)).bytes("ldc")
	o.zeros(0, mr*nv)
	first := min(columnsOfB, 29-nv) // the last of b and both of a are below V30
	a := first + nv
	o.line("CBZ R0, done")
	o.label("one")
	o.line("MOVD.P 8(R3), R10")
	o.line("ADD R10<<2, R2, R10")
	for v := range nv {
		o.line("FMOVQ %d(R10), F%d", 16*v, first+v)
	}
	for i := 0; i < mr; i += lanes {
		if mr == 1 {
			o.line("FMOVS (R1), F%d", a)
		} else {
			o.line("FMOVQ %d(R1), F%d", 4*i, a+i/lanes)
		}
	}
	o.line("ADD $%d, R1, R1", 4*mr)
	for i := range mr {
		for v := range nv {
			d, n, m := i*nv+v, first+v, a+i/lanes
			o.line("WORD $0x%08x // FMLA V%d.S4, V%d.S4, V%d.S[%d]", fmlaBy(d, n, m, i%lanes), d, n, m, i%lanes)
		}
	}
	o.line("SUBS $1, R0, R0")
	o.line("BNE one")
	o.label("done")
	o.line("CBZ R6, store")
	o.line("MOVD R4, R10")
	for i := range mr {
		for v := range nv {
			o.line("FMOVQ %d(R10), F31", 16*v)
			o.three("FADD", i*nv+v, 31, i*nv+v)
		}
		o.line("ADD R5, R10, R10")
	}
	o.label("store")
	for i := range mr {
		for v := range nv {
			o.line("FMOVQ F%d, %d(R4)", i*nv+v, 16*v)
		}
		o.line("ADD R5, R4, R4")
	}
	o.line("RET")
}

// shiftDots generates the dot products of rows of a with three rows of b.
func shiftDots(o *output, mr int) {
	o.declare(fmt.Sprintf("shiftDots%dx3NEON", mr), "n int, a *float32, lda int, b *float32, offsets *int, c *float32, ldc int",
		fmt.Sprintf(" is shiftDotsGeneric for %d rows and a positive n.", mr)).bytes("lda", "ldc")
	o.zeros(0, 3*mr)
	for j := range 3 {
		o.line("MOVD %d(R4), R7", 8*j)
		o.line("ADD R7<<2, R3, R%d", 20+j)
	}
	o.line("MOVD R1, R8")
	for i := 1; i < mr; i++ {
		o.line("ADD R2, R%d, R%d", 7+i, 8+i)
	}
	o.label("more")
	for j := range 3 {
		o.line("FMOVQ.P 16(R%d), F%d", 20+j, columnsOfB+j)
	}
	for i := range mr {
		a := rowsOfA + i%4
		o.line("FMOVQ.P 16(R%d), F%d", 8+i, a)
		for j := range 3 {
			o.three("FMLA", 3*i+j, a, columnsOfB+j)
		}
	}
	o.line("SUBS $%d, R0, R0", lanes)
	o.line("BGT more")
	for i := range mr {
		for j := range 3 {
			v := 3*i + j
			o.three("FADDP", v, v, v)
			o.three("FADDP", v, v, v)
			o.line("FMOVS %d(R5), F31", 4*j)
			o.three("FADD", v, v, 31)
			o.line("FMOVS F%d, %d(R5)", v, 4*j)
		}
		o.line("ADD R6, R5, R5")
	}
	o.line("RET")
}
