package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// specials generates how package frame finds the fields of a CSV file.
func specials() {
	search()
	offsets()
}

// search generates the search of a CSV file for the bytes that end a field, 64 bytes at a time, without AVX-512: memory is the limit.
func search() {
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

// offsets generates the list of the bits that are set in masks. A loop over the bits of a mask would end after an unpredictable number, so
// eight are written at once, and those that are too many are overwritten by the ones of the next mask.
func offsets() {
	begin("offsetsBMI", "func(words int, masks *uint64, offsets *uint32)", " is offsetsGeneric for at least one mask. It writes up to eight elements more.")
	words, masks, offsets := parameter("words"), parameter("masks"), parameter("offsets")
	base, mask, count, at := GP32(), GP64(), GP64(), GP64()
	XORL(base, base)
	loop("word")
	MOVQ(Mem{Base: masks}, mask)
	POPCNTQ(mask, count)
	MOVQ(offsets, at)
	Label("eight")
	for i := range 8 {
		bit := GP64()
		TZCNTQ(mask, bit)
		ADDL(base, bit.As32())
		MOVL(bit.As32(), Mem{Base: at, Disp: 4 * i})
		BLSRQ(mask, mask)
	}
	ADDQ(Imm(32), at)
	TESTQ(mask, mask)
	JNZ(LabelRef("eight"))
	LEAQ(Mem{Base: offsets, Index: count, Scale: 4}, offsets)
	ADDL(Imm(64), base)
	ADDQ(Imm(8), masks)
	DECQ(words)
	JNZ(LabelRef("word"))
	RET()
}
