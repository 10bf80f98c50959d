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
	masks := s.firstOfTwo(n)
	none := bits(0x80000000) // -0, which changes no sum
	biases := []VecVirtual{s.splat(none), s.splat(none)}
	TESTQ(bias, bias)
	JZ(LabelRef("row"))
	for v := range 2 {
		masks[v].loadTo(biases[v], Mem{Base: bias, Disp: v * s.width})
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
		masks[v].loadTo(old, Mem{Base: c, Disp: v * s.width})
		VADDPS(old, x, x)
		Label("bias" + after)
		VADDPS(biases[v], x, x)
		VMAXPS(x, low, x) // returns the second operand, the sum, if it is NaN
		masks[v].store(x, Mem{Base: c, Disp: v * s.width})
	}
	Label("next")
	ADDQ(ldc, c)
	ADDQ(width, edge)
	DECQ(rows)
	JNZ(LabelRef("row"))
	end()
}
