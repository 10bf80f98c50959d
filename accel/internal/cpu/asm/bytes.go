package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// divideBytes generates bytes divided by a number, one vector at a time.
func divideBytes(s isa) {
	s.begin("divideBytes", "func(n int, d *float32, a *uint8, by float32)", " is divideBytesGeneric for n, at least one, vectors' worth of bytes.")
	n, d, a := parameter("n"), parameter("d"), parameter("a")
	by, v := s.scalar("by"), s.register()
	Label("more")
	VPMOVZXBD(Mem{Base: a}, v)
	VCVTDQ2PS(v, v)
	VDIVPS(by, v, v)
	VMOVUPS(v, Mem{Base: d})
	ADDQ(Imm(uint64(s.lanes())), a)
	ADDQ(Imm(uint64(s.width)), d)
	DECQ(n)
	JNZ(LabelRef("more"))
	end()
}
