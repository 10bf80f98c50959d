package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// pools generates pooling with windows of 2×2 that do not overlap: pairs of neighbors in
// pairs of rows.
func pools(s isa) {
	s.begin("poolRows", "func(rows, n int, d, a *float32, pitch int)", " is poolRowsGeneric with more lanes.")
	p := newPairs(s)
	d, top := parameter("d"), parameter("a")
	bottom := p.below(top)
	p.overRows([]Register{top, bottom}, []Register{d}, func() {
		a0, a1 := p.load(top)
		b0, b1 := p.load(bottom)
		none := s.either(s.compared(unordered, a0, a1), s.compared(unordered, b0, b1))
		m, low := s.register(), s.register()
		VMAXPS(a0, a1, m)
		VMAXPS(b0, b1, low)
		VMAXPS(low, m, m)
		VADDPS(a0, a1, a0)
		VADDPS(b0, b1, b0)
		VADDPS(a0, b0, b0)
		if s.wide() {
			VMOVAPS(b0, none, m)
		} else {
			VBLENDVPS(none, b0, m, m)
		}
		p.storeOne(m, d)
	})

	s.begin("poolSlopeRows", "func(rows, n int, da, a *float32, pitch int, y, dy *float32)", " is poolSlopeRowsGeneric with more lanes.")
	p = newPairs(s)
	to, top := parameter("da"), parameter("a")
	y, dy := parameter("y"), parameter("dy")
	under, bottom := p.below(to), p.below(top)
	p.overRows([]Register{to, under, top, bottom}, []Register{y, dy}, func() {
		a0, a1 := p.load(top)
		b0, b1 := p.load(bottom)
		largest, slope := p.loadOne(y), p.loadOne(dy)
		first := s.compared(equalTo, largest, a0)
		second := s.compared(equalTo, largest, a1)
		third := s.compared(equalTo, largest, b0)
		_ = b1 // the maximum if none of the others is, also with NaN
		s.without(first, second)
		seen := s.either(first, second)
		s.without(seen, third)
		p.store(s.where(first, slope), s.where(second, slope), to)
		p.store(s.where(third, slope), s.elsewhere(s.either(seen, third), slope), under)
	})
}

// compared returns a mask of the lanes for which a comparison holds.
func (s isa) compared(predicate uint8, a, b VecVirtual) Register {
	if s.wide() {
		k := K()
		VCMPPS(Imm(uint64(predicate)), b, a, k)
		return k
	}
	mask := YMM()
	VCMPPS(Imm(uint64(predicate)), b, a, mask)
	return mask
}

// either returns the union of two masks.
func (s isa) either(a, b Register) Register {
	if s.wide() {
		k := K()
		KORW(a, b, k)
		return k
	}
	mask := YMM()
	VORPS(a, b, mask)
	return mask
}

// without removes the lanes of one mask from another.
func (s isa) without(taken, mask Register) {
	if s.wide() {
		KANDNW(mask, taken, mask)
	} else {
		VANDNPS(mask, taken, mask)
	}
}

// where returns v in the lanes of a mask and 0 in the others.
func (s isa) where(mask Register, v VecVirtual) VecVirtual {
	out := s.register()
	if s.wide() {
		VMOVAPS_Z(v, mask, out)
	} else {
		VANDPS(v, mask, out)
	}
	return out
}

// elsewhere returns v in the lanes outside a mask and 0 in the others.
func (s isa) elsewhere(mask Register, v VecVirtual) VecVirtual {
	if s.wide() {
		others := K()
		KNOTW(mask, others)
		return s.where(others, v)
	}
	out := s.register()
	VANDNPS(v, mask, out)
	return out
}

// pairs iterates over rows of n pairs of neighbors, a vector at a time.
type pairs struct {
	isa
	rows, n, pitch           Register
	one                      masked    // current elements
	both                     [2]masked // of the two vectors of their pairs
	even, odd, first, second VecVirtual
	at                       Register // offset of the current pairs, in bytes
}

var permutations = map[string]Mem{}

func permutation(name string, f func(i int) int) Mem {
	m, ok := permutations[name]
	if !ok {
		m = GLOBL(name, 8|16)
		for i := range 16 {
			DATA(i*4, U32(f(i)))
		}
		permutations[name] = m
	}
	return m
}

func newPairs(s isa) *pairs {
	p := &pairs{isa: s, rows: parameter("rows"), n: parameter("n"), pitch: parameter("pitch"), at: GP64()}
	SHLQ(Imm(2), p.pitch)
	if s.wide() {
		p.even, p.odd, p.first, p.second = ZMM(), ZMM(), ZMM(), ZMM()
		VMOVUPS(permutation("pairsEven", func(i int) int { return 2 * i }), p.even)
		VMOVUPS(permutation("pairsOdd", func(i int) int { return 2*i + 1 }), p.odd)
		VMOVUPS(permutation("pairsFirst", func(i int) int { return i/2 + i%2*16 }), p.first)
		VMOVUPS(permutation("pairsSecond", func(i int) int { return 8 + i/2 + i%2*16 }), p.second)
	}
	return p
}

// below returns the row after another.
func (p *pairs) below(row Register) Register {
	r := GP64()
	LEAQ(Mem{Base: row, Index: p.pitch, Scale: 1}, r)
	return r
}

// overRows runs the body for all pairs of all pairs of rows. Pairs are in rows pitch apart,
// single elements are contiguous.
func (p *pairs) overRows(pairs, ones []Register, body func()) {
	rest, twice := GP64(), GP64()
	MOVQ(p.n, rest)
	ANDQ(Imm(uint64(p.lanes()-1)), rest)
	LEAQ(Mem{Base: rest, Index: rest, Scale: 1}, twice)
	last, lastBoth := p.isa.first(rest), p.firstOfTwo(twice)
	left, whole := GP64(), GP64()
	MOVQ(p.n, whole)
	ANDQ(I32(-p.lanes()), whole)
	Label("row")
	MOVQ(whole, left)
	XORQ(p.at, p.at)
	TESTQ(left, left)
	JZ(LabelRef("tail"))
	Label("vector")
	p.one, p.both = p.all(), [2]masked{p.all(), p.all()}
	body()
	ADDQ(Imm(uint64(p.width)), p.at)
	SUBQ(Imm(uint64(p.lanes())), left)
	JNZ(LabelRef("vector"))
	Label("tail")
	CMPQ(whole, p.n)
	JE(LabelRef("next"))
	p.one, p.both = last, lastBoth
	body()
	Label("next")
	for _, r := range pairs {
		LEAQ(Mem{Base: r, Index: p.pitch, Scale: 2}, r)
	}
	for _, r := range ones {
		LEAQ(Mem{Base: r, Index: p.n, Scale: 4}, r)
	}
	DECQ(p.rows)
	JNZ(LabelRef("row"))
	end()
}

// halves returns the addresses of the pairs, two vectors.
func (p *pairs) halves(row Register) (low, high Mem) {
	low = Mem{Base: row, Index: p.at, Scale: 2}
	high = low
	high.Disp = p.width
	return low, high
}

// load returns the even and the odd elements of two vectors.
func (p *pairs) load(row Register) (even, odd VecVirtual) {
	low, high := p.halves(row)
	a, b := p.both[0].load(low), p.both[1].load(high)
	even, odd = p.register(), p.register()
	if p.wide() {
		VMOVAPS(a, even)
		VPERMT2PS(b, p.even, even)
		VMOVAPS(a, odd)
		VPERMT2PS(b, p.odd, odd)
		return even, odd
	}
	VSHUFPS(Imm(0x88), b, a, even)
	VPERMPD(Imm(0xd8), even, even)
	VSHUFPS(Imm(0xdd), b, a, odd)
	VPERMPD(Imm(0xd8), odd, odd)
	return even, odd
}

// store is the inverse of load.
func (p *pairs) store(even, odd VecVirtual, row Register) {
	low, high := p.halves(row)
	a, b := p.register(), p.register()
	if p.wide() {
		VMOVAPS(even, a)
		VPERMT2PS(odd, p.first, a)
		VMOVAPS(even, b)
		VPERMT2PS(odd, p.second, b)
	} else {
		near, far := YMM(), YMM()
		VUNPCKLPS(odd, even, near)
		VUNPCKHPS(odd, even, far)
		VPERM2F128(Imm(0x20), far, near, a)
		VPERM2F128(Imm(0x31), far, near, b)
	}
	p.both[0].store(a, low)
	p.both[1].store(b, high)
}

func (p *pairs) loadOne(row Register) VecVirtual {
	return p.one.load(Mem{Base: row, Index: p.at, Scale: 1})
}

func (p *pairs) storeOne(v VecVirtual, row Register) {
	p.one.store(v, Mem{Base: row, Index: p.at, Scale: 1})
}
