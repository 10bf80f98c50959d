package main

import (
	"fmt"
	"strings"
)

// vector generates the elementwise functions, reductions and functions of rows. All process a positive multiple of four elements.
func vector(o *output) {
	unary := func(name string, body func(p *program, x reg) reg) {
		elementwise(o, name, 1, 0, func(p *program, x []reg, _ []reg) reg { return body(p, x[0]) })
	}
	binary := func(name string, body func(p *program, a, b reg) reg) {
		elementwise(o, name, 2, 0, func(p *program, x []reg, _ []reg) reg { return body(p, x[0], x[1]) })
	}
	direct := func(op string) func(p *program, a, b reg) reg {
		return func(p *program, a, b reg) reg { return p.op(op, a, b) }
	}
	truth := func(op string) func(p *program, a, b reg) reg {
		return func(p *program, a, b reg) reg { return p.op("AND", p.op(op, a, b), p.c(1)) }
	}
	unary("abs", func(p *program, x reg) reg { return p.op("FABS", x) })
	unary("sqrt", func(p *program, x reg) reg { return p.op("FSQRT", x) })
	unary("relu", func(p *program, x reg) reg { return p.op("FMAX", x, p.zero()) })
	unary("exp", (*program).exp)
	unary("sigmoid", (*program).sigmoid)
	unary("tanh", (*program).tanh)
	unary("gelu", (*program).gelu)
	binary("add", direct("FADD"))
	binary("sub", direct("FSUB"))
	binary("mul", direct("FMUL"))
	binary("div", direct("FDIV"))
	binary("maximum", direct("FMAX"))
	binary("equal", truth("FCMEQ"))
	binary("greater", truth("FCMGT"))
	binary("reluGradient", func(p *program, dy, y reg) reg { return p.op("AND", dy, p.op("FCMGT", y, p.zero())) })
	binary("geluGradient", (*program).geluGradient)
	binary("biasReLU", func(p *program, a, b reg) reg { return p.op("FMAX", p.add(a, b), p.zero()) })
	elementwise(o, "addScalar", 1, 1, func(p *program, x, s []reg) reg { return p.add(x[0], s[0]) })
	elementwise(o, "mulScalar", 1, 1, func(p *program, x, s []reg) reg { return p.mul(x[0], s[0]) })
	elementwise(o, "weigh", 2, 2, func(p *program, x, s []reg) reg { return p.mul(p.mul(p.add(x[0], s[0]), x[1]), s[1]) })
	foldings(o)
	expSum(o)
	sum(o)
	largest(o)
	divideBytes(o)
	rows(o)
}

var inputs = []string{"a", "b", "c"}

// multiple is how the functions are called.
const multiple = "for a positive multiple of four elements."

// elementwise generates a function of some inputs and up to two numbers.
func elementwise(o *output, name string, in, numbers int, body func(p *program, x, s []reg) reg) {
	parameters := "n int, " + strings.Join(append([]string{"d"}, inputs[:in]...), ", ") + " *float32"
	scalars := []string{"s", "t"}[:numbers]
	if numbers > 0 {
		parameters += ", " + strings.Join(scalars, ", ") + " float32"
	}
	a := o.declare(name+"NEON", parameters, " is "+name+"Generic "+multiple)
	var x, s []reg
	for i := range in {
		x = append(x, a.next(2+i))
	}
	for _, name := range scalars {
		s = append(s, a.numbers[name])
	}
	a.store(body(a.program, x, s), 1)
	a.loop()
	a.line("RET")
}

// foldings generates the folded updates of optimizers. Each op rounds as it does on its own.
func foldings(o *output) {
	// scalars loads four scalars, which follow a number of bytes after an address, into all elements of registers.
	scalars := func(p *program, pointer, at int) (s []reg) {
		for i := range 4 {
			s = append(s, p.kept(fmt.Sprintf("%d(R%d)", at+4*i, pointer)))
		}
		return s
	}
	one := func(name string, in int, body func(p *program, x, s []reg) reg) {
		a := o.declare(name+"NEON", "n int, d, "+strings.Join(inputs[:in], ", ")+", s *float32", " is "+name+"Generic "+multiple)
		s := scalars(a.program, 2+in, 0)
		var x []reg
		for i := range in {
			x = append(x, a.next(2+i))
		}
		a.store(body(a.program, x, s), 1)
		a.loop()
		a.line("RET")
	}
	plusTwo := func(p *program, x reg, s []reg) reg { return p.add(p.add(x, s[2]), s[3]) }
	blend := func(p *program, x, s []reg) reg {
		return plusTwo(p, p.add(p.mul(x[0], s[0]), p.mul(x[1], s[1])), s)
	}
	blendSquare := func(p *program, x, s []reg) reg {
		return plusTwo(p, p.add(p.mul(x[0], s[0]), p.mul(p.mul(x[1], x[1]), s[1])), s)
	}
	rootStep := func(p *program, x, s []reg) reg {
		root := p.add(p.op("FSQRT", p.mul(x[2], s[2])), s[3])
		return p.sub(x[0], p.div(p.mul(p.mul(x[1], s[0]), s[1]), root))
	}
	one("blend", 2, blend)
	one("blendSquare", 2, blendSquare)
	one("rootStep", 3, rootStep)

	// momentStep keeps what the last one reads of the others in registers.
	a := o.declare("momentStepNEON", "n int, dm, dv, dp, m, slope, v, p, s *float32",
		" is blend, blendSquare and rootStep, whose scalars follow each other, "+multiple)
	p := a.program
	var s [3][]reg
	for i := range s {
		s[i] = scalars(p, 8, 16*i)
	}
	m, slope, v, x := p.next(4), p.next(5), p.next(6), p.next(7)
	m, v = blend(p, []reg{m, slope}, s[0]), blendSquare(p, []reg{v, slope}, s[1])
	p.store(m, 1)
	p.store(v, 2)
	p.store(rootStep(p, []reg{x, m, v}, s[2]), 3)
	p.loop()
	p.line("RET")
}

// sumTo writes the sum of a register's elements to an address.
func (p *program) sumTo(to string, r reg) {
	v := p.number(r)
	p.three("FADDP", 0, v, v)
	p.three("FADDP", 0, 0, 0)
	p.line("FMOVS F0, %s", to)
}

func expSum(o *output) {
	a := o.declare("expSumNEON", "n int, d, a *float32, scale, shift float32", " is expSumGeneric "+multiple, "float32")
	total := a.clear(1)[0]
	y := a.exp(a.add(a.mul(a.next(2), a.numbers["scale"]), a.numbers["shift"]))
	a.into("FADD", total, total, y)
	a.store(y, 1)
	a.loop()
	a.sumTo(a.result("ret"), total)
	a.line("RET")
}

// unrolled is the number of vectors that reductions add at once: one sum would wait for the latency of each addition.
const unrolled = 4

// sum adds in float64.
func sum(o *output) {
	p := o.declare("sumNEON", "n int, a *float32", " is sumGeneric "+multiple, "float64")
	sums := p.clear(2 * unrolled)
	p.loops(unrolled, func(i int) {
		x := p.next(1)
		p.into("FADD.D", sums[2*i], sums[2*i], p.op("FCVTL", x))
		p.into("FADD.D", sums[2*i+1], sums[2*i+1], p.op("FCVTL2", x))
	})
	total := p.number(p.fold("FADD.D", sums))
	p.three("FADDP.D", 0, total, total)
	p.line("FMOVD F0, %s", p.result("ret"))
	p.line("RET")
}

func largest(o *output) {
	p := o.declare("largestNEON", "n int, a *float32", " is largestGeneric "+multiple, "float32")
	p.line("MOVW $0xff800000, R2") // -Inf
	var tops []reg
	for range unrolled {
		r := p.keep()
		p.line("VDUP R2, V%d.S4", p.number(r))
		tops = append(tops, r)
	}
	p.loops(unrolled, func(i int) { p.into("FMAXNM", tops[i], tops[i], p.next(1)) })
	p.two("FMAXNMV", 0, p.number(p.fold("FMAXNM", tops)))
	p.line("FMOVS F0, %s", p.result("ret"))
	p.line("RET")
}

func divideBytes(o *output) {
	o.declare("divideBytesNEON", "n int, d *float32, a *uint8, by float32", " is divideBytesGeneric for a positive multiple of eight bytes.") // by is V31
	o.label("more")
	o.line("FMOVD.P 8(R2), F0")
	o.two("UXTL.8", 0, 0)
	o.two("UXTL.16", 1, 0)
	o.two("UXTL2.16", 2, 0)
	for v := 1; v <= 2; v++ {
		o.two("UCVTF", v, v)
		o.three("FDIV", v, v, 31)
		o.line("FMOVQ.P F%d, 16(R1)", v)
	}
	o.line("SUBS $8, R0, R0")
	o.line("BGT more")
	o.line("RET")
}
