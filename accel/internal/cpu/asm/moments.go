package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// momentStep computes blend, blendSquare and rootStep, each as on its own, on a vector that
// stays in registers: the divisions of the last overlap with the loads of the others. It
// prefetches the memory that it changes, also across pages. With AVX2, which has not enough
// registers for the scalars, they are vectors on the stack.
func momentStep(s isa) {
	p := s.head("momentStep", "func(n int, dm, dv, dp, m, slope, v, p, blend, blendSquare, rootStep *float32)", ".", "dm", "dv", "dp", "m", "slope", "v", "p")
	n := parameter("n")
	var k [3][4]Op
	var stack Mem
	if !s.wide() {
		stack = AllocLocal(12 * s.width)
	}
	for i, name := range []string{"blend", "blendSquare", "rootStep"} {
		scalars := parameter(name)
		for j := range k[i] {
			r := s.splat(Mem{Base: scalars, Disp: 4 * j})
			k[i][j] = r
			if !s.wide() {
				at := stack.Offset((4*i + j) * s.width)
				VMOVUPS(r, at)
				k[i][j] = at
			}
		}
	}
	s.loop(n, p[3:], func(load func(Register) VecVirtual, store func(VecVirtual, Register)) {
		for _, in := range []Register{p[3], p[5], p[6]} {
			PREFETCHT0(Mem{Base: in, Disp: 1024})
		}
		m, g, v, x := load(p[3]), load(p[4]), load(p[5]), load(p[6])
		square := s.register()
		VMULPS(g, g, square)
		m = blended(m, g, k[0])
		v = blended(v, square, k[1])
		store(m, p[0])
		store(v, p[1])
		store(rootStepped(x, m, v, k[2]), p[2])
	}, p[:3]...)
	end()
}
