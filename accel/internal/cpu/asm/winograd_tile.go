package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// blockTile generates a tile of a matmul whose left-hand side has interleaved channels: row
// i is vector i of a block, and blocks are apart. It prefetches the vectors of the next
// block and, some lines ahead, the right-hand side: misses of the CPU's own prefetcher cost
// a sixth of the time.
func blockTile(s isa, mr, nv int) {
	name := s.begin(fmt.Sprintf("blockTile%dx%d", mr, nv), "func(k int, a *float32, apart int, b, c *float32, next, add int)",
		fmt.Sprintf(" is blockTileGeneric for %d rows and %d vectors.", mr, nv))
	tabled("blockTile", s.name, mr, name)
	k, a, apart, b, c, next, add := parameter("k"), parameter("a"), parameter("apart"), parameter("b"), parameter("c"), parameter("next"), parameter("add")
	SHLQ(Imm(2), apart)
	SHLQ(Imm(2), next)
	t := newTile(s, mr, nv)
	const unroll, ahead = 4, 4096
	at, left := t.at, GP64()
	Label("block")
	MOVQ(a, at)
	MOVQ(U32(s.lanes()/unroll), left)
	loop("some")
	for u := range unroll {
		for v := range t.columns {
			VMOVUPS(Mem{Base: b, Disp: (u*nv + v) * s.width}, t.columns[v])
			PREFETCHT0(Mem{Base: b, Disp: (u*nv+v)*s.width + ahead})
		}
		for i := range mr {
			t.multiply(Mem{Base: at, Disp: i*s.width + u*4}, i)
		}
	}
	for i := range mr {
		PREFETCHT0(Mem{Base: at, Index: apart, Scale: 1, Disp: i * s.width})
	}
	ADDQ(Imm(unroll*4), at)
	ADDQ(I32(unroll*nv*s.width), b)
	DECQ(left)
	JNZ(LabelRef("some"))
	ADDQ(apart, a)
	DECQ(k)
	JNZ(LabelRef("block"))
	result := func(i, v int) Mem {
		m := Mem{Base: c, Disp: i * s.width}
		if v > 0 {
			m.Index, m.Scale = next, 1
		}
		return m
	}
	TESTQ(add, add)
	JZ(LabelRef("store"))
	for i, sum := range t.acc {
		VADDPS(result(i/nv, i%nv), sum, sum)
	}
	Label("store")
	for i, sum := range t.acc {
		VMOVUPS(sum, result(i/nv, i%nv))
	}
	end()
}

// sumTile generates a tile of a matmul of two sides with interleaved channels, summed over
// the vectors.
func sumTile(s isa, nv int) {
	mr := s.lanes() / 2
	s.begin(fmt.Sprintf("sumTile%dx%d", mr, nv), "func(k int, a, b *float32, next int, c *float32, ldc, add int)",
		fmt.Sprintf(" is sumTileGeneric for %d rows and %d vectors.", mr, nv))
	k, a, b, next, c, ldc, add := parameter("k"), parameter("a"), parameter("b"), parameter("next"), parameter("c"), parameter("ldc"), parameter("add")
	SHLQ(Imm(2), next)
	SHLQ(Imm(2), ldc)
	t := newTile(s, mr, nv)
	step := func(u int) {
		for v := range t.columns {
			m := Mem{Base: b, Disp: u * s.width}
			if v > 0 {
				m.Index, m.Scale = next, 1
			}
			VMOVUPS(m, t.columns[v])
		}
		for i := range mr {
			t.multiply(Mem{Base: a, Disp: u*s.width + i*4}, i)
		}
	}
	const unroll = 4
	blocks := GP64()
	MOVQ(k, blocks)
	SHRQ(Imm(2), blocks)
	JZ(LabelRef("rest"))
	loop("block")
	for u := range unroll {
		step(u)
	}
	s.by(unroll)(a)
	s.by(unroll)(b)
	DECQ(blocks)
	JNZ(LabelRef("block"))
	Label("rest")
	ANDQ(Imm(unroll-1), k)
	JZ(LabelRef("done"))
	Label("one")
	step(0)
	s.by(1)(a)
	s.by(1)(b)
	DECQ(k)
	JNZ(LabelRef("one"))
	Label("done")
	t.storeRows(c, ldc, add)
}
