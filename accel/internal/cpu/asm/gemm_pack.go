package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// copyPanels generates the copy of rows to several panels, four rows at a time, as so many vectors of eight for each panel. The last
// vector overlaps the one before it. A single vector may be wider than the panel: the next row overwrites what is too much.
func copyPanels(vectors int) {
	const rowsAhead = 8 // of those that are prefetched
	widths := fmt.Sprintf("%d to %d elements", 8*(vectors-1), 8*vectors)
	if vectors == 1 {
		widths = "4 to 8 elements, after which it writes what follows them in src up to 8"
	}
	begin(fmt.Sprintf("copyPanels%d", vectors), "func(dst, src *float32, parts *int, n, k, col int)",
		" writes dst[to+p*width+i] = src[from+p*col+i] for i < width and p < k, a multiple of 4, for each of n parts of\n"+
			widths+". A part is its from, to and width in bytes; to is moved behind what has been written.")
	dst, src, parts, n, k, col := parameter("dst"), parameter("src"), parameter("parts"), parameter("n"), parameter("k"), parameter("col")
	SHLQ(Imm(2), col)
	col3, last := GP64(), GP64()
	LEAQ(Mem{Base: col, Index: col, Scale: 2}, col3)
	LEAQ(Mem{Base: n, Index: n, Scale: 2}, last) // a part has three words
	LEAQ(Mem{Base: parts, Index: last, Scale: 8}, last)
	SHRQ(Imm(2), k)
	JZ(LabelRef("done"))
	part, from, to, width, width3 := GP64(), GP64(), GP64(), GP64(), GP64()
	rowsOf := func(base, pitch, pitch3 Register, disp int) []Mem {
		return []Mem{{Base: base, Disp: disp}, {Base: base, Index: pitch, Scale: 1, Disp: disp}, {Base: base, Index: pitch, Scale: 2, Disp: disp}, {Base: base, Index: pitch3, Scale: 1, Disp: disp}}
	}
	loop("rows")
	MOVQ(parts, part)
	Label("part")
	MOVQ(Mem{Base: part}, from)
	MOVQ(Mem{Base: part, Disp: 8}, to)
	MOVQ(Mem{Base: part, Disp: 16}, width)
	LEAQ(Mem{Base: to, Index: width, Scale: 4}, width3)
	MOVQ(width3, Mem{Base: part, Disp: 8})
	LEAQ(Mem{Base: width, Index: width, Scale: 2}, width3)
	ADDQ(src, from)
	ADDQ(dst, to)
	for v := range vectors {
		disp := 32 * v
		if v > 0 && v == vectors-1 {
			ADDQ(width, from)
			ADDQ(width, to)
			disp = -32
		}
		for r := range 4 {
			eight := YMM()
			VMOVUPS(rowsOf(from, col, col3, disp)[r], eight)
			VMOVUPS(eight, rowsOf(to, width, width3, disp)[r])
		}
	}
	LEAQ(Mem{Base: from, Index: col, Scale: rowsAhead}, from)
	for line := 0; line < vectors; line += 2 {
		disp := 0
		if vectors > 1 {
			disp = -32 - 32*line
		}
		for _, m := range rowsOf(from, col, col3, disp) {
			PREFETCHT0(m)
		}
	}
	ADDQ(Imm(24), part)
	CMPQ(part, last)
	JB(LabelRef("part"))
	LEAQ(Mem{Base: src, Index: col, Scale: 4}, src)
	DECQ(k)
	JNZ(LabelRef("rows"))
	Label("done")
	end()
}
