package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// specials generates the search of a CSV file for the bytes that end a field, 64 bytes at a time, without AVX-512: memory is the limit.
func specials() {
	begin("specialsAVX2", "func(blocks int, masks *uint64, data *byte, separator byte)", " is specialsGeneric for blocks of 64 bytes, at least one.")
	blocks, masks, data := parameter("blocks"), parameter("masks"), parameter("data")
	separator, err := Param("separator").Resolve()
	if err != nil {
		panic(err)
	}
	wanted := []VecVirtual{YMM(), YMM(), YMM()}
	VPBROADCASTB(separator.Addr, wanted[0])
	for i, b := range "\"\n" {
		code, lane := GP32(), XMM()
		MOVL(U32(b), code)
		VMOVD(code, lane)
		VPBROADCASTB(lane, wanted[1+i])
	}
	loop("more")
	halves := [2]GPVirtual{GP64(), GP64()}
	for h, half := range halves {
		line, found, equal := YMM(), YMM(), YMM()
		VMOVDQU(Mem{Base: data, Disp: 32 * h}, line)
		VPCMPEQB(wanted[0], line, found)
		for _, w := range wanted[1:] {
			VPCMPEQB(w, line, equal)
			VPOR(equal, found, found)
		}
		VPMOVMSKB(found, half.As32())
	}
	SHLQ(Imm(32), halves[1])
	ORQ(halves[1], halves[0])
	MOVQ(halves[0], Mem{Base: masks})
	ADDQ(Imm(64), data)
	ADDQ(Imm(8), masks)
	DECQ(blocks)
	JNZ(LabelRef("more"))
	end()
}
