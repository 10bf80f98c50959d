package main

import "fmt"

// rows generates the functions of norms, dot products and sums of rows, for a positive multiple of four elements.
func rows(o *output) {
	p := o.declare("squaresNEON", "n int, x *float32, shift float32", " is squaresGeneric "+multiple, "float32")
	totals := p.clear(unrolled)
	p.loops(unrolled, func(i int) {
		x := p.add(p.next(1), p.numbers["shift"])
		p.into("FMLA", totals[i], x, x)
	})
	p.sumTo(p.result("ret"), p.fold("FADD", totals))
	p.line("RET")

	p = o.declare("normalizeNEON", "n int, y, x, w, b *float32, shift, scale float32", " is normalizeGeneric "+multiple)
	x := p.mul(p.add(p.next(2), p.numbers["shift"]), p.numbers["scale"])
	p.store(p.fma(x, p.next(3), p.next(4)), 1)
	p.loop()
	p.line("RET")

	p = o.declare("slopesNEON", "n int, x, dy, w *float32, shift float32", " is slopesGeneric "+multiple, "sum, dot float32")
	totals, products := p.clear(unrolled), p.clear(unrolled)
	p.loops(unrolled, func(i int) {
		x := p.add(p.next(1), p.numbers["shift"])
		g := p.mul(p.next(2), p.next(3))
		p.into("FADD", totals[i], totals[i], g)
		p.into("FMLA", products[i], g, x)
	})
	p.sumTo(p.result("sum"), p.fold("FADD", totals))
	p.sumTo(p.result("dot"), p.fold("FADD", products))
	p.line("RET")

	p = o.declare("normGradientNEON", "n int, dx, x, dy, w *float32, shift, slope, mean, scale float32", " is normGradientGeneric "+multiple)
	x = p.add(p.next(2), p.numbers["shift"])
	g := p.sub(p.mul(p.next(3), p.next(4)), p.numbers["mean"])
	p.store(p.mul(p.fnma(x, p.numbers["slope"], g), p.numbers["scale"]), 1)
	p.loop()
	p.line("RET")

	p = o.declare("normWeightsNEON", "n int, dw, db, x, dy *float32, shift, scale float32", " is normWeightsGeneric "+multiple)
	x = p.mul(p.add(p.next(3), p.numbers["shift"]), p.numbers["scale"])
	g = p.next(4)
	p.line("MOVD R1, R5") // loads do not wait for the addresses of stores
	p.line("MOVD R2, R6")
	dw, db := p.next(5), p.next(6)
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
	p.function("dotsNEON", "func(n, pitch int, x, w, sums *float32)", " is dotsGeneric "+multiple, 40)
	fourRows(p)
	const vectors = 2
	var sums [4][]reg
	for i := range sums {
		sums[i] = p.clear(vectors)
	}
	p.loops(vectors, func(v int) {
		x := p.next(1)
		for i, sum := range sums {
			p.into("FMLA", sum[v], x, p.next(2+i))
		}
	})
	p.line("MOVD sums+32(FP), R6")
	for i, sum := range sums {
		p.sumTo(fmt.Sprintf("%d(R6)", 4*i), p.fold("FADD", sum))
	}
	p.line("RET")
}

// addProducts generates the sum of four rows with factors.
func addProducts(o *output) {
	p := o.program()
	p.function("addProductsNEON", "func(n, pitch int, x, w, c *float32)", " is addProductsGeneric "+multiple, 40)
	fourRows(p)
	p.line("MOVD c+32(FP), R6")
	var factors []reg
	for i := range 4 {
		factors = append(factors, p.kept(fmt.Sprintf("%d(R1)", 4*i)))
	}
	p.line("MOVD R6, R8") // the loads do not wait for the addresses of the stores
	c := p.next(8)
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
	p := o.declare("addRowNEON", "n int, d *float64, x *float32", " is d += x "+multiple)
	p.line("MOVD R1, R3") // the loads do not wait for the addresses of the stores
	x := p.next(2)
	low, high := p.next(3), p.next(3)
	p.store(p.op("FADD.D", low, p.op("FCVTL", x)), 1)
	p.store(p.op("FADD.D", high, p.op("FCVTL2", x)), 1)
	p.loop()
	p.line("RET")
}
