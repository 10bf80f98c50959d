package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// rows generates the functions on rows: of norms, column sums, scores, and recurrent layers.
func rows() {
	for _, s := range []isa{avx2, avx512} {
		squares(s)
		normalize(s)
		slopes(s)
		normGradient(s)
		normWeights(s)
		dots(s)
		addProducts(s)
		softmaxRows(s)
		softmaxGradientRows(s)
		lstm(s)
		lstmGradient(s)
	}
	addRows(8)
	addRows(1)
	addEightRows()
}

// head begins a function and loads its pointers.
func (s isa) head(name, signature, doc string, pointers ...string) []Register {
	s.begin(name, signature, " is "+name+"Generic"+doc)
	var r []Register
	for _, p := range pointers {
		r = append(r, parameter(p))
	}
	return r
}

// squares generates squares for whole vectors.
func squares(s isa) {
	p := s.head("squares", "func(n int, x *float32, shift float32) float32", " for whole vectors.", "x")
	n := parameter("n")
	shift, sum := s.scalar("shift"), s.zero()
	TESTQ(n, n)
	JZ(LabelRef("end"))
	Label("more")
	v := s.register()
	VADDPS(Mem{Base: p[0]}, shift, v)
	VFMADD231PS(v, v, sum)
	s.nextVector(n, p[0])
	Label("end")
	Store(s.lanesSum(sum).AsX(), ReturnIndex(0))
	end()
}

func normalize(s isa) {
	p := s.head("normalize", "func(n int, y, x, w, b *float32, shift, scale float32)", ".", "y", "x", "w", "b")
	n := parameter("n")
	shift, scale := s.scalar("shift"), s.scalar("scale")
	s.loop(n, p[1:], func(load func(Register) VecVirtual, store func(VecVirtual, Register)) {
		v := load(p[1])
		VADDPS(shift, v, v)
		VMULPS(scale, v, v)
		VMULPS(load(p[2]), v, v)
		VADDPS(load(p[3]), v, v)
		store(v, p[0])
	}, p[0])
	end()
}

func slopes(s isa) {
	p := s.head("slopes", "func(n int, x, dy, w *float32, shift float32) (sum, dot float32)", ".", "x", "dy", "w")
	n := parameter("n")
	shift, sum, dot := s.scalar("shift"), s.zero(), s.zero()
	s.loop(n, p, func(load func(Register) VecVirtual, _ func(VecVirtual, Register)) {
		g, v := load(p[1]), load(p[0])
		VMULPS(load(p[2]), g, g)
		VADDPS(shift, v, v)
		VADDPS(g, sum, sum)
		VFMADD231PS(g, v, dot)
	})
	Store(s.lanesSum(sum).AsX(), ReturnIndex(0))
	Store(s.lanesSum(dot).AsX(), ReturnIndex(1))
	end()
}

// rowsFrom returns the addresses of dotRows rows that are pitch bytes apart, the first at w. It calls each before each address.
func rowsFrom(w, pitch Register, each func(i int)) (rows [dotRows]Register) {
	for i := range rows {
		each(i)
		if rows[i] = w; i > 0 {
			r := GP64()
			MOVQ(rows[i-1], r)
			ADDQ(pitch, r)
			rows[i] = r
		}
	}
	return rows
}

// dots generates the dot products of x with four rows of w at once. Each row is too short for the hardware to prefetch it in
// time, so the next four rows are requested.
func dots(s isa) {
	s.begin("dots", "func(n, pitch int, x, w, sums *float32)", " is dotsGeneric for whole vectors.")
	n, pitch := parameter("n"), parameter("pitch")
	x, w := parameter("x"), parameter("w")
	SHLQ(Imm(2), pitch)
	var sums [dotRows]VecVirtual
	rows := rowsFrom(w, pitch, func(i int) { sums[i] = s.zero() })
	Label("more")
	v := s.register()
	VMOVUPS(Mem{Base: x}, v)
	for i, row := range rows {
		PREFETCHT0(Mem{Base: row, Index: pitch, Scale: dotRows})
		VFMADD231PS(Mem{Base: row}, v, sums[i])
	}
	s.nextVector(n, append(rows[:], x)...)
	out := parameter("sums")
	for i, sum := range sums {
		VMOVSS(s.lanesSum(sum).AsX(), Mem{Base: out, Disp: 4 * i})
	}
	end()
}

// addProducts generates the addition of four rows of w, each times a number, to c. Like dots it requests the next four rows.
func addProducts(s isa) {
	s.begin("addProducts", "func(n, pitch int, x, w, c *float32)", " is addProductsGeneric for whole vectors.")
	n, pitch := parameter("n"), parameter("pitch")
	x, w, c := parameter("x"), parameter("w"), parameter("c")
	SHLQ(Imm(2), pitch)
	var factors [dotRows]VecVirtual
	rows := rowsFrom(w, pitch, func(i int) { factors[i] = s.splat(Mem{Base: x, Disp: 4 * i}) })
	Label("more")
	sum := s.register()
	VMOVUPS(Mem{Base: c}, sum)
	for i, row := range rows {
		PREFETCHT0(Mem{Base: row, Index: pitch, Scale: dotRows})
		VFMADD231PS(Mem{Base: row}, factors[i], sum)
	}
	VMOVUPS(sum, Mem{Base: c})
	s.nextVector(n, append(rows[:], c)...)
	end()
}

// dotRows is the number of rows that dots and addProducts read at once.
const dotRows = 4

func normGradient(s isa) {
	p := s.head("normGradient", "func(n int, dx, x, dy, w *float32, shift, slope, mean, scale float32)", ".", "dx", "x", "dy", "w")
	n := parameter("n")
	shift, slope, mean, scale := s.scalar("shift"), s.scalar("slope"), s.scalar("mean"), s.scalar("scale")
	s.loop(n, p[1:], func(load func(Register) VecVirtual, store func(VecVirtual, Register)) {
		v, g := load(p[1]), load(p[2])
		VADDPS(shift, v, v)
		VMULPS(load(p[3]), g, g)
		VSUBPS(mean, g, g)
		VFNMADD231PS(slope, v, g)
		VMULPS(scale, g, g)
		store(g, p[0])
	}, p[0])
	end()
}

func normWeights(s isa) {
	p := s.head("normWeights", "func(n int, dw, db, x, dy *float32, shift, scale float32)", ".", "dw", "db", "x", "dy")
	n := parameter("n")
	shift, scale := s.scalar("shift"), s.scalar("scale")
	s.loop(n, p, func(load func(Register) VecVirtual, store func(VecVirtual, Register)) {
		w, b, v, g := load(p[0]), load(p[1]), load(p[2]), load(p[3])
		VADDPS(shift, v, v)
		VMULPS(scale, v, v)
		VFMADD231PS(g, v, w)
		VADDPS(g, b, b)
		store(w, p[0])
		store(b, p[1])
	})
	end()
}

// addEightRows adds eight rows that are pitch elements apart, in float32 before: it goes along the
// rows, as fast as memory.
func addEightRows() {
	begin("addEightRowsAVX2", "func(n, pitch int, d *float64, x *float32)", " adds the sums in float32 of eight rows to n elements, a positive multiple of 8.")
	n, pitch := parameter("n"), parameter("pitch")
	d, x := parameter("d"), parameter("x")
	rows := [8]Register{x}
	for i := 1; i < len(rows); i++ {
		rows[i] = GP64()
		LEAQ(Mem{Base: rows[i-1], Index: pitch, Scale: 4}, rows[i])
	}
	at := GP64()
	XORQ(at, at)
	Label("more")
	var sums [4]VecVirtual
	for i := range sums {
		sums[i] = YMM()
		VMOVUPS(Mem{Base: rows[2*i], Index: at, Scale: 4}, sums[i])
		VADDPS(Mem{Base: rows[2*i+1], Index: at, Scale: 4}, sums[i], sums[i])
	}
	VADDPS(sums[1], sums[0], sums[0])
	VADDPS(sums[3], sums[2], sums[2])
	VADDPS(sums[2], sums[0], sums[0])
	half, low, high := XMM(), YMM(), YMM()
	VEXTRACTF128(Imm(1), sums[0], half)
	VCVTPS2PD(sums[0].AsX(), low)
	VCVTPS2PD(half, high)
	for i, v := range []VecVirtual{low, high} {
		place := Mem{Base: d, Index: at, Scale: 8, Disp: 32 * i}
		VADDPD(place, v, v)
		VMOVUPD(v, place)
	}
	ADDQ(Imm(8), at)
	SUBQ(Imm(8), n)
	JNZ(LabelRef("more"))
	end()
}

// addRows adds rows that are pitch elements apart to a number of vectors of float64, which stay in
// registers.
func addRows(vectors int) {
	begin(map[int]string{1: "addRowsNarrow", 8: "addRowsWide"}[vectors]+avx2.name, "func(rows, pitch int, d *float64, x *float32)", fmt.Sprintf(" adds rows to %d elements.", vectors*4))
	rows, pitch := parameter("rows"), parameter("pitch")
	d, x := parameter("d"), parameter("x")
	SHLQ(Imm(2), pitch)
	acc := make([]VecVirtual, vectors)
	for i := range acc {
		acc[i] = avx2.register()
		VMOVUPD(Mem{Base: d, Disp: i * 32}, acc[i])
	}
	TESTQ(rows, rows)
	JZ(LabelRef("end"))
	Label("row")
	for i := range acc {
		addFloat64(Mem{Base: x, Disp: i * 16}, acc[i])
	}
	ADDQ(pitch, x)
	DECQ(rows)
	JNZ(LabelRef("row"))
	Label("end")
	for i := range acc {
		VMOVUPD(acc[i], Mem{Base: d, Disp: i * 32})
	}
	end()
}
