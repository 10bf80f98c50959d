package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// windows selects elements of shifted runs, 16 neighbors at a time.
func windows() {
	TEXT("windowsAVX512", NOSPLIT, "func(dst, runs *float32, offsets *int, k, w int, list *int, n int)")
	Pragma("noescape")
	Doc("windowsAVX512 is packWindowsGeneric for k offsets and n windows, both at least one.")
	dst := Load(Param("dst"), GP64())
	runs := Load(Param("runs"), GP64())
	offsets := Load(Param("offsets"), GP64())
	k := Load(Param("k"), GP64())
	w := Load(Param("w"), GP64())
	list := Load(Param("list"), GP64())
	n := Load(Param("n"), GP64())
	SHLQ(Imm(2), w)
	at, left, run, to, from := GP64(), GP64(), GP64(), GP64(), GP64()
	mask := K()
	v := ZMM()
	Label("row")
	MOVQ(Mem{Base: offsets}, run)
	LEAQ(Mem{Base: runs, Index: run, Scale: 4}, run)
	MOVQ(list, at)
	MOVQ(n, left)
	MOVQ(dst, to)
	Label("window")
	MOVQ(Mem{Base: at}, from)
	KMOVW(Mem{Base: at, Disp: 8}, mask)
	VMOVUPS_Z(Mem{Base: run, Index: from, Scale: 1}, mask, v)
	VCOMPRESSPS_Z(v, mask, v)
	VMOVUPS(v, Mem{Base: to})
	ADDQ(Mem{Base: at, Disp: 16}, to)
	ADDQ(Imm(24), at)
	DECQ(left)
	JNZ(LabelRef("window"))
	ADDQ(Imm(8), offsets)
	ADDQ(w, dst)
	DECQ(k)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}
