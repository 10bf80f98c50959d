package main

import "fmt"

// tallest is the number of rows of a tile of interleaved channels: ten rows of two vectors, the vectors of ten rows and two of b are
// 32 registers, and five multiply-adds per load hide the latency of four cycles on four units.
const tallest = 10

// blockTile generates a tile of a product whose left-hand side has interleaved channels: row i is vector i of a block, and blocks are
// apart. A vector of a row has its elements of four steps of the depth.
func blockTile(o *output, mr, nv int) {
	name := fmt.Sprintf("blockTile%dx%dNEON", mr, nv)
	o.tabled("blockTile", "NEON", mr, name)
	a := o.declare(name, "k int, a *float32, apart int, b, c *float32, next, add int",
		fmt.Sprintf(" is blockTileGeneric for %d rows and %d vectors of four elements.", mr, nv))
	a.bytes("apart", "next")
	rows, columns := mr*nv, mr*nv+mr
	o.zeros(0, mr*nv)
	o.label("block")
	for i := 0; i < mr; i += 2 {
		if i+1 < mr {
			o.line("FLDPQ %d(R1), (F%d, F%d)", 16*i, rows+i, rows+i+1)
		} else {
			o.line("FMOVQ %d(R1), F%d", 16*i, rows+i)
		}
	}
	o.line("ADD R2, R1, R1")
	for i := 0; i < mr; i += 4 { // the vectors of the next block
		o.line("PRFM %d(R1), PLDL1KEEP", 16*i)
	}
	for p := range lanes {
		if nv == 2 {
			o.line("FLDPQ %d(R3), (F%d, F%d)", 32*p, columns, columns+1)
		} else {
			o.line("FMOVQ %d(R3), F%d", 16*p, columns)
		}
		for i := range mr {
			for v := range nv {
				d, n, m := i*nv+v, columns+v, rows+i
				o.line("WORD $0x%08x // FMLA V%d.S4, V%d.S4, V%d.S[%d]", fmlaBy(d, n, m, p), d, n, m, p)
			}
		}
	}
	o.line("ADD $%d, R3, R3", 16*lanes*nv)
	o.line("SUBS $1, R0, R0")
	o.line("BNE block")
	o.line("ADD R4, R5, R10") // the second vectors of c
	o.line("CBZ R6, store")
	for i := range mr * nv {
		o.line("FMOVQ %d(R%d), F31", 16*(i/nv), 4+i%nv*6)
		o.three("FADD", i, i, 31)
	}
	o.label("store")
	for i := range mr * nv {
		o.line("FMOVQ F%d, %d(R%d)", i, 16*(i/nv), 4+i%nv*6)
	}
	o.line("RET")
}

// sumTile generates a tile of a product of two sides with interleaved channels, two rows by some vectors, summed over the vectors: four
// sums of each element hide the latency.
func sumTile(o *output, nv int) {
	const mr, unroll = lanes / 2, 4
	a := o.declare(fmt.Sprintf("sumTile%dx%dNEON", mr, nv), "k int, a, b *float32, next int, c *float32, ldc, add int",
		fmt.Sprintf(" is sumTileGeneric for %d rows and %d vectors of four elements.", mr, nv))
	a.bytes("next", "ldc")
	all := mr * nv
	o.zeros(0, all*unroll)
	o.line("ADD R3, R2, R10") // the second vectors of b
	step := func(u int) {
		row, column := 16+3*u, 17+3*u
		o.line("FMOVD %d(R1), F%d", 16*u, row)
		for v := range nv {
			o.line("FMOVQ %d(R%d), F%d", 16*u, 2+8*v, column+v)
		}
		for i := range mr {
			for v := range nv {
				d, n := u*all+i*nv+v, column+v
				o.line("WORD $0x%08x // FMLA V%d.S4, V%d.S4, V%d.S[%d]", fmlaBy(d, n, row, i), d, n, row, i)
			}
		}
	}
	steps := func(vectors int) {
		for u := range vectors {
			step(u)
		}
		o.line("ADD $%d, R1, R1", 16*vectors)
		o.line("ADD $%d, R2, R2", 16*vectors)
		if nv > 1 {
			o.line("ADD $%d, R10, R10", 16*vectors)
		}
	}
	o.blocks(unroll, 1, func() { steps(unroll) }, func() { steps(1) })
	for n := unroll / 2; n > 0; n /= 2 {
		for i := range n * all {
			o.three("FADD", i, i, i+n*all)
		}
	}
	for i := range mr {
		if i > 0 {
			o.line("ADD R5, R4, R4")
		}
		o.line("CBZ R6, store%d", i)
		for v := range nv {
			o.line("FMOVQ %d(R4), F31", 16*v)
			o.three("FADD", i*nv+v, i*nv+v, 31)
		}
		o.label(fmt.Sprintf("store%d", i))
		for v := range nv {
			o.line("FMOVQ F%d, %d(R4)", i*nv+v, 16*v)
		}
	}
	o.line("RET")
}

// turn generates the interleaving of four rows, each column of which becomes a vector at an offset from a table, and its inverse.
func turn(o *output) {
	rows := func(a *arguments, base string) {
		a.bytes("row")
		a.line("MOVD %s, R10", a.r(base))
		for i := 1; i < lanes; i++ {
			a.line("ADD %s, R%d, R%d", a.r("row"), 9+i, 10+i)
		}
	}
	at := func(a *arguments, base string, j int) {
		o.line("MOVD.P 8(%s), R9", a.r("offsets"))
		o.line("ADD R9<<2, %s, R%d", a.r(base), 20+j)
	}

	a := o.declare("interleaveNEON", "n int, dst, src *float32, row int, offsets *int", " is interleaveGeneric for vectors of four elements.")
	rows(a, "src")
	o.blocks(lanes, 1, func() {
		for i := range lanes {
			o.line("FMOVQ.P 16(R%d), F%d", 10+i, i)
		}
		transpose(o)
		for j := range lanes {
			at(a, "dst", j)
			o.line("FMOVQ F%d, (R%d)", 16+j, 20+j)
		}
	}, func() {
		o.line("FMOVS.P 4(R10), F0")
		for i := 1; i < lanes; i++ {
			o.line("VLD1.P 4(R%d), V0.S[%d]", 10+i, i)
		}
		at(a, "dst", 0)
		o.line("FMOVQ F0, (R20)")
	})
	o.line("RET")

	a = o.declare("deinterleaveNEON", "n int, dst *float32, row int, src *float32, offsets *int", " is deinterleaveGeneric for vectors of four elements.")
	rows(a, "dst")
	o.blocks(lanes, 1, func() {
		for j := range lanes {
			at(a, "src", j)
			o.line("FMOVQ (R%d), F%d", 20+j, j)
		}
		transpose(o)
		for i := range lanes {
			o.line("FMOVQ.P F%d, 16(R%d)", 16+i, 10+i)
		}
	}, func() {
		at(a, "src", 0)
		o.line("FMOVQ (R20), F0")
		for i := range lanes {
			o.line("VST1.P V0.S[%d], 4(R%d)", i, 10+i)
		}
	})
	o.line("RET")
}
