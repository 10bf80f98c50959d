package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// columns is the number of vectors side by side in a tile of several rows.
const columns = 3

func shift() {
	for _, s := range []isa{avx2, avx512} {
		rows := 4 // 12 accumulators, 3 columns, 1 broadcast: 16 registers
		if s.wide() {
			rows = 8 // 24 accumulators
		}
		shiftTile(s, rows, columns)
		shiftTile(s, 1, 8)
		shiftDots(s, rows)
		shiftDots(s, 1)
		biasRows(s)
	}
}

// shiftTile generates a tile of a matmul whose right-hand side is not packed: row p of b
// starts offsets[p] elements after b, so rows may overlap.
func shiftTile(s isa, mr, nv int) {
	begin(fmt.Sprintf("shiftTile%dx%d", mr, nv*s.lanes()), "func(k int, a, b *float32, offsets *int, c *float32, ldc, add int)", " is shiftTileGeneric for these sizes.")
	k, a, b, offsets, c, ldc, add := parameter("k"), parameter("a"), parameter("b"), parameter("offsets"), parameter("c"), parameter("ldc"), parameter("add")
	SHLQ(Imm(2), ldc)
	t := newTile(s, mr, nv)
	row := s.register()
	TESTQ(k, k)
	JZ(LabelRef("done"))
	line := t.columns
	if mr == 1 {
		line = nil // each vector is used once
	}
	Label("depth")
	MOVQ(Mem{Base: offsets}, t.at)
	for v := range line {
		VMOVUPS(Mem{Base: b, Index: t.at, Scale: 4, Disp: v * s.width}, line[v])
	}
	for i := range mr {
		VBROADCASTSS(Mem{Base: a, Disp: i * 4}, row)
		for v := range nv {
			if mr > 1 {
				VFMADD231PS(line[v], row, t.acc[i*nv+v])
			} else {
				VFMADD231PS(Mem{Base: b, Index: t.at, Scale: 4, Disp: v * s.width}, row, t.acc[v])
			}
		}
	}
	ADDQ(Imm(8), offsets)
	ADDQ(Imm(uint64(mr*4)), a)
	DECQ(k)
	JNZ(LabelRef("depth"))
	Label("done")
	t.storeRows(c, ldc, add)
}

// shiftDots generates mr rows times three shifted runs of b, summed over the run.
func shiftDots(s isa, mr int) {
	begin(fmt.Sprintf("shiftDots%dx3%s", mr, s.name), "func(n int, a *float32, lda int, b *float32, offsets *int, c *float32, ldc int)", fmt.Sprintf(" is shiftDotsGeneric for %d rows; n is a multiple of %d.", mr, s.lanes()))
	n := parameter("n")
	a := parameter("a")
	rows := rowAddresses(mr, a, "lda", 2)
	b, offsets := parameter("b"), parameter("offsets")
	var runs [3]Register
	for j := range runs {
		runs[j] = GP64()
		MOVQ(Mem{Base: offsets, Disp: 8 * j}, runs[j])
		LEAQ(Mem{Base: b, Index: runs[j], Scale: 4}, runs[j])
	}
	acc := s.cleared(3 * mr)
	shifted := s.registers(3)
	row := s.register()
	CMPQ(n, Imm(0))
	JLE(LabelRef("done"))
	Label("run")
	for j := range shifted {
		VMOVUPS(Mem{Base: runs[j]}, shifted[j])
		ADDQ(Imm(uint64(s.width)), runs[j])
	}
	for i := range mr {
		VMOVUPS(rows[i], row)
		for j := range shifted {
			VFMADD231PS(row, shifted[j], acc[i*3+j])
		}
	}
	ADDQ(Imm(uint64(s.width)), a)
	SUBQ(Imm(uint64(s.lanes())), n)
	JG(LabelRef("run"))
	Label("done")
	c, ldc := parameter("c"), parameter("ldc")
	SHLQ(Imm(2), ldc)
	for i := range mr {
		for j := range 3 {
			x := s.lanesSum(acc[i*3+j])
			VADDSS(Mem{Base: c, Disp: 4 * j}, x, x)
			VMOVSS(x, Mem{Base: c, Disp: 4 * j})
		}
		ADDQ(ldc, c)
	}
	end()
}

// lanesSum adds the lanes of a register, which it overwrites. The wide form only uses
// instructions that reach all 32 registers.
func (s isa) lanesSum(y VecVirtual) VecVirtual {
	if s.wide() {
		other := ZMM()
		VSHUFF64X2(Imm(0x4e), y, y, other)
		VADDPS(other, y, y)
		VSHUFF64X2(Imm(0xb1), y, y, other)
		VADDPS(other, y, y)
		VPERMILPS(Imm(0x4e), y, other)
		VADDPS(other, y, y)
		VPERMILPS(Imm(0xb1), y, other)
		VADDPS(other, y, y)
		return y.AsX().(VecVirtual)
	}
	half := XMM()
	VEXTRACTF128(Imm(1), y, half)
	x := y.AsX()
	VADDPS(half, x, x)
	VHADDPS(x, x, x)
	VHADDPS(x, x, x)
	return x.(VecVirtual)
}

// biasRows copies rows of one pitch to another.
func biasRows(s isa) {
	s.begin("biasRows", "func(rows, width int, d *float32, dpitch int, a *float32, apitch int, bias, low float32)", " is biasRowsGeneric.")
	rows, width, d, dpitch, a, apitch := parameter("rows"), parameter("width"), parameter("d"), parameter("dpitch"), parameter("a"), parameter("apitch")
	bias, low := s.scalar("bias"), s.scalar("low")
	SHLQ(Imm(2), dpitch)
	SHLQ(Imm(2), apitch)
	TESTQ(rows, rows)
	JZ(LabelRef("end"))
	Label("row")
	n, to, from := GP64(), GP64(), GP64()
	MOVQ(width, n)
	MOVQ(d, to)
	MOVQ(a, from)
	s.loop(n, []Register{from}, func(load func(Register) VecVirtual, store func(VecVirtual, Register)) {
		v := load(from)
		VADDPS(bias, v, v)
		VMAXPS(v, low, v) // returns the second operand, the sum, if it is NaN
		store(v, to)
	}, to)
	ADDQ(dpitch, d)
	ADDQ(apitch, a)
	DECQ(rows)
	JNZ(LabelRef("row"))
	Label("end")
	end()
}
