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

// into returns a new register for f's result.
func (s isa) into(f func(a, b, d VecVirtual), a, b VecVirtual) VecVirtual {
	d := s.register()
	f(a, b, d)
	return d
}

// lower and upper alternate the lower or upper two elements of a and of b, in each four.
func (s isa) lower(a, b VecVirtual) VecVirtual {
	return s.into(func(a, b, d VecVirtual) { VUNPCKLPS(b, a, d) }, a, b)
}

func (s isa) upper(a, b VecVirtual) VecVirtual {
	return s.into(func(a, b, d VecVirtual) { VUNPCKHPS(b, a, d) }, a, b)
}

// shuffle returns two elements of a and two of b, in each four.
func (s isa) shuffle(which uint64, a, b VecVirtual) VecVirtual {
	return s.into(func(a, b, d VecVirtual) { VSHUFPS(Imm(which), b, a, d) }, a, b)
}

// transposedFours transposes the squares of four elements in four vectors.
func (s isa) transposedFours(r []VecVirtual) []VecVirtual {
	a, b, c, d := s.lower(r[0], r[1]), s.upper(r[0], r[1]), s.lower(r[2], r[3]), s.upper(r[2], r[3])
	return []VecVirtual{s.shuffle(0x44, a, c), s.shuffle(0xee, a, c), s.shuffle(0x44, b, d), s.shuffle(0xee, b, d)}
}

// transposed transposes a square of vectors.
func (s isa) transposed(r []VecVirtual) []VecVirtual {
	fours := func(which uint64, a, b VecVirtual) VecVirtual { // some fours of a and of b
		return s.into(func(a, b, d VecVirtual) {
			if s.wide() {
				VSHUFF32X4(Imm(which), b, a, d)
			} else {
				VPERM2F128(Imm(which), b, a, d)
			}
		}, a, b)
	}
	var quads [][]VecVirtual // quads[q][c] has column c of every four, of rows 4q to 4q+3
	for q := 0; q < len(r); q += 4 {
		quads = append(quads, s.transposedFours(r[q:q+4]))
	}
	out := make([]VecVirtual, len(r))
	for c := range 4 {
		if !s.wide() {
			out[c], out[4+c] = fours(0x20, quads[0][c], quads[1][c]), fours(0x31, quads[0][c], quads[1][c])
			continue
		}
		for h, which := range []uint64{0x44, 0xee} {
			a, b := fours(which, quads[0][c], quads[1][c]), fours(which, quads[2][c], quads[3][c])
			out[8*h+c], out[8*h+4+c] = fours(0x88, a, b), fours(0xdd, a, b)
		}
	}
	return out
}
