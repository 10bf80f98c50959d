package main

import (
	"fmt"
	"math"
)

// winograd generates the functions of convolutions by Winograd's transforms, and those that interleave channels.
func winograd(o *output) {
	turn(o)
	sandwiches(o)
	for mr := 1; mr <= tallest; mr++ {
		for nv := 1; nv <= 2; nv++ {
			blockTile(o, mr, nv)
		}
	}
	for nv := 1; nv <= 2; nv++ {
		sumTile(o, nv)
	}
}

// Interpolation points: 0, ±near, ±far and infinity.
const (
	near  = 0.75
	far   = 1.5
	near2 = near * near
	far2  = far * far
	// Products of a point's distances to the other points.
	nilled   = near2 * far2
	nearest  = 2 * near2 * (near2 - far2)
	farthest = 2 * far2 * (far2 - near2)
)

// factors are constants of a function, four in a register.
type factors struct {
	*program
	at map[float64]factor
}

type factor struct {
	of      reg
	element int
}

// factors loads constants.
func (p *program) factors(list ...float64) *factors {
	f := &factors{p, map[float64]factor{}}
	p.constants()
	for i := 0; i < len(list); i += lanes {
		r := p.keep()
		var bits [lanes]uint32
		for j, c := range list[i:min(i+lanes, len(list))] {
			bits[j] = math.Float32bits(float32(c))
			f.at[c] = factor{r, j}
		}
		p.line("FMOVQ %d(R26), F%d", p.quad(bits), p.number(r))
	}
	return f
}

func (f *factors) find(c float64) factor {
	at, ok := f.at[c]
	if !ok {
		panic(fmt.Sprint("neon: the factor is not loaded: ", c))
	}
	return at
}

// times returns c·x.
func (f *factors) times(c float64, x reg) reg {
	to, at := f.fresh(), f.find(c)
	f.body = append(f.body, instruction{to, []reg{x}, -1, func(to int, from []int) { f.byElement("FMUL.E", to, from[0], at) }})
	return to
}

// plus returns y + c·x.
func (f *factors) plus(y reg, c float64, x reg) reg {
	to, at := f.fresh(), f.find(c)
	f.body = append(f.body, instruction{to, []reg{x, y}, y, func(to int, from []int) { f.byElement("FMLA.E", to, from[0], at) }})
	return to
}

func (f *factors) byElement(name string, to, from int, by factor) {
	m := f.number(by.of)
	f.line("WORD $0x%08x // %s V%d, V%d, V%d[%d]", byElement(name, to, from, m, by.element), name, to, from, m, by.element)
}

// line is a linear map of values, in parts that share their work.
type line struct {
	in      int
	factors []float64
	parts   []part
}

// part computes some of a line's outputs. x reads a value.
type part struct {
	outputs []int
	body    func(f *factors, x func(i int) reg) []reg
}

// both returns sum and difference.
func (f *factors) both(q, r reg) []reg { return []reg{f.add(q, r), f.sub(q, r)} }

// inputLine is Bᵀ. The values of a polynomial at ±p are computed from its even and odd parts.
func inputLine() line {
	end := func(f *factors, x func(int) reg, i int) reg {
		return f.add(x(i+4), f.plus(f.times(near2*far2, x(i)), -near2-far2, x(i+2)))
	}
	at := func(p, other float64) func(f *factors, x func(int) reg) []reg {
		return func(f *factors, x func(int) reg) []reg {
			return f.both(f.plus(x(4), -other*other, x(2)), f.plus(f.times(p, x(3)), -p*other*other, x(1)))
		}
	}
	return line{6, []float64{near2 * far2, -near2 - far2, -far2, -near2, near, -near * far2, far, -far * near2}, []part{
		{[]int{0, 5}, func(f *factors, x func(int) reg) []reg { return []reg{end(f, x, 0), end(f, x, 1)} }},
		{[]int{1, 2}, at(near, far)},
		{[]int{3, 4}, at(far, near)},
	}}
}

// pairs returns x1 + x2 and x3 + x4, or the differences.
func (f *factors) pairs(x func(int) reg, op string) (q, r reg) {
	return f.op(op, x(1), x(2)), f.op(op, x(3), x(4))
}

// outputLine is Aᵀ.
func outputLine() line {
	return line{6, []float64{near2, far2, near, far, near * near2, far * far2}, []part{
		{[]int{0, 2}, func(f *factors, x func(int) reg) []reg {
			q, r := f.pairs(x, "FADD")
			return []reg{f.add(f.add(x(0), q), r), f.plus(f.times(near2, q), far2, r)}
		}},
		{[]int{1, 3}, func(f *factors, x func(int) reg) []reg {
			q, r := f.pairs(x, "FSUB")
			return []reg{f.plus(f.times(near, q), far, r), f.plus(f.plus(x(5), near*near2, q), far*far2, r)}
		}},
	}}
}

// slopeLine is A.
func slopeLine() line {
	at := func(p float64) func(f *factors, x func(int) reg) []reg {
		return func(f *factors, x func(int) reg) []reg {
			return f.both(f.plus(x(0), p*p, x(2)), f.plus(f.times(p, x(1)), p*p*p, x(3)))
		}
	}
	return line{4, []float64{near2, near, near * near2, far2, far, far * far2}, []part{
		{[]int{0, 5}, func(_ *factors, x func(int) reg) []reg { return []reg{x(0), x(3)} }},
		{[]int{1, 2}, at(near)},
		{[]int{3, 4}, at(far)},
	}}
}

// weightLine is G.
func weightLine() line {
	at := func(p, norm float64) func(f *factors, x func(int) reg) []reg {
		return func(f *factors, x func(int) reg) []reg {
			return f.both(f.plus(f.times(1/norm, x(0)), p*p/norm, x(2)), f.times(p/norm, x(1)))
		}
	}
	return line{3, []float64{1 / nilled, 1 / nearest, near2 / nearest, near / nearest, 1 / farthest, far2 / farthest, far / farthest}, []part{
		{[]int{0, 5}, func(f *factors, x func(int) reg) []reg { return []reg{f.times(1/nilled, x(0)), x(2)} }},
		{[]int{1, 2}, at(near, nearest)},
		{[]int{3, 4}, at(far, farthest)},
	}}
}

// gradientLine is Gᵀ.
func gradientLine() line {
	return line{6, []float64{1 / nilled, 1 / nearest, 1 / farthest, near2 / nearest, far2 / farthest, near / nearest, far / farthest}, []part{
		{[]int{0, 2}, func(f *factors, x func(int) reg) []reg {
			q, r := f.pairs(x, "FADD")
			first := f.plus(f.plus(f.times(1/nilled, x(0)), 1/nearest, q), 1/farthest, r)
			return []reg{first, f.plus(f.plus(x(5), near2/nearest, q), far2/farthest, r)}
		}},
		{[]int{1}, func(f *factors, x func(int) reg) []reg {
			q, r := f.pairs(x, "FSUB")
			return []reg{f.plus(f.times(near/nearest, q), far/farthest, r)}
		}},
	}}
}

// sandwich computes M·X·Mᵀ for a line M and a square X. Intermediate results of a few rows of M stay in registers.
func (f *factors) sandwich(l line, from, to square, finish func(reg) reg) {
	for _, p := range l.parts {
		rows := make([][]reg, len(p.outputs))
		for j := range l.in {
			loaded := map[int]reg{}
			for i, v := range p.body(f, func(i int) reg {
				if _, ok := loaded[i]; !ok {
					loaded[i] = f.loadFrom(from.at(i, j))
				}
				return loaded[i]
			}) {
				rows[i] = append(rows[i], v)
			}
		}
		for i, row := range p.outputs {
			for _, q := range l.parts {
				for j, v := range q.body(f, func(j int) reg { return rows[i][j] }) {
					if finish != nil {
						v = finish(v)
					}
					f.storeTo(v, to.at(row, q.outputs[j]))
				}
			}
		}
	}
}

// place is an address: a register plus another one, or, if index is 0, plus a number of bytes.
type place struct{ base, index, disp int }

// square is a square of vectors in memory.
type square struct {
	at   func(row, column int) place
	next func() // advances to the next one
}

func (p *program) loadFrom(m place) reg {
	if m.index == 0 {
		return p.fetch("FMOVQ %d(R%d), F%d", m.disp, m.base)
	}
	to := p.fresh()
	p.body = append(p.body, instruction{to, nil, -1, func(to int, _ []int) { p.indexed("LDR.Q", to, m.base, m.index) }})
	return to
}

func (p *program) storeTo(x reg, m place) {
	if m.index == 0 {
		p.emit("FMOVQ F%d, %d(R%d)", x, m.disp, m.base)
		return
	}
	p.body = append(p.body, instruction{-1, []reg{x}, -1, func(_ int, from []int) { p.indexed("STR.Q", from[0], m.base, m.index) }})
}

// planes returns the 36 elements of a square, step apart: addresses of rows in R10 to R15 and distances of columns in R20 to R24.
func (a *arguments) planes(base, by string) square {
	a.bytes("step")
	a.line("MOVD %s, R20", a.r("step"))
	for i := 1; i < 5; i++ {
		a.line("ADD R20, R%d, R%d", 19+i, 20+i)
	}
	a.line("MOVD %s, R10", a.r(base))
	for i := 1; i < 6; i++ {
		a.line("ADD R24, R%d, R%d", 9+i, 10+i)
		a.line("ADD R20, R%d, R%d", 10+i, 10+i)
	}
	return square{
		at: func(i, j int) place {
			if j == 0 {
				return place{base: 10 + i}
			}
			return place{base: 10 + i, index: 19 + j}
		},
		next: func() {
			for i := range 6 {
				a.line("ADD %s, R%d, R%d", by, 10+i, 10+i)
			}
		},
	}
}

// image returns the elements of a square in rows of a pitch; the next square is some vectors to the right. It uses up to six of the
// registers R0 to R9 that no argument needs any more.
func (a *arguments) image(base, pitch string, rows, vectors int, registers []int) square {
	a.bytes(pitch)
	a.line("MOVD %s, R%d", a.r(base), registers[0])
	for i := 1; i < rows; i++ {
		a.line("ADD %s, R%d, R%d", a.r(pitch), registers[i-1], registers[i])
	}
	return square{
		at: func(i, j int) place { return place{base: registers[i], disp: 16 * j} },
		next: func() {
			for _, r := range registers[:rows] {
				a.line("ADD $%d, R%d, R%d", 16*vectors, r, r)
			}
		},
	}
}

// flat returns the nine contiguous elements of a square.
func (a *arguments) flat(base string) square {
	return square{
		at:   func(i, j int) place { return place{base: a.general[base], disp: 16 * (3*i + j)} },
		next: func() { a.line("ADD $%d, %s, %s", 9*16, a.r(base), a.r(base)) },
	}
}

// each writes a body that reads one square and writes another, n times, at least once.
func (f *factors) each(a *arguments, l line, from, to square, finish func(reg) reg) {
	a.label("more")
	f.sandwich(l, from, to, finish)
	a.allocated()
	from.next()
	to.next()
	a.line("SUBS $1, %s, %s", a.r("n"), a.r("n"))
	a.line("BNE more")
	a.line("RET")
}

// imageRows are the registers of an image's rows.
var imageRows = []int{5, 6, 7, 8, 9, 16}

func sandwiches(o *output) {
	for _, s := range []struct {
		name string
		line line
		rows int
	}{{"tileInput", inputLine(), 6}, {"tileSlope", slopeLine(), 4}} {
		a := o.declare(s.name+"NEON", "n int, dst *float32, step int, src *float32, pitch int", " is "+s.name+"Generic for vectors of four elements.")
		to := a.planes("dst", "$16")
		from := a.image("src", "pitch", s.rows, 4, imageRows)
		a.program.factors(s.line.factors...).each(a, s.line, from, to, nil)
	}

	a := o.declare("tileOutputNEON", "n int, dst *float32, pitch int, src *float32, step int, ends *float32", " is tileOutputGeneric for vectors of four elements.")
	bias, low := a.keep(), a.keep()
	a.line("FLDPQ (%s), (F%d, F%d)", a.r("ends"), a.number(bias), a.number(low))
	from := a.planes("src", "$16")
	to := a.image("dst", "pitch", 4, 4, imageRows)
	a.program.factors(outputLine().factors...).each(a, outputLine(), from, to, func(x reg) reg { return a.op("FMAX", a.add(x, bias), low) })

	a = o.declare("tileWeightNEON", "n int, dst *float32, step, next int, src, ahead *float32, row int", " is tileWeightGeneric for vectors of four elements.")
	a.bytes("next", "row")
	to = a.planes("dst", a.r("next"))
	from = a.flat("src")
	advance := from.next
	from.next = func() {
		advance()
		for _, at := range []int{0, 64, 128} { // of a row of nine elements for each of four lanes
			a.line("ADD $%d, %s, R9", at, a.r("ahead"))
			a.line("PRFM (R9), PLDL2KEEP")
		}
		a.line("ADD %s, %s, %s", a.r("row"), a.r("ahead"), a.r("ahead"))
	}
	a.program.factors(weightLine().factors...).each(a, weightLine(), from, to, nil)

	a = o.declare("tileGradientNEON", "n int, dst, src *float32, step, next int", " is tileGradientGeneric for vectors of four elements.")
	a.bytes("next")
	from = a.planes("src", a.r("next"))
	to = a.flat("dst")
	a.program.factors(gradientLine().factors...).each(a, gradientLine(), from, to, nil)
}
