package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// maxPool2 and its gradient pool windows of 2×2 that do not overlap: pairs of
// two rows.
func maxPool2() {
	TEXT("maxPool2AVX512", NOSPLIT, "func(n int, d, a, b *float32)")
	Pragma("noescape")
	Doc("maxPool2AVX512 is maxPool2Generic.")
	p := newPairs()
	d := Load(Param("d"), GP64())
	a := Load(Param("a"), GP64())
	b := Load(Param("b"), GP64())
	p.loop(func() {
		a0, a1 := p.load(a)
		b0, b1 := p.load(b)
		nan, other := K(), K()
		VCMPPS(Imm(unordered), a0, a1, nan)
		VCMPPS(Imm(unordered), b0, b1, other)
		KORW(nan, other, nan)
		m, low := ZMM(), ZMM()
		VMAXPS(a0, a1, m)
		VMAXPS(b0, b1, low)
		VMAXPS(low, m, m)
		VADDPS(a0, a1, a0)
		VADDPS(b0, b1, b0)
		VADDPS(a0, b0, nan, m)
		p.storeOne(m, d)
	}, []Register{a, b}, []Register{d})

	TEXT("maxPool2GradientAVX512", NOSPLIT, "func(n int, da, db, a, b, y, dy *float32)")
	Pragma("noescape")
	Doc("maxPool2GradientAVX512 is maxPool2GradientGeneric.")
	p = newPairs()
	da := Load(Param("da"), GP64())
	db := Load(Param("db"), GP64())
	a = Load(Param("a"), GP64())
	b = Load(Param("b"), GP64())
	y := Load(Param("y"), GP64())
	dy := Load(Param("dy"), GP64())
	p.loop(func() {
		a0, a1 := p.load(a)
		b0, _ := p.load(b)
		top, slope := p.loadOne(y), p.loadOne(dy)
		taken := []VecVirtual{a0, a1, b0}
		masks := make([]Register, 4)
		seen := K()
		KXORW(seen, seen, seen)
		for i, v := range taken {
			k := K()
			VCMPPS(Imm(equalTo), top, v, k)
			KANDNW(k, seen, k)
			KORW(k, seen, seen)
			masks[i] = k
		}
		masks[3] = K()
		KNOTW(seen, masks[3])
		var out [4]VecVirtual
		for i, k := range masks {
			out[i] = ZMM()
			VMOVAPS_Z(slope, k, out[i])
		}
		p.store(out[0], out[1], da)
		p.store(out[2], out[3], db)
	}, []Register{a, b, da, db}, []Register{y, dy})
}

// pairs walks over n pairs of neighbours, 16 at a time.
type pairs struct {
	n, ones                  GPVirtual
	one, low, high           Register // masks of what is left
	even, odd, first, second VecVirtual
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

func newPairs() *pairs {
	p := &pairs{one: K(), low: K(), high: K()}
	p.n = Load(Param("n"), GP64()).(GPVirtual)
	p.ones = GP64()
	p.even, p.odd, p.first, p.second = ZMM(), ZMM(), ZMM(), ZMM()
	VMOVUPS(permutation("pairsEven", func(i int) int { return 2 * i }), p.even)
	VMOVUPS(permutation("pairsOdd", func(i int) int { return 2*i + 1 }), p.odd)
	VMOVUPS(permutation("pairsFirst", func(i int) int { return i/2 + i%2*16 }), p.first)
	VMOVUPS(permutation("pairsSecond", func(i int) int { return 8 + i/2 + i%2*16 }), p.second)
	return p
}

// loop runs the body for 16 pairs, or as many as are left, until none is.
func (p *pairs) loop(body func(), pairs, ones []Register) {
	Label("more")
	CMPQ(p.n, Imm(0))
	JLE(LabelRef("done"))
	all, twice, mask := GP64(), GP64(), GP64()
	MOVQ(U64(0xffffffff), all)
	LEAQ(Mem{Base: p.n, Index: p.n, Scale: 1}, twice)
	full := GP64()
	MOVQ(U64(32), full)
	CMPQ(twice, full)
	CMOVQGT(full, twice)
	BZHIQ(twice, all, mask)
	KMOVW(mask.As32(), p.low)
	SHRQ(Imm(16), mask)
	KMOVW(mask.As32(), p.high)
	SHRQ(Imm(1), twice)
	BZHIQ(twice, all, mask)
	KMOVW(mask.As32(), p.one)
	body()
	for _, r := range pairs {
		ADDQ(U32(128), r)
	}
	for _, r := range ones {
		ADDQ(Imm(64), r)
	}
	SUBQ(Imm(16), p.n)
	JMP(LabelRef("more"))
	Label("done")
	VZEROUPPER()
	RET()
}

// load is the even and the odd elements of 32.
func (p *pairs) load(at Register) (even, odd VecVirtual) {
	lo, hi := ZMM(), ZMM()
	VMOVUPS_Z(Mem{Base: at}, p.low, lo)
	VMOVUPS_Z(Mem{Base: at, Disp: 64}, p.high, hi)
	even, odd = ZMM(), ZMM()
	VMOVAPS(lo, even)
	VPERMT2PS(hi, p.even, even)
	VMOVAPS(lo, odd)
	VPERMT2PS(hi, p.odd, odd)
	return even, odd
}

// store is the inverse of load.
func (p *pairs) store(even, odd VecVirtual, at Register) {
	lo := ZMM()
	VMOVAPS(even, lo)
	VPERMT2PS(odd, p.first, lo)
	VPERMT2PS(odd, p.second, even)
	VMOVUPS(lo, p.low, Mem{Base: at})
	VMOVUPS(even, p.high, Mem{Base: at, Disp: 64})
}

func (p *pairs) loadOne(at Register) VecVirtual {
	v := ZMM()
	VMOVUPS_Z(Mem{Base: at}, p.one, v)
	return v
}

func (p *pairs) storeOne(v VecVirtual, at Register) { VMOVUPS(v, p.one, Mem{Base: at}) }
