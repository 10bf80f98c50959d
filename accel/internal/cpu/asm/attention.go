package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/reg"
)

// attention are the functions of a row of scores.
func attention(s isa) {
	expSum(s)
	weigh(s)
}

// expSum generates the exponential of scaled and shifted values, and its sum.
func expSum(s isa) {
	name := "expSum" + s.name
	TEXT(name, NOSPLIT, "func(n int, d, a *float32, scale, shift float32) float32")
	Pragma("noescape")
	Doc(name + " is expSumGeneric with more lanes.")
	n := Load(Param("n"), GP64())
	d := Load(Param("d"), GP64())
	a := Load(Param("a"), GP64())
	scale, shift := s.register(), s.register()
	s.splatParam("scale", scale)
	s.splatParam("shift", shift)
	sum := s.zero()
	s.loop(n, []Register{a}, func(load func(Register) VecVirtual, store func(VecVirtual, Register)) {
		v := load(a)
		VMULPS(scale, v, v)
		VADDPS(shift, v, v)
		store(s.exp(v), d)
		VADDPS(load(d), sum, sum) // again, to keep zeros after the end
	}, d)
	Store(s.lanesSum(sum).AsX(), ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// weigh generates (a+s)·b·t.
func weigh(s isa) {
	name := "weigh" + s.name
	TEXT(name, NOSPLIT, "func(n int, d, a, b *float32, s, t float32)")
	Pragma("noescape")
	Doc(name + " is weighGeneric.")
	n := Load(Param("n"), GP64())
	d := Load(Param("d"), GP64())
	a := Load(Param("a"), GP64())
	b := Load(Param("b"), GP64())
	add, times := s.register(), s.register()
	s.splatParam("s", add)
	s.splatParam("t", times)
	s.loop(n, []Register{a, b}, func(load func(Register) VecVirtual, store func(VecVirtual, Register)) {
		v, w := load(a), load(b)
		VADDPS(add, v, v)
		VMULPS(w, v, v)
		VMULPS(times, v, v)
		store(v, d)
	}, d)
	VZEROUPPER()
	RET()
}
