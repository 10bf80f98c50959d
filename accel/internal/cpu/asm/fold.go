package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// foldings compute several elementwise ops in one pass. Each op rounds as it does on its
// own: no multiplication is fused with an addition.
func foldings(s isa) {
	s.folding("blend", 2, func(v []VecVirtual, k [4]Op) VecVirtual { return blended(v[0], v[1], k) })
	s.folding("blendSquare", 2, func(v []VecVirtual, k [4]Op) VecVirtual {
		VMULPS(v[1], v[1], v[1])
		return blended(v[0], v[1], k)
	})
	s.folding("rootStep", 3, func(v []VecVirtual, k [4]Op) VecVirtual { return rootStepped(v[0], v[1], v[2], k) })
}

// blended computes a·k0 + b·k1 + k2 + k3; it overwrites both operands.
func blended(a, b VecVirtual, k [4]Op) VecVirtual {
	VMULPS(k[0], a, a)
	VMULPS(k[1], b, b)
	VADDPS(b, a, a)
	VADDPS(k[2], a, a)
	VADDPS(k[3], a, a)
	return a
}

// rootStepped computes a - b·k0·k1 / (√(c·k2) + k3); it overwrites all operands.
func rootStepped(a, b, c VecVirtual, k [4]Op) VecVirtual {
	VMULPS(k[2], c, c)
	VSQRTPS(c, c)
	VADDPS(k[3], c, c)
	VMULPS(k[0], b, b)
	VMULPS(k[1], b, b)
	VDIVPS(c, b, b)
	VSUBPS(b, a, a)
	return a
}

func (s isa) folding(name string, inputs int, body func(v []VecVirtual, k [4]Op) VecVirtual) {
	signature := "func(n int, d, a, b, s *float32)"
	if inputs == 3 {
		signature = "func(n int, d, a, b, c, s *float32)"
	}
	s.begin(name, signature, " is "+name+"Generic.")
	n, d := parameter("n"), parameter("d")
	var in []Register
	for _, p := range []string{"a", "b", "c"}[:inputs] {
		in = append(in, parameter(p))
	}
	scalars := parameter("s")
	var k [4]Op
	for i := range k {
		k[i] = s.register()
		VBROADCASTSS(Mem{Base: scalars, Disp: 4 * i}, k[i])
	}
	s.loop(n, in, func(load func(Register) VecVirtual, store func(VecVirtual, Register)) {
		v := make([]VecVirtual, len(in))
		for i, base := range in {
			v[i] = load(base)
		}
		store(body(v, k), d)
	}, d)
	end()
}
