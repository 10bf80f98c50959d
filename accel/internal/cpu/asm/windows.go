package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// windows selects elements of shifted runs, 16 neighbors at a time.
func windows() {
	windowLoop("windowsAVX2", ", whose selected elements are their first ones. It reads and writes 16 elements for each window", func() func(at, to, run, from Register) {
		low, high := YMM(), YMM()
		return func(_, to, run, from Register) { // the next window overwrites what is too much
			VMOVUPS(Mem{Base: run, Index: from, Scale: 1}, low)
			VMOVUPS(Mem{Base: run, Index: from, Scale: 1, Disp: 32}, high)
			VMOVUPS(low, Mem{Base: to})
			VMOVUPS(high, Mem{Base: to, Disp: 32})
		}
	})
	windowLoop("windowsAVX512", "", func() func(at, to, run, from Register) {
		mask, v := K(), ZMM()
		return func(at, to, run, from Register) {
			KMOVW(Mem{Base: at, Disp: 8}, mask)
			VMOVUPS_Z(Mem{Base: run, Index: from, Scale: 1}, mask, v)
			VCOMPRESSPS_Z(v, mask, v)
			VMOVUPS(v, Mem{Base: to})
		}
	})
}

// windowLoop generates a function that copies windows. The function that registers returns copies one, at the entry at of the list.
func windowLoop(name, which string, registers func() (one func(at, to, run, from Register))) {
	begin(name, "func(dst, runs *float32, offsets *int, k, w int, list *int, n int)", " is packWindowsGeneric for k offsets and n windows, both at least one"+which+".")
	dst, runs, offsets, k, w, list, n := parameter("dst"), parameter("runs"), parameter("offsets"), parameter("k"), parameter("w"), parameter("list"), parameter("n")
	SHLQ(Imm(2), w)
	at, left, run, to, from := GP64(), GP64(), GP64(), GP64(), GP64()
	one := registers()
	Label("row")
	MOVQ(Mem{Base: offsets}, run)
	LEAQ(Mem{Base: runs, Index: run, Scale: 4}, run)
	MOVQ(list, at)
	MOVQ(n, left)
	MOVQ(dst, to)
	Label("window")
	MOVQ(Mem{Base: at}, from)
	one(at, to, run, from)
	ADDQ(Mem{Base: at, Disp: 16}, to)
	ADDQ(Imm(24), at)
	DECQ(left)
	JNZ(LabelRef("window"))
	ADDQ(Imm(8), offsets)
	ADDQ(w, dst)
	DECQ(k)
	JNZ(LabelRef("row"))
	end()
}
