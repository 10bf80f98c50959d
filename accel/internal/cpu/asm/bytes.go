package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// divideBytes generates bytes divided by a number, one vector at a time.
func divideBytes(s isa) {
	name := "divideBytes" + s.name
	TEXT(name, NOSPLIT, "func(n int, d *float32, a *uint8, by float32)")
	Pragma("noescape")
	Doc(name + " is divideBytesGeneric for n, at least one, vectors' worth of bytes.")
	n := Load(Param("n"), GP64())
	d := Load(Param("d"), GP64())
	a := Load(Param("a"), GP64())
	by := s.register()
	s.splatParam("by", by)
	v := s.register()
	Label("more")
	VPMOVZXBD(Mem{Base: a}, v)
	VCVTDQ2PS(v, v)
	VDIVPS(by, v, v)
	VMOVUPS(v, Mem{Base: d})
	ADDQ(Imm(uint64(s.lanes())), a)
	ADDQ(Imm(uint64(s.width)), d)
	DECQ(n)
	JNZ(LabelRef("more"))
	VZEROUPPER()
	RET()
}
