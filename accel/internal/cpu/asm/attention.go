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
	s.begin("expSum", "func(n int, d, a *float32, scale, shift float32) float32", " is expSumGeneric with more lanes.")
	n, d, a := parameter("n"), parameter("d"), parameter("a")
	scale, shift := s.scalar("scale"), s.scalar("shift")
	sum := s.zero()
	s.loop(n, []Register{a}, func(load func(Register) VecVirtual, store func(VecVirtual, Register)) {
		v := load(a)
		VMULPS(scale, v, v)
		VADDPS(shift, v, v)
		store(s.exp(v), d)
		VADDPS(load(d), sum, sum) // again, to keep zeros after the end
	}, d)
	Store(s.lanesSum(sum).AsX(), ReturnIndex(0))
	end()
}

// weigh generates (a+s)·b·t.
func weigh(s isa) {
	s.begin("weigh", "func(n int, d, a, b *float32, s, t float32)", " is weighGeneric.")
	n, d, a, b := parameter("n"), parameter("d"), parameter("a"), parameter("b")
	add, times := s.scalar("s"), s.scalar("t")
	s.loop(n, []Register{a, b}, func(load func(Register) VecVirtual, store func(VecVirtual, Register)) {
		v, w := load(a), load(b)
		VADDPS(add, v, v)
		VMULPS(w, v, v)
		VMULPS(times, v, v)
		store(v, d)
	}, d)
	end()
}
