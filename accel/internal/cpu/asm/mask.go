package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// masked is the lanes of a vector that loads and stores access: those of a mask, which is a mask register with AVX-512 and a vector with
// AVX2, or all lanes without one.
type masked struct {
	isa
	mask Register
}

// all is all lanes.
func (s isa) all() masked { return masked{isa: s} }

// first is the first n lanes, at most all.
func (s isa) first(n Register) masked {
	if s.wide() {
		ones, some, mask := GP64(), GP64(), K()
		MOVQ(U32(0xffff), ones)
		BZHIQ(n, ones, some)
		KMOVW(some.As32(), mask)
		return masked{s, mask}
	}
	table, from, mask := GP64(), GP64(), YMM()
	LEAQ(tailMask(), table)
	MOVQ(n, from)
	NEGQ(from)
	VMOVUPS(Mem{Base: table, Index: from, Scale: 4, Disp: 32}, mask)
	return masked{s, mask}
}

// firstOfTwo is the lanes of the first n elements of two vectors.
func (s isa) firstOfTwo(n Register) [2]masked {
	low, high, full := GP64(), GP64(), GP64()
	MOVQ(U32(s.lanes()), full)
	MOVQ(n, low)
	CMPQ(n, full)
	CMOVQGT(full, low)
	MOVQ(n, high)
	SUBQ(low, high)
	return [2]masked{s.first(low), s.first(high)}
}

var words *Mem

// tailMask is eight set words followed by eight clear ones.
func tailMask() Mem {
	if words == nil {
		m := GLOBL("tailMask", 8|16)
		for i := range 16 {
			word := uint32(0)
			if i < 8 {
				word = 0xffffffff
			}
			DATA(i*4, U32(word))
		}
		words = &m
	}
	return *words
}

// load returns a vector with zeros in the other lanes.
func (m masked) load(from Mem) VecVirtual {
	v := m.register()
	m.loadTo(v, from)
	return v
}

func (m masked) loadTo(v VecVirtual, from Mem) {
	switch {
	case m.mask == nil:
		VMOVUPS(from, v)
	case m.wide():
		VMOVUPS_Z(from, m.mask, v)
	default:
		VMASKMOVPS(from, m.mask, v)
	}
}

func (m masked) store(v VecVirtual, to Mem) {
	switch {
	case m.mask == nil:
		VMOVUPS(v, to)
	case m.wide():
		VMOVUPS(v, m.mask, to)
	default:
		VMASKMOVPS(v, m.mask, to)
	}
}

// keep sets the other lanes to zero, also if they are NaN.
func (m masked) keep(v VecVirtual) {
	switch {
	case m.mask == nil:
	case m.wide():
		VMOVAPS_Z(v, m.mask, v)
	default:
		VANDPS(m.mask, v, v)
	}
}

// loadOr loads a vector with others in the other lanes, whose memory it may read.
func (m masked) loadOr(from Mem, others VecVirtual) VecVirtual {
	v := m.register()
	if m.wide() {
		VMOVAPS(others, v)
		VMOVUPS(from, m.mask, v)
	} else {
		VMOVUPS(from, v)
		VBLENDVPS(m.mask, v, others, v)
	}
	return v
}
