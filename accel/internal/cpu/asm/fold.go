package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// foldings do several elementwise ops in one pass. Each op rounds as it does
// alone: no multiplication is fused with an addition.
func foldings(s isa) {
	faded := func(x VecVirtual, k [4]VecVirtual) VecVirtual {
		VADDPS(k[2], x, x)
		VADDPS(k[3], x, x)
		return x
	}
	s.folding("blend", 2, func(v []VecVirtual, k [4]VecVirtual) VecVirtual {
		VMULPS(k[0], v[0], v[0])
		VMULPS(k[1], v[1], v[1])
		VADDPS(v[1], v[0], v[0])
		return faded(v[0], k)
	})
	s.folding("blendSquare", 2, func(v []VecVirtual, k [4]VecVirtual) VecVirtual {
		VMULPS(k[0], v[0], v[0])
		VMULPS(v[1], v[1], v[1])
		VMULPS(k[1], v[1], v[1])
		VADDPS(v[1], v[0], v[0])
		return faded(v[0], k)
	})
	s.folding("rootStep", 3, func(v []VecVirtual, k [4]VecVirtual) VecVirtual {
		VMULPS(k[2], v[2], v[2])
		VSQRTPS(v[2], v[2])
		VADDPS(k[3], v[2], v[2])
		VMULPS(k[0], v[1], v[1])
		VMULPS(k[1], v[1], v[1])
		VDIVPS(v[2], v[1], v[1])
		VSUBPS(v[1], v[0], v[0])
		return v[0]
	})
}

func (s isa) folding(name string, inputs int, body func(v []VecVirtual, k [4]VecVirtual) VecVirtual) {
	full := name + s.name
	signature := "func(n int, d, a, b, s *float32)"
	if inputs == 3 {
		signature = "func(n int, d, a, b, c, s *float32)"
	}
	TEXT(full, NOSPLIT, signature)
	Pragma("noescape")
	Doc(full + " is " + name + "Generic.")
	n := Load(Param("n"), GP64())
	d := Load(Param("d"), GP64())
	var in []Register
	for _, p := range []string{"a", "b", "c"}[:inputs] {
		in = append(in, Load(Param(p), GP64()))
	}
	scalars := Load(Param("s"), GP64())
	var k [4]VecVirtual
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
	VZEROUPPER()
	RET()
}
