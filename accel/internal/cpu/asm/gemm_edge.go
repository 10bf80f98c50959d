package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// storeEdge generates the end of a tile that is wider than the remaining columns of the result: it adds a buffer of whole vectors to
// some columns of the result, or replaces them, and applies the epilogue.
func storeEdge(s isa) {
	s.begin("storeEdge", "func(rows, n int, c *float32, ldc int, edge *float32, width, mode int, bias *float32)",
		" writes n columns, less than width, which is one or two vectors; bias may be nil.")
	rows, n, c, ldc, edge, width := parameter("rows"), parameter("n"), parameter("c"), parameter("ldc"), parameter("edge"), parameter("width")
	mode, bias := parameter("mode"), parameter("bias")
	SHLQ(Imm(2), ldc)
	SHLQ(Imm(2), width)
	low, zero := s.splat(bits(0xff800000)), s.zero() // the lower bound: -Inf or 0
	TESTQ(U32(clampZero), mode)
	JZ(LabelRef("masks"))
	VMOVAPS(zero, low)
	Label("masks")
	load, store := s.firstOfTwo(n)
	none := bits(0x80000000) // -0, which changes no sum
	biases := []VecVirtual{s.splat(none), s.splat(none)}
	TESTQ(bias, bias)
	JZ(LabelRef("row"))
	for v := range 2 {
		load(v, Mem{Base: bias, Disp: v * s.width}, biases[v])
	}
	Label("row")
	for v := range 2 {
		after := []string{"second", "next"}[v]
		if v == 1 {
			CMPQ(width, U32(s.width))
			JE(LabelRef("next"))
		}
		x, old := s.register(), s.register()
		VMOVUPS(Mem{Base: edge, Disp: v * s.width}, x)
		TESTQ(U32(addResult), mode)
		JZ(LabelRef("bias" + after))
		load(v, Mem{Base: c, Disp: v * s.width}, old)
		VADDPS(old, x, x)
		Label("bias" + after)
		VADDPS(biases[v], x, x)
		VMAXPS(x, low, x) // returns the second operand, the sum, if it is NaN
		store(v, x, Mem{Base: c, Disp: v * s.width})
	}
	Label("next")
	ADDQ(ldc, c)
	ADDQ(width, edge)
	DECQ(rows)
	JNZ(LabelRef("row"))
	end()
}

// firstOfTwo returns functions that load and store the first n elements of two vectors.
func (s isa) firstOfTwo(n Register) (load func(v int, from Mem, to VecVirtual), store func(v int, from VecVirtual, to Mem)) {
	counts := []Register{GP64(), GP64()} // of each vector
	full := GP64()
	MOVQ(U32(s.lanes()), full)
	MOVQ(n, counts[0])
	CMPQ(n, full)
	CMOVQGT(full, counts[0])
	MOVQ(n, counts[1])
	SUBQ(counts[0], counts[1])
	if s.wide() {
		ones := GP64()
		MOVQ(U64(0xffff), ones)
		masks := []Register{K(), K()}
		for v, count := range counts {
			some := GP64()
			BZHIQ(count, ones, some)
			KMOVW(some.As32(), masks[v])
		}
		return func(v int, from Mem, to VecVirtual) { VMOVUPS_Z(from, masks[v], to) },
			func(v int, from VecVirtual, to Mem) { VMOVUPS(from, masks[v], to) }
	}
	table, masks := GP64(), []VecVirtual{YMM(), YMM()}
	LEAQ(tailMask(), table)
	for v, count := range counts {
		NEGQ(count)
		VMOVUPS(Mem{Base: table, Index: count, Scale: 4, Disp: 32}, masks[v])
	}
	return func(v int, from Mem, to VecVirtual) { VMASKMOVPS(from, masks[v], to) },
		func(v int, from VecVirtual, to Mem) { VMASKMOVPS(from, masks[v], to) }
}
