package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// interleave interleaves as many rows as a vector has lanes: each column becomes a vector, at an
// offset from a table.
func (s isa) interleave() {
	s.begin("interleave", "func(n int, dst, src *float32, row int, offsets *int)", " is interleaveGeneric with more lanes"+s.tail())
	n, dst := parameter("n"), parameter("dst")
	rows, advance := s.rows(parameter("src"), parameter("row"))
	offsets := parameter("offsets")
	s.eachBlock(n, func(mask Register) {
		in := make([]VecVirtual, s.lanes())
		for i := range in {
			in[i] = s.register()
			if s.wide() {
				VMOVUPS_Z(rows[i], mask, in[i])
			} else {
				VMOVUPS(rows[i], in[i])
			}
		}
		out := s.transposed(in)
		at := GP64()
		// From the end, because columns after the end of the last block have the offset of
		// the last column.
		for j := len(out) - 1; j >= 0; j-- {
			MOVQ(Mem{Base: offsets, Disp: 8 * j}, at)
			VMOVUPS(out[j], Mem{Base: dst, Index: at, Scale: 4})
		}
		advance()
		ADDQ(I32(8*s.lanes()), offsets)
	})
}

// deinterleave is the inverse of interleave.
func (s isa) deinterleave() {
	s.begin("deinterleave", "func(n int, dst *float32, row int, src *float32, offsets *int)", " is deinterleaveGeneric with more lanes"+s.tail())
	n, src := parameter("n"), parameter("src")
	rows, advance := s.rows(parameter("dst"), parameter("row"))
	offsets := parameter("offsets")
	s.eachBlock(n, func(mask Register) {
		in, at := make([]VecVirtual, s.lanes()), GP64()
		for j := range in {
			in[j] = s.register()
			MOVQ(Mem{Base: offsets, Disp: 8 * j}, at)
			VMOVUPS(Mem{Base: src, Index: at, Scale: 4}, in[j])
		}
		for i, v := range s.transposed(in) {
			if s.wide() {
				VMOVUPS(v, mask, rows[i])
			} else {
				VMOVUPS(v, rows[i])
			}
		}
		advance()
		ADDQ(I32(8*s.lanes()), offsets)
	})
}

// tail describes, in a function's comment, how it treats the last block.
func (s isa) tail() string {
	if s.wide() {
		return "; the table is as long as whole blocks of 16, by its last entry."
	}
	return "; n is a multiple of 8."
}

// rows returns the addresses of as many rows as a vector has lanes, and the step to the next
// columns.
func (s isa) rows(base, row Register) (rows []Mem, advance func()) {
	SHLQ(Imm(2), row)
	row3 := GP64()
	LEAQ(Mem{Base: row, Index: row, Scale: 2}, row3)
	var bases []Register
	for i := 0; i < s.lanes(); i += 4 {
		if i > 0 {
			next := GP64()
			LEAQ(Mem{Base: base, Index: row, Scale: 4}, next)
			base = next
		}
		bases = append(bases, base)
		rows = append(rows, Mem{Base: base}, Mem{Base: base, Index: row, Scale: 1}, Mem{Base: base, Index: row, Scale: 2}, Mem{Base: base, Index: row3, Scale: 1})
	}
	return rows, func() {
		for _, r := range bases {
			s.by(1)(r)
		}
	}
}

// eachBlock runs the body for as many columns as a vector has lanes. With AVX-512 it masks
// the columns after the last one.
func (s isa) eachBlock(n Register, body func(mask Register)) {
	var all, some, mask Register
	if s.wide() {
		all, some, mask = GP64(), GP64(), K()
		MOVQ(U64(0xffff), all)
	}
	Label("more")
	if s.wide() {
		MOVQ(all, some)
		CMPQ(n, Imm(16))
		JGE(LabelRef("whole"))
		BZHIQ(n, all, some)
		Label("whole")
		KMOVW(some.(GPVirtual).As32(), mask)
	}
	body(mask)
	SUBQ(Imm(uint64(s.lanes())), n)
	JG(LabelRef("more"))
	end()
}

// transposed transposes a square of vectors.
func (s isa) transposed(r []VecVirtual) []VecVirtual {
	two := func(f func(a, b, d VecVirtual), a, b VecVirtual) VecVirtual {
		d := s.register()
		f(a, b, d)
		return d
	}
	low := func(a, b, d VecVirtual) { VUNPCKLPS(b, a, d) }
	high := func(a, b, d VecVirtual) { VUNPCKHPS(b, a, d) }
	shuffle := func(imm uint64) func(a, b, d VecVirtual) {
		return func(a, b, d VecVirtual) { VSHUFPS(Imm(imm), b, a, d) }
	}
	lanes := func(imm uint64) func(a, b, d VecVirtual) {
		if s.wide() {
			return func(a, b, d VecVirtual) { VSHUFF32X4(Imm(imm), b, a, d) }
		}
		return func(a, b, d VecVirtual) { VPERM2F128(Imm(imm), b, a, d) }
	}
	// Squares of four within the lanes: quads[q][c] has column c of every lane,
	// of rows 4q to 4q+3.
	var quads [][]VecVirtual
	for q := 0; q < len(r); q += 4 {
		a, b := two(low, r[q], r[q+1]), two(high, r[q], r[q+1])
		c, d := two(low, r[q+2], r[q+3]), two(high, r[q+2], r[q+3])
		quads = append(quads, []VecVirtual{
			two(shuffle(0x44), a, c), two(shuffle(0xee), a, c), two(shuffle(0x44), b, d), two(shuffle(0xee), b, d)})
	}
	out := make([]VecVirtual, len(r))
	for c := range 4 {
		if !s.wide() {
			out[c], out[4+c] = two(lanes(0x20), quads[0][c], quads[1][c]), two(lanes(0x31), quads[0][c], quads[1][c])
			continue
		}
		for h, imm := range []uint64{0x44, 0xee} {
			a, b := two(lanes(imm), quads[0][c], quads[1][c]), two(lanes(imm), quads[2][c], quads[3][c])
			out[8*h+c], out[8*h+4+c] = two(lanes(0x88), a, b), two(lanes(0xdd), a, b)
		}
	}
	return out
}
