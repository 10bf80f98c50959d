package main

import "fmt"

// pools generates pooling with windows of 2×2 that do not overlap: pairs of neighbors in pairs of rows.
func pools(declare func(name, parameters string) *rowLoop) {
	l := declare("poolRows", "rows, n int, d, a *float32, pitch int")
	l.overPairs([]string{"a"}, []string{"d"}, func(v pair) {
		low, high := v.both("a", 0), v.both("a", 1)
		for i := range low {
			low[i] = l.op("FMAX", low[i], high[i])
		}
		v.store(l.op("FMAXP", low[0], low[len(low)-1]), "d")
	})
	l.line("RET")

	l = declare("poolSlopeRows", "rows, n int, da, a *float32, pitch int, y, dy *float32")
	l.overPairs([]string{"da", "a"}, []string{"y", "dy"}, func(v pair) {
		a, b, c := v.split("a", 0, 1), v.split("a", 0, 2), v.split("a", 1, 1) // the last one is the maximum if no other is, also with NaN
		y, dy := v.load("y"), v.load("dy")
		first := l.op("FCMEQ", y, a)
		second := l.op("BIC", l.op("FCMEQ", y, b), first)
		seen := l.op("ORR", first, second)
		third := l.op("BIC", l.op("FCMEQ", y, c), seen)
		v.join(l.op("AND", dy, first), l.op("AND", dy, second), "da", 0)
		v.join(l.op("AND", dy, third), l.op("BIC", dy, l.op("ORR", seen, third)), "da", 1)
	})
	l.line("RET")
}

// pair is the elements of one result, or of a vector of them: two in each of two rows.
type pair struct{ piece }

// row returns the working register of the first or second row of pairs.
func (v pair) row(name string, below int) int { return v.at[name] + below }

// both loads the pairs of a row as they are: two vectors, or one with a single pair.
func (v pair) both(name string, below int) []reg {
	at := v.row(name, below)
	if v.single {
		return []reg{v.fetch("FMOVD (R%d), F%d", at)}
	}
	return []reg{v.fetch("FMOVQ 0(R%d), F%d", at), v.fetch("FMOVQ 16(R%d), F%d", at)}
}

// split returns the elements of a row's pairs with this number, 1 or 2.
func (v pair) split(name string, below, number int) reg {
	x := v.both(name, below)
	return v.op(fmt.Sprint("UZP", number), x[0], x[len(x)-1])
}

// join stores pairs in a row, the inverse of split.
func (v pair) join(first, second reg, name string, below int) {
	at := v.row(name, below)
	low := v.op("ZIP1", first, second)
	if v.single {
		v.emit("FMOVD F%d, (R%d)", low, at)
		return
	}
	for i, x := range []reg{low, v.op("ZIP2", first, second)} {
		v.emit("FMOVQ F%d, %d(R%d)", x, 16*i, at)
	}
}

// overPairs runs a body for all results: first for vectors, then one by one. The rows of pairs are pitch apart, the results follow each
// other.
func (l *rowLoop) overPairs(pairs, ones []string, body func(v pair)) {
	l.bytes("pitch")
	l.at = map[string]int{}
	for i, row := range pairs {
		l.at[row] = 10 + 2*i // and the row below
	}
	for i, row := range ones {
		l.at[row] = 20 + i
	}
	for _, row := range ones {
		l.line("MOVD %s, R%d", l.r(row), l.at[row])
	}
	l.label("row")
	l.line("MOVD %s, R9", l.r("n"))
	for _, row := range pairs {
		l.line("MOVD %s, R%d", l.r(row), l.at[row])
		l.line("ADD %s, %s, R%d", l.r("pitch"), l.r(row), l.at[row]+1)
	}
	for _, n := range []int{lanes, 1} {
		label := map[int]string{lanes: "vector", 1: "one"}[n]
		l.line("SUBS $%d, R9, R9", n)
		l.line("BLT %sdone", label)
		l.label(label)
		body(pair{piece{l, 0, n == 1}})
		l.allocated()
		for _, row := range pairs {
			l.line("ADD $%d, R%d, R%d", 8*n, l.at[row], l.at[row])
			l.line("ADD $%d, R%d, R%d", 8*n, l.at[row]+1, l.at[row]+1)
		}
		for _, row := range ones {
			l.line("ADD $%d, R%d, R%d", 4*n, l.at[row], l.at[row])
		}
		l.line("SUBS $%d, R9, R9", n)
		l.line("BGE %s", label)
		l.label(label + "done")
		l.line("ADD $%d, R9, R9", n)
	}
	for _, row := range pairs {
		l.line("ADD %s<<1, %s, %s", l.r("pitch"), l.r(row), l.r(row))
	}
	l.line("SUBS $1, %s, %s", l.r("rows"), l.r("rows"))
	l.line("BNE row")
}
