package main

import "fmt"

// channel generates the functions of batch normalization, which go over rows of one channel that lie a pitch apart, and those of pools.
func channel(o *output) {
	const doc = " is %sGeneric with more lanes."
	declare := func(name, parameters string) *rowLoop {
		return &rowLoop{arguments: o.declare(name+"NEON", parameters, fmt.Sprintf(doc, name))}
	}

	l := declare("sumRows", "rows, n int, a *float32, pitch int, sum *float64")
	sums := l.clear(4)
	l.overRows([]string{"a"}, func(v []piece) {
		// Pairs are added in float32, which is exact for equal numbers, and then in float64.
		for i := 0; i < len(v); i += 2 {
			x := v[i].load("a")
			if i+1 < len(v) {
				x = l.add(x, v[i+1].load("a"))
			}
			l.into("FADD.D", sums[i], sums[i], l.op("FCVTL", x))
			l.into("FADD.D", sums[i+1], sums[i+1], l.op("FCVTL2", x))
		}
	})
	total := l.number(l.fold("FADD.D", sums))
	l.three("FADDP.D", 0, total, total)
	l.line("FMOVD F0, (%s)", l.r("sum"))
	l.line("RET")

	l = declare("squareRows", "rows, n int, a *float32, pitch int, mean float32, sum *float32")
	sums = l.clear(4)
	l.overRows([]string{"a"}, func(v []piece) {
		for i, v := range v {
			x := v.keep(l.sub(v.load("a"), l.numbers["mean"]))
			l.into("FMLA", sums[i], x, x)
		}
	})
	l.storeSums("sum", sums)
	l.line("RET")

	l = declare("scaleRows", "rows, n int, d, a *float32, pitch int, mean, scale, bias, low float32")
	l.overRows([]string{"d", "a"}, func(v []piece) {
		for _, v := range v {
			x := l.fma(l.sub(v.load("a"), l.numbers["mean"]), l.numbers["scale"], l.numbers["bias"])
			v.store(l.op("FMAX", x, l.numbers["low"]), "d")
		}
	})
	l.line("RET")

	l = declare("slopeRows", "rows, n int, a, dy *float32, pitch int, mean float32, sums *float32")
	sums = l.clear(4)
	products := l.clear(4)
	l.overRows([]string{"a", "dy"}, func(v []piece) {
		for i, v := range v {
			x, dy := v.keep(l.sub(v.load("a"), l.numbers["mean"])), v.load("dy")
			l.into("FADD", sums[i], sums[i], dy)
			l.into("FMLA", products[i], x, dy)
		}
	})
	l.storeSums("sums", sums, products)
	l.line("RET")

	l = declare("slopeScaleRows", "rows, n int, d, a, dy *float32, pitch int, mean, level, slope, scale float32")
	l.overRows([]string{"d", "a", "dy"}, func(v []piece) {
		for _, v := range v {
			x, dy := l.sub(v.load("a"), l.numbers["mean"]), l.sub(v.load("dy"), l.numbers["level"])
			v.store(l.mul(l.fnma(x, l.numbers["slope"], dy), l.numbers["scale"]), "d")
		}
	})
	l.line("RET")
	pools(declare)
}

// rowLoop is a loop over rows. The working registers of their addresses are R10 and up, R9 counts the elements that are left.
type rowLoop struct {
	*arguments
	at map[string]int // working register of each row
}

// piece is the elements of rows that a part of a loop's body processes: a vector, or one element and zeros after it.
type piece struct {
	*rowLoop
	index  int
	single bool
}

func (v piece) load(row string) reg {
	if v.single {
		return v.fetch("FMOVS (R%d), F%d", v.at[row])
	}
	return v.fetch("FMOVQ %d(R%d), F%d", 16*v.index, v.at[row])
}

func (v piece) store(x reg, row string) {
	if v.single {
		v.emit("FMOVS F%d, (R%d)", x, v.at[row])
	} else {
		v.emit("FMOVQ F%d, %d(R%d)", x, 16*v.index, v.at[row])
	}
}

// keep makes what is after a single element zero.
func (v piece) keep(x reg) reg {
	if !v.single {
		return x
	}
	to := v.fresh()
	v.body = append(v.body, instruction{to, []reg{x}, -1, func(to int, from []int) { v.line("FMOVS F%d, F%d", from[0], to) }})
	return to
}

// storeSums stores the sums of all elements of registers, one after the other.
func (l *rowLoop) storeSums(to string, sums ...[]reg) {
	for i, s := range sums {
		l.sumTo(fmt.Sprintf("%d(%s)", 4*i, l.r(to)), l.fold("FADD", s))
	}
}

// overRows runs a body for all elements of rows that are pitch apart: first for four vectors at once, then for one, then for single elements.
func (l *rowLoop) overRows(rows []string, body func(v []piece)) {
	l.bytes("pitch")
	l.at = map[string]int{}
	for i, row := range rows {
		l.at[row] = 10 + i
	}
	l.label("row")
	l.line("MOVD %s, R9", l.r("n"))
	for _, row := range rows {
		l.line("MOVD %s, R%d", l.r(row), l.at[row])
	}
	l.steps(rows, 4, body)
	for _, row := range rows {
		l.line("ADD %s, %s, %s", l.r("pitch"), l.r(row), l.r(row))
	}
	l.line("SUBS $1, %s, %s", l.r("rows"), l.r("rows"))
	l.line("BNE row")
}

// steps runs the body for R9 elements: as often as they fill some vectors, then one, then element by element.
func (l *rowLoop) steps(rows []string, vectors int, body func(v []piece)) {
	for _, n := range []int{vectors, 1, 0} {
		if n == 1 && vectors == 1 {
			continue
		}
		some := max(n*lanes, 1)
		label := fmt.Sprintf("by%d", some)
		l.line("SUBS $%d, R9, R9", some)
		l.line("BLT %sdone", label)
		l.label(label)
		var v []piece
		for i := range max(n, 1) {
			v = append(v, piece{l, i, n == 0})
		}
		body(v)
		l.allocated()
		for _, row := range rows {
			l.line("ADD $%d, R%d, R%d", 4*some, l.at[row], l.at[row])
		}
		l.line("SUBS $%d, R9, R9", some)
		l.line("BGE %s", label)
		l.label(label + "done")
		l.line("ADD $%d, R9, R9", some)
	}
}
