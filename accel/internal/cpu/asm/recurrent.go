package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// gateRows are the rows of the four gates of an LSTM, one behind the other.
type gateRows struct{ base, row, three Register }

// part returns the vector of a gate.
func (g gateRows) part(i int) Mem {
	switch i {
	case 0:
		return Mem{Base: g.base}
	case 3:
		return Mem{Base: g.base, Index: g.three, Scale: 1}
	}
	return Mem{Base: g.base, Index: g.row, Scale: uint8(i)}
}

// gates loads the length of a row, a number of whole vectors, and returns the rows of gates at some pointers.
func gates(n Register, names ...string) (rows []gateRows) {
	row, three := GP64(), GP64()
	MOVQ(n, row)
	SHLQ(Imm(2), row)
	LEAQ(Mem{Base: row, Index: row, Scale: 2}, three)
	for _, name := range names {
		rows = append(rows, gateRows{parameter(name), row, three})
	}
	return rows
}

// nextVector ends the loop "more" over the n elements of rows, whole vectors.
func (s isa) nextVector(n Register, pointers ...Register) {
	for _, p := range pointers {
		ADDQ(Imm(uint64(s.width)), p)
	}
	SUBQ(Imm(uint64(s.lanes())), n)
	JNZ(LabelRef("more"))
}

// lstm generates a step of an LSTM for one sequence.
func lstm(s isa) {
	s.begin("lstm", "func(n int, gates, x, before, cell, next *float32)", " is lstmComposed for whole vectors, of which there is at least one.")
	n := parameter("n")
	g := gates(n, "gates", "x")
	before, cell, next := parameter("before"), parameter("cell"), parameter("next")
	loop("more")
	activated := func(i int, f func([]VecVirtual) []VecVirtual) VecVirtual {
		v := s.all().load(g[0].part(i))
		VADDPS(g[1].part(i), v, v)
		v = f([]VecVirtual{v})[0]
		VMOVUPS(v, g[0].part(i))
		return v
	}
	c := activated(1, s.sigmoidEach)
	VMULPS(Mem{Base: before}, c, c)
	VMOVUPS(c, Mem{Base: cell})
	in := activated(0, s.sigmoidEach)
	VMOVUPS(in, Mem{Base: next})
	candidate := activated(2, s.tanhEach)
	VMULPS(Mem{Base: next}, candidate, candidate)
	VADDPS(Mem{Base: cell}, candidate, candidate)
	VMOVUPS(candidate, Mem{Base: cell})
	out := activated(3, s.sigmoidEach)
	VMOVUPS(out, Mem{Base: next})
	h := s.tanh(s.all().load(Mem{Base: cell}))
	VMULPS(Mem{Base: next}, h, h)
	VMOVUPS(h, Mem{Base: next})
	s.nextVector(n, g[0].base, g[1].base, before, cell, next)
	end()
}

// lstmGradient generates the gradient of a step of an LSTM for one sequence.
func lstmGradient(s isa) {
	s.begin("lstmGradient", "func(n int, slopes, gates, before, cell, dh, dc *float32)", " is lstmGradientComposed for whole vectors, of which there is at least one.")
	n := parameter("n")
	g := gates(n, "slopes", "gates")
	d, g0 := g[0], g[1]
	before, cell := parameter("before"), parameter("cell")
	dh, dc := parameter("dh"), parameter("dc")
	loop("more")
	one := func() VecVirtual { return s.splat(constant(1)) }
	// slope is y·(1-y)·other of a sigmoid y.
	slope := func(i int, other VecVirtual) {
		y, v := s.all().load(g0.part(i)), one()
		VSUBPS(y, v, v)
		VMULPS(y, v, v)
		VMULPS(other, v, v)
		VMOVUPS(v, d.part(i))
	}
	// through is (1-y²)·other of a hyperbolic tangent y.
	through := func(y, other VecVirtual) VecVirtual {
		v := one()
		VFNMADD231PS(y, y, v)
		VMULPS(other, v, v)
		return v
	}
	t := s.tanh(s.all().load(Mem{Base: cell}))
	h, product := s.all().load(Mem{Base: dh}), s.register()
	VMULPS(t, h, product)
	slope(3, product)
	VMULPS(g0.part(3), h, h)
	c := through(t, h)
	VADDPS(Mem{Base: dc}, c, c)
	VMULPS(g0.part(2), c, product)
	slope(0, product)
	VMULPS(Mem{Base: before}, c, product)
	slope(1, product)
	VMULPS(g0.part(0), c, product)
	VMOVUPS(through(s.all().load(g0.part(2)), product), d.part(2))
	VMULPS(g0.part(1), c, c)
	VMOVUPS(c, Mem{Base: dc})
	VMOVUPS(s.zero(), Mem{Base: dh})
	s.nextVector(n, d.base, g0.base, before, cell, dh, dc)
	end()
}
