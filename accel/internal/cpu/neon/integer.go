package main

import "fmt"

// integer generates products of bytes and the functions on their results.
func integer(o *output) {
	for _, p := range []byteProduct{{"SUDOT", 4}, {"SDOT", 4}, {"SMLAL", 8}} {
		for mr := 1; mr <= 8; mr++ {
			for nv := 1; nv <= 2; nv++ {
				p.tile(o, mr, nv)
			}
		}
	}
	quantize(o)
	scaledRows(o, "requantize", "q *uint8", 1)
	scaledRows(o, "dequantize", "y *float32", 4)
	dotBytes(o)
	widenBytes(o)
	tapSums(o)
	largestTap(o)
	gatherRuns(o)
}

// byteProduct is an algorithm of multiplication: SUDOT (FEAT_I8MM) multiplies signed by unsigned bytes, four at a time. SDOT
// (FEAT_DotProd) multiplies signed ones: a - 128 takes part, and 128 times the sums of b is added. SMLAL, which every CPU has, multiplies
// 16-bit integers.
type byteProduct struct {
	name string
	all  int // groups of the depth in a vector of a
}

// Registers of a tile of SMLAL, whose element must be of V0 to V15, and of the others.
const (
	shortRows, shortColumns, shortSums = 0, 8, 16
	byteSums, byteExtra, byteColumns   = 0, 16, 18
	byteRows, signs, firstRow          = 20, 31, 10
)

// tile generates c = a·b for rows of a that are row bytes apart and a panel of b: groups of the depth, one column after the other.
func (p byteProduct) tile(o *output, mr, nv int) {
	name := fmt.Sprintf("byteTile%dx%d%s", mr, nv*lanes, p.name)
	o.tabled("byteTile", p.name, mr, name)
	o.declare(name, "k int, a *uint8, row int, b *int8, c *int32, ldc int",
		fmt.Sprintf(" is byteTileGeneric for %d rows and %d columns.", mr, nv*lanes))
	short := p.name == "SMLAL"
	sums, rows, columns, size := byteSums, byteRows, byteColumns, 16*nv
	if short {
		sums, rows, columns, size = shortSums, shortRows, shortColumns, 8*nv
	}
	o.zeros(sums, mr*nv)
	signed := p.name == "SDOT"
	if signed {
		o.line("VMOVI $128, V%d.B16", signs)
		o.zeros(byteExtra, nv)
	}
	o.line("LSL $2, R5, R5")
	o.line("MOVD R1, R%d", firstRow)
	for i := 1; i < mr; i++ {
		o.line("ADD R2, R%d, R%d", firstRow+i-1, firstRow+i)
	}
	step := func(u int) {
		switch {
		case short && nv == 1:
			o.line("FMOVD %d(R3), F%d", size*u, columns)
		case short || nv == 1:
			o.line("FMOVQ %d(R3), F%d", size*u, columns)
		default:
			o.line("FLDPQ %d(R3), (F%d, F%d)", size*u, columns, columns+1)
		}
		if signed {
			for v := range nv {
				o.three("SDOT", byteExtra+v, columns+v, signs)
			}
		}
		for i := range mr {
			for v := range nv {
				d, m := sums+i*nv+v, rows+i
				if short {
					name := []string{"SMLAL", "SMLAL2"}[v]
					o.line("WORD $0x%08x // %s V%d.S4, V%d.H, V%d.H[%d]", byShort(name+".E", d, columns, m, u), name, d, columns, m, u)
				} else {
					o.line("WORD $0x%08x // %s V%d.S4, V%d.B16, V%d.B4[%d]", byElement(p.name+".E", d, columns+v, m, u), p.name, d, columns+v, m, u)
				}
			}
		}
	}
	// steps loads some groups of each row and multiplies them.
	steps := func(n int, load string) {
		for i := range mr {
			o.line(load, firstRow+i, rows+i)
			if signed {
				o.three("EOR", rows+i, rows+i, signs)
			}
		}
		for u := range n {
			step(u)
		}
		o.line("ADD $%d, R3, R3", size*n)
	}
	single := "FMOVS.P 4(R%d), F%d"
	if short {
		single = "VLD1.P 2(R%d), V%d.H[0]"
	}
	o.blocks(p.all, 1, func() { steps(p.all, "FMOVQ.P 16(R%d), F%d") }, func() { steps(1, single) })
	for i := range mr {
		for v := range nv {
			if signed {
				o.three("SUB", sums+i*nv+v, sums+i*nv+v, byteExtra+v)
			}
			o.line("FMOVQ F%d, %d(R4)", sums+i*nv+v, 16*v)
		}
		o.line("ADD R5, R4, R4")
	}
	o.line("RET")
}

// narrow returns the integers of a vector as bytes, which they must fit into, in the lower elements.
func (p *program) narrow(x reg) reg { return p.op("XTN.8", p.op("XTN.16", x)) }

// rounded returns the nearest integers of numbers from low to 255, ties to even.
func (p *program) rounded(x, low reg) reg {
	return p.op("FCVTNS", p.op("FMIN", p.op("FMAX", x, low), p.c(255)))
}

// quantize adds x - x, which is zero, or NaN if x is not finite, to a sum.
func quantize(o *output) {
	p := o.declare("quantizeNEON", "n int, q *uint8, x *float32, factor, zero float32",
		" is quantizeGeneric for a positive multiple of four elements; sum is 0, or NaN where an x is not finite.", "sum float32")
	total := p.clear(1)[0]
	x := p.next(2)
	p.into("FADD", total, total, p.sub(x, x))
	p.emit("FMOVS.P F%d, 4(R1)", p.narrow(p.rounded(p.add(p.mul(x, p.numbers["factor"]), p.numbers["zero"]), p.zero())))
	p.loop()
	p.sumTo(p.result("sum"), total)
	p.line("RET")
}

// scaledRows generates the loop over vectors of columns, and over the rows of each.
func scaledRows(o *output, name, out string, size int) {
	a := o.declare(name+"NEON", "rows, n int, "+out+", pitch int, sums *int32, sumsPitch int, offset *int32, factor, bias *float32, low float32",
		" is "+name+"Generic for a positive multiple of four columns, and at least one row.")
	a.bytes("sumsPitch")
	if size > 1 {
		a.bytes("pitch")
	}
	offset, factor, bias := a.keep(), a.keep(), a.keep()
	a.constants()
	a.label("vector")
	for i, r := range []reg{offset, factor, bias} {
		a.line("FMOVQ.P 16(R%d), F%d", 6+i, a.number(r))
	}
	a.line("MOVD R0, R9")
	a.line("MOVD R2, R10")
	a.line("MOVD R4, R11")
	a.label("row")
	x := a.op("SCVTF", a.op("ADD", a.fetch("FMOVQ (R11), F%d"), offset))
	x = a.add(a.mul(x, factor), bias)
	if size == 1 {
		a.emit("FMOVS F%d, (R10)", a.narrow(a.rounded(x, a.numbers["low"])))
	} else {
		a.emit("FMOVQ F%d, (R10)", a.op("FMAX", x, a.numbers["low"]))
	}
	a.allocated()
	a.line("ADD R5, R11, R11")
	a.line("ADD R3, R10, R10")
	a.line("SUBS $1, R9, R9")
	a.line("BNE row")
	a.line("ADD $%d, R2, R2", lanes*size)
	a.line("ADD $16, R4, R4")
	a.line("SUBS $%d, R1, R1", lanes)
	a.line("BGT vector")
	a.line("RET")
}

// signedFloats loads 16 signed bytes as floats.
func (p *program) signedFloats(pointer int) []reg {
	w := p.next(pointer)
	var list []reg
	for _, half := range []reg{p.op("SXTL.8", w), p.op("SXTL2.8", w)} {
		list = append(list, p.op("SCVTF", p.op("SXTL.16", half)), p.op("SCVTF", p.op("SXTL2.16", half)))
	}
	return list
}

// loop16 is loop for 16 elements at a time.
func (p *program) loop16() {
	p.label("more")
	p.allocated()
	p.line("SUBS $16, R0, R0")
	p.line("BGT more")
}

func dotBytes(o *output) {
	p := o.declare("dotBytesNEON", "n int, x *float32, w *int8", " is dotBytesGeneric for a positive multiple of 16 elements.", "float32")
	sums := p.clear(4)
	for i, w := range p.signedFloats(2) {
		p.into("FMLA", sums[i], w, p.next(1))
	}
	p.loop16()
	for _, s := range [][3]int{{0, 0, 1}, {2, 2, 3}, {0, 0, 2}} {
		p.three("FADD", p.number(sums[s[0]]), p.number(sums[s[1]]), p.number(sums[s[2]]))
	}
	p.sumTo(p.result("ret"), sums[0])
	p.line("RET")
}

func widenBytes(o *output) {
	a := o.declare("widenBytesNEON", "n int, y *float32, w *int8, step float32", " is widenBytesGeneric for a positive multiple of 16 elements.")
	for _, w := range a.signedFloats(2) {
		a.store(a.mul(w, a.numbers["step"]), 1)
	}
	a.loop16()
	a.line("RET")
}

// tapSums loops over channels, eight at a time, and over the taps of each.
func tapSums(o *output) {
	a := o.declare("tapSumsNEON", "taps, n int, sums *int32, x *uint8, offsets *int, w *int32, pitch int", " is tapSumsGeneric; it reads and writes eight channels at once.")
	a.bytes("pitch")
	a.label("vector")
	a.zeros(0, 2)
	a.line("MOVD R0, R9")
	a.line("MOVD R4, R10")
	a.line("MOVD R5, R11")
	a.label("tap")
	a.line("MOVD.P 8(R10), R12")
	a.line("FMOVD (R3)(R12), F2")
	a.line("FLDPQ (R11), (F4, F5)")
	a.two("UXTL.8", 2, 2)
	a.two("UXTL2.16", 3, 2)
	a.two("UXTL.16", 2, 2)
	a.three("MLA", 0, 2, 4)
	a.three("MLA", 1, 3, 5)
	a.line("ADD R6, R11, R11")
	a.line("SUBS $1, R9, R9")
	a.line("BNE tap")
	a.line("FSTPQ.P (F0, F1), 32(R2)")
	a.line("ADD $8, R3, R3")
	a.line("ADD $32, R5, R5")
	a.line("SUBS $8, R1, R1")
	a.line("BGT vector")
	a.line("RET")
}

// largestTap loops over channels, a vector at a time, and over the taps of each.
func largestTap(o *output) {
	a := o.declare("largestTapNEON", "taps, n int, d, x *uint8, offsets *int", " is largestTapGeneric; it reads and writes 16 channels at once.")
	a.label("vector")
	a.line("VEOR V0.B16, V0.B16, V0.B16")
	a.line("MOVD R0, R9")
	a.line("MOVD R4, R10")
	a.label("tap")
	a.line("MOVD.P 8(R10), R12")
	a.indexed("LDR.Q", 1, 3, 12)
	a.three("UMAX", 0, 0, 1)
	a.line("SUBS $1, R9, R9")
	a.line("BNE tap")
	a.line("FMOVQ.P F0, 16(R2)")
	a.line("ADD $16, R3, R3")
	a.line("SUBS $16, R1, R1")
	a.line("BGT vector")
	a.line("RET")
}

// gatherRuns copies 16 bytes at a time. The next run overwrites the bytes written after a run.
func gatherRuns(o *output) {
	a := o.declare("gatherRunsNEON", "count, pieces, n int, dst, x *uint8, offsets *int, step int", " is gatherRunsGeneric, and may write up to 15 bytes behind.")
	a.label("pixel")
	a.line("MOVD R1, R9")
	a.line("MOVD R5, R10")
	a.label("piece")
	a.line("MOVD.P 8(R10), R11")
	a.line("ADD R4, R11, R11")
	a.line("MOVD R3, R12")
	a.line("MOVD R2, R13")
	a.label("chunk")
	a.line("FMOVQ.P 16(R11), F0")
	a.line("FMOVQ.P F0, 16(R12)")
	a.line("SUBS $16, R13, R13")
	a.line("BGT chunk")
	a.line("ADD R2, R3, R3")
	a.line("SUBS $1, R9, R9")
	a.line("BNE piece")
	a.line("ADD R6, R4, R4")
	a.line("SUBS $1, R0, R0")
	a.line("BNE pixel")
	a.line("RET")
}
