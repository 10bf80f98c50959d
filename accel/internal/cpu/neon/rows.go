package main

// rows generates the functions of norms, dot products and sums of rows, for a positive multiple of four elements.
func rows(o *output) {
	const doc = " for a positive multiple of four elements."
	p := o.program()
	s := p.begin("squares", " is squaresGeneric"+doc, []string{"x"}, []string{"shift"}, " float32", 8) // aligned
	total := p.cleared()
	x := p.add(p.next(1), s[0])
	p.into("FMLA", total, x, x)
	p.loop()
	p.lanesSum(total)
	p.line("FMOVS F0, ret+24(FP)") // aligned to eight bytes
	p.line("RET")

	p = o.program()
	s = p.begin("normalize", " is normalizeGeneric"+doc, []string{"y", "x", "w", "b"}, []string{"shift", "scale"}, "", 0)
	x = p.mul(p.add(p.next(2), s[0]), s[1])
	p.store(p.fma(x, p.next(3), p.next(4)), 1)
	p.loop()
	p.line("RET")

	p = o.program()
	s = p.begin("slopes", " is slopesGeneric"+doc, []string{"x", "dy", "w"}, []string{"shift"}, " (sum, dot float32)", 12)
	total, dot := p.cleared(), p.cleared()
	x = p.add(p.next(1), s[0])
	g := p.mul(p.next(2), p.next(3))
	p.into("FADD", total, total, g)
	p.into("FMLA", dot, g, x)
	p.loop()
	p.lanesSum(total)
	p.line("FMOVS F0, sum+40(FP)")
	p.lanesSum(dot)
	p.line("FMOVS F0, dot+44(FP)")
	p.line("RET")

	p = o.program()
	s = p.begin("normGradient", " is normGradientGeneric"+doc, []string{"dx", "x", "dy", "w"}, []string{"shift", "slope", "mean", "scale"}, "", 0)
	x = p.add(p.next(2), s[0])
	g = p.sub(p.mul(p.next(3), p.next(4)), s[2])
	p.store(p.mul(p.fnma(x, s[1], g), s[3]), 1)
	p.loop()
	p.line("RET")

	p = o.program()
	s = p.begin("normWeights", " is normWeightsGeneric"+doc, []string{"dw", "db", "x", "dy"}, []string{"shift", "scale"}, "", 0)
	x = p.mul(p.add(p.next(3), s[0]), s[1])
	g = p.next(4)
	dw, db := p.load("(R1)"), p.load("(R2)")
	p.store(p.fma(g, x, dw), 1)
	p.store(p.add(db, g), 2)
	p.loop()
	p.line("RET")
	dots(o)
	addProducts(o)
	addRow(o)
}

// dots generates four dot products.
func dots(o *output) {
	p := o.program()
	p.function("dotsNEON", "func(n, pitch int, x, w, sums *float32)", " is dotsGeneric for a positive multiple of four elements.", 40)
	fourRows(p)
	var sums []reg
	for range 4 {
		sums = append(sums, p.cleared())
	}
	x := p.next(1)
	for i, sum := range sums {
		p.into("FMLA", sum, x, p.next(2+i))
	}
	p.loop()
	p.line("MOVD sums+32(FP), R6")
	for i, sum := range sums {
		p.lanesSum(sum)
		p.line("FMOVS F0, %d(R6)", 4*i)
	}
	p.line("RET")
}

// addProducts generates the sum of four rows with factors.
func addProducts(o *output) {
	p := o.program()
	p.function("addProductsNEON", "func(n, pitch int, x, w, c *float32)", " is addProductsGeneric for a positive multiple of four elements.", 40)
	fourRows(p)
	p.line("MOVD c+32(FP), R6")
	var factors []reg
	for i := range 4 {
		r := p.keep()
		p.line("FMOVS %d(R1), F%d", 4*i, p.number(r))
		p.line("VDUP V%d.S[0], V%d.S4", p.number(r), p.number(r))
		factors = append(factors, r)
	}
	c := p.load("(R6)")
	for i, factor := range factors {
		c = p.fma(factor, p.next(2+i), c)
	}
	p.store(c, 6)
	p.loop()
	p.line("RET")
}

// fourRows loads n, x, and the addresses of four rows of w in R2 to R5.
func fourRows(p *program) {
	p.line("MOVD n+0(FP), R0")
	p.line("MOVD pitch+8(FP), R7")
	p.line("MOVD x+16(FP), R1")
	p.line("MOVD w+24(FP), R2")
	p.line("LSL $2, R7, R7")
	for i := 3; i <= 5; i++ {
		p.line("ADD R7, R%d, R%d", i-1, i)
	}
}

// addRow generates the sum of a row in float64.
func addRow(o *output) {
	p := o.program()
	p.function("addRowNEON", "func(n int, d *float64, x *float32)", " is d += x for a positive multiple of four elements.", 24)
	p.line("MOVD n+0(FP), R0")
	p.line("MOVD d+8(FP), R1")
	p.line("MOVD x+16(FP), R2")
	x := p.next(2)
	low, high := p.load("(R1)"), p.load("16(R1)")
	p.store(p.op("FADD.D", low, p.op("FCVTL", x)), 1)
	p.store(p.op("FADD.D", high, p.op("FCVTL2", x)), 1)
	p.loop()
	p.line("RET")
}
