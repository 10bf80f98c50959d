package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// byteProduct is an algorithm of int8 multiplication.
type byteProduct struct {
	isa
	name  string
	rows  int  // of the tallest tile
	vex   bool // VPDPBUSD of AVX-VNNI, which Go's assembler does not support
	pairs bool // 16-bit integers in pairs: VPMADDWD, whose sums cannot overflow
}

// tile generates c = a·b for rows of a that are row bytes apart and a panel of b: groups of
// four bytes of the depth, or of two 16-bit integers, one column after the other.
// Accumulators stay in registers over the whole depth.
//
// VPMADDUBSW, the only byte multiplication of AVX2, cannot be used: it adds two products of
// up to 255·127 in 16 bits and saturates.
func (p byteProduct) tile(mr, nv int) {
	name := begin(fmt.Sprintf("byteTile%dx%d%s", mr, nv*p.lanes(), p.name), "func(k int, a *uint8, row int, b *int8, c *int32, ldc int)", fmt.Sprintf(" is byteTileGeneric for %d rows and %d columns.", mr, nv*p.lanes()))
	tabled("byteTile", p.name, mr, name)
	k, a, b := parameter("k"), parameter("a"), parameter("b")
	rows := rowAddresses(mr, a, "row", 0)
	// Registers by number, since avo does not know the registers of an encoded instruction.
	number := 0
	next := func() VecPhysical {
		number++
		if p.wide() {
			return zmm[number-1]
		}
		return ymm[number-1]
	}
	acc, columns := make([]VecPhysical, mr*nv), make([]VecPhysical, nv)
	for i := range acc {
		acc[i] = next()
		if p.wide() {
			VPXORD(acc[i], acc[i], acc[i])
		} else {
			VPXOR(acc[i], acc[i], acc[i])
		}
	}
	for v := range columns {
		columns[v] = next()
	}
	group, product := next(), VecPhysical(nil)
	if p.pairs {
		product = next()
	}
	TESTQ(k, k)
	JZ(LabelRef("done"))
	Label("one")
	for v := range columns {
		if p.wide() {
			VMOVDQU32(Mem{Base: b, Disp: v * p.width}, columns[v])
		} else {
			VMOVDQU(Mem{Base: b, Disp: v * p.width}, columns[v])
		}
	}
	for i := range mr {
		VPBROADCASTD(rows[i], group)
		for v := range columns {
			p.add(columns[v], group, acc[i*nv+v], product)
		}
	}
	ADDQ(Imm(uint64(nv*p.width)), b)
	ADDQ(Imm(4), a)
	DECQ(k)
	JNZ(LabelRef("one"))
	Label("done")
	c, ldc := parameter("c"), parameter("ldc")
	SHLQ(Imm(2), ldc)
	for i := range mr {
		for v := range nv {
			at := Mem{Base: c, Disp: v * p.width}
			if p.wide() {
				VMOVDQU32(acc[i*nv+v], at)
			} else {
				VMOVDQU(acc[i*nv+v], at)
			}
		}
		ADDQ(ldc, c)
	}
	end()
}

// add adds the products of signed and unsigned integers to sums.
func (p byteProduct) add(signed, unsigned, sum, product VecPhysical) {
	switch {
	case p.pairs:
		VPMADDWD(unsigned, signed, product)
		VPADDD(product, sum, sum)
	case p.vex:
		vpdpbusd(signed, unsigned, sum)
	default:
		VPDPBUSD(signed, unsigned, sum)
	}
}

var (
	ymm = []VecPhysical{Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7, Y8, Y9, Y10, Y11, Y12, Y13, Y14, Y15}
	zmm = []VecPhysical{
		Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7, Z8, Z9, Z10, Z11, Z12, Z13, Z14, Z15,
		Z16, Z17, Z18, Z19, Z20, Z21, Z22, Z23, Z24, Z25, Z26, Z27, Z28, Z29, Z30, Z31,
	}
)

// vpdpbusd encodes VEX.256.66.0F38.W0 50 /r of AVX-VNNI (Intel, Software Developer's
// Manual, volume 2C): it adds to each sum the products of four unsigned and four signed
// bytes.
func vpdpbusd(signed, unsigned, sum VecPhysical) {
	s, u, d := uint8(signed.PhysicalIndex()), uint8(unsigned.PhysicalIndex()), uint8(sum.PhysicalIndex())
	high := func(i, bit uint8) uint8 { // the bits of the prefix are inverted
		if i < 8 {
			return bit
		}
		return 0
	}
	for _, code := range []uint8{
		0xc4,
		high(d, 0x80) | 0x40 | high(s, 0x20) | 0x02,
		(^u&15)<<3 | 0x04 | 0x01,
		0x50,
		0xc0 | (d&7)<<3 | s&7,
	} {
		Instruction(&ir.Instruction{Opcode: "BYTE", Operands: []Op{U8(code)}})
	}
}
