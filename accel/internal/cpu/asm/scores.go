package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// scoreRows are loops of a function over rows of a block of scores, of which there is at least one. In the first row, the
// first seen elements are visible, in each later row step more.
type scoreRows struct {
	isa
	columns, pitch, step Register
	rows, seen, seenHere Register // rows left, and visible elements of the next row and of this one
}

func newScoreRows(s isa) *scoreRows {
	r := &scoreRows{isa: s, columns: parameter("width"), pitch: parameter("pitch"), step: parameter("step")}
	SHLQ(Imm(2), r.pitch)
	return r
}

// begin starts a loop over the rows.
func (r *scoreRows) begin(label string) {
	r.rows, r.seen, r.seenHere = parameter("rows"), parameter("seen"), GP64()
	Label(label)
	r.clamp()
}

// clamp computes the number of visible elements of a row.
func (r *scoreRows) clamp() {
	none := GP64()
	XORQ(none, none)
	MOVQ(r.seen, r.seenHere)
	TESTQ(r.seenHere, r.seenHere)
	CMOVQLT(none, r.seenHere)
	CMPQ(r.seenHere, r.columns)
	CMOVQGT(r.columns, r.seenHere)
}

// next ends the body of a loop: it advances some blocks to the next row, and some columns to the next element.
func (r *scoreRows) next(label string, blocks, columns []Register) {
	for _, b := range blocks {
		ADDQ(r.pitch, b)
	}
	for _, c := range columns {
		ADDQ(Imm(4), c)
	}
	ADDQ(r.step, r.seen)
	DECQ(r.rows)
	JNZ(LabelRef(label))
}

// vectors runs a body for each vector that has visible elements, which are masked, at an offset in bytes; label distinguishes loops.
func (r *scoreRows) vectors(label string, body func(at Register, seen masked)) (at Register) {
	at = GP64()
	left, some, lanes := GP64(), GP64(), GP64()
	XORQ(at, at)
	MOVQ(r.seenHere, left)
	MOVQ(I32(r.lanes()), lanes)
	seen := r.all()
	var table, ones Register
	if r.wide() {
		seen.mask, ones = K(), GP64()
		MOVQ(I32(0xffff), ones)
	} else {
		seen.mask, table = YMM(), GP64()
		LEAQ(tailMask(), table)
	}
	JMP(LabelRef(label + "Test"))
	Label(label)
	MOVQ(left, some)
	CMPQ(left, lanes)
	CMOVQGT(lanes, some)
	if r.wide() {
		BZHIQ(some, ones, some) // it uses the lowest eight bits of the number
		KMOVW(some.As32(), seen.mask)
	} else {
		NEGQ(some)
		VMOVUPS(Mem{Base: table, Index: some, Scale: 4, Disp: 32}, seen.mask)
	}
	body(at, seen)
	ADDQ(Imm(uint64(r.width)), at)
	SUBQ(Imm(uint64(r.lanes())), left)
	Label(label + "Test")
	CMPQ(left, Imm(0))
	JGT(LabelRef(label))
	return at
}

// zeros fills the rest of a row of some blocks with zeros, whole vectors up to its width.
func (r *scoreRows) zeros(at Register, blocks ...Register) {
	bytes := GP64()
	MOVQ(r.columns, bytes)
	SHLQ(Imm(2), bytes)
	zero := r.zero()
	JMP(LabelRef("zeroTest"))
	Label("zero")
	for _, b := range blocks {
		VMOVUPS(zero, Mem{Base: b, Index: at, Scale: 1})
	}
	ADDQ(Imm(uint64(r.width)), at)
	Label("zeroTest")
	CMPQ(at, bytes)
	JLT(LabelRef("zero"))
}

// softmaxRows replaces scores by exponentials. The maxima of all rows come first, so that no exponential waits for them.
func softmaxRows(s isa) {
	s.begin("softmaxRows", "func(rows, width, pitch, seen, step int, p *float32, factor float32, top, sum *float32)", " is softmaxRowsComposed for at least one row; it writes whole vectors.")
	r := newScoreRows(s)
	p, top := parameter("p"), parameter("top")
	factor, lowest := s.scalar("factor"), s.splat(bits(0xff800000))
	r.begin("top")
	m := s.register()
	VMOVAPS(lowest, m)
	r.vectors("largest", func(at Register, seen masked) {
		v := seen.loadOr(Mem{Base: p, Index: at, Scale: 1}, lowest)
		VMAXPS(m, v, m) // returns the first operand, the old maximum, if one is NaN
	})
	high := s.lanesMax(m)
	VMULSS(factor.AsX(), high, high)
	before := XMM()
	VMOVSS(Mem{Base: top}, before)
	VMAXSS(before, high, high)
	word := GP32()
	VMOVD(high, word)
	CMPL(word, I32(-0x800000))
	JNE(LabelRef("finite"))
	VXORPS(high, high, high) // all scores so far are -Inf
	Label("finite")
	VMOVSS(high, Mem{Base: top})
	r.next("top", []Register{p}, []Register{top})

	p, top = parameter("p"), parameter("top")
	sum := parameter("sum")
	r.begin("row")
	shift, total := s.splat(Mem{Base: top}), s.zero()
	at := r.vectors("exp", func(at Register, seen masked) {
		v := s.register()
		VMOVUPS(Mem{Base: p, Index: at, Scale: 1}, v)
		VFMSUB213PS(shift, factor, v)
		e := s.exp(v)
		seen.keep(e)
		VADDPS(e, total, total)
		VMOVUPS(e, Mem{Base: p, Index: at, Scale: 1})
	})
	VMOVSS(s.lanesSum(total).AsX(), Mem{Base: sum})
	r.zeros(at, p)
	r.next("row", []Register{p}, []Register{top, sum})
	end()
}

// softmaxGradientRows recomputes the weights of scores, and replaces the gradients of the
// weights by those of the scores.
func softmaxGradientRows(s isa) {
	s.begin("softmaxGradientRows", "func(rows, width, pitch, seen, step int, p, ds *float32, factor, scale float32, logarithm, delta *float32)", " is softmaxGradientRowsComposed for at least one row; it writes whole vectors.")
	r := newScoreRows(s)
	p, ds := parameter("p"), parameter("ds")
	logarithm, delta := parameter("logarithm"), parameter("delta")
	factor, scale := s.scalar("factor"), s.scalar("scale")
	r.begin("row")
	shift, less := s.splat(Mem{Base: logarithm}), s.splat(Mem{Base: delta})
	at := r.vectors("exp", func(at Register, seen masked) {
		v, g := s.register(), s.register()
		VMOVUPS(Mem{Base: p, Index: at, Scale: 1}, v)
		VFMSUB213PS(shift, factor, v)
		e := s.exp(v)
		seen.keep(e)
		VMOVUPS(e, Mem{Base: p, Index: at, Scale: 1})
		VMOVUPS(Mem{Base: ds, Index: at, Scale: 1}, g)
		VSUBPS(less, g, g)
		VMULPS(e, g, g)
		VMULPS(scale, g, g)
		seen.keep(g)
		VMOVUPS(g, Mem{Base: ds, Index: at, Scale: 1})
	})
	r.zeros(at, p, ds)
	r.next("row", []Register{p, ds}, []Register{logarithm, delta})
	end()
}

// lanesMax returns the largest lane.
func (s isa) lanesMax(m VecVirtual) VecVirtual {
	other := s.register()
	if s.wide() {
		VSHUFF64X2(Imm(0x4e), m, m, other)
		VMAXPS(other, m, m)
		VSHUFF64X2(Imm(0xb1), m, m, other)
	} else {
		VPERM2F128(Imm(1), m, m, other)
	}
	VMAXPS(other, m, m)
	VPERMILPS(Imm(0x4e), m, other)
	VMAXPS(other, m, m)
	VPERMILPS(Imm(0xb1), m, other)
	VMAXPS(other, m, m)
	return m.AsX().(VecVirtual)
}
