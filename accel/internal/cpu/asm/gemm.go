package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func gemm() {
	// AVX-512: at most 28 accumulators, 2 columns of b, 2 broadcasts: 32 registers.
	tiles(avx512, 14)
	// AVX2: at most 12 accumulators, 2 columns of b, 2 broadcasts: 16 registers.
	tiles(avx2, 6)
	interleave8()
	for rows := 4; rows <= 6; rows++ {
		interleaveFew(rows)
	}
	copyRows()
	copyFew()
	for _, vectors := range []int{1, 2, 4} {
		copyPanels(vectors)
	}
	everySecond()
	windows()
	storeEdge(avx2)
	storeEdge(avx512)
	peak(avx2)
	peak(avx512)
	pause()
	cpuid()
}

// tiles generates the tiles of one and two vectors' width and up to a number of rows.
func tiles(s isa, highest int) {
	for mr := 1; mr <= highest; mr++ {
		for nv := 1; nv <= 2; nv++ {
			tile(s, mr, nv)
			if s.wide() {
				rowTile(s, mr, nv)
			}
		}
	}
}

// Bits of a tile's mode, as in package cpu.
const (
	addResult = 1
	clampZero = 2
)

// tile generates c (+)= a·b, for a number of tiles that follow each other at constant distances. Rows of a are row elements apart and
// its columns step elements; rows of b are next elements apart, so packed panels and matrices in memory both
// work. The accumulators stay in registers over the whole depth. Meanwhile the tile
// prefetches the lines of the result and the elements of a for the next tile, one line per
// step: they begin at ahead and are stride elements apart.
func tile(s isa, mr, nv int) {
	name := begin(fmt.Sprintf("tile%dx%d%s", mr, nv*s.lanes(), s.name), "func(k int, a *float32, row, step int, b *float32, next int, c *float32, ldc, mode int, bias, ahead *float32, stride, count, nextA, nextC, nextAhead int)", fmt.Sprintf(" is genericTile for %d rows and %d columns.", mr, nv*s.lanes()))
	tabled("tile", s.name, mr, name)
	Label("tile")
	t := newTile(s, mr, nv)
	t.prefetch()
	k, a, b, step, next, ahead, stride := parameter("k"), parameter("a"), parameter("b"), parameter("step"), parameter("next"), parameter("ahead"), parameter("stride")
	for _, elements := range []Register{step, next, stride} {
		SHLQ(Imm(2), elements)
	}
	rows := rowAddresses(mr, a, "row", 2)
	advance("a", "nextA") // here, so that they are known when the next tile begins
	advance("ahead", "nextAhead")
	TESTQ(k, k)
	JZ(LabelRef("done"))
	loop("one")
	for v := range t.columns {
		VMOVUPS(Mem{Base: b, Disp: v * s.width}, t.columns[v])
	}
	for i := range mr {
		t.multiply(rows[i], i)
	}
	PREFETCHT1(Mem{Base: ahead})
	ADDQ(stride, ahead)
	ADDQ(next, b)
	ADDQ(step, a)
	DECQ(k)
	JNZ(LabelRef("one"))
	Label("done")
	t.locate() // again: the loop uses its registers
	bias := parameter("bias")
	t.addResult()
	t.finish(bias)
	advance("c", "nextC")
	count := parameter("count")
	DECQ(count)
	Store(count, Param("count"))
	JNZ(LabelRef("tile"))
	end()
}

// advance adds a parameter, in elements, to a pointer that is one, for the next tile.
func advance(pointer, by string) {
	at, err := Param(pointer).Resolve()
	if err != nil {
		panic(err)
	}
	elements := parameter(by)
	SHLQ(Imm(2), elements)
	ADDQ(elements, at.Addr)
}

// finish adds the bias, applies the activation, and stores the result.
func (t *tileState) finish(bias Register) {
	Label("bias")
	TESTQ(bias, bias)
	JZ(LabelRef("clamp"))
	for v := range t.columns {
		VMOVUPS(Mem{Base: bias, Disp: v * t.width}, t.columns[v])
	}
	for i := range t.acc {
		VADDPS(t.columns[i%t.nv], t.acc[i], t.acc[i])
	}
	Label("clamp")
	TESTQ(U32(clampZero), parameter("mode"))
	JZ(LabelRef("store"))
	zero := t.zero()
	for i := range t.acc {
		VMAXPS(t.acc[i], zero, t.acc[i]) // returns the second operand, the sum, if it is NaN
	}
	Label("store")
	t.store()
}

// rowTile generates tile for an unpacked right-hand side: its vectors start at left and at
// right, and its rows are at offsets from there.
func rowTile(s isa, mr, nv int) {
	name := begin(fmt.Sprintf("rowTile%dx%d%s", mr, nv*s.lanes(), s.name), "func(k int, a, left, right *float32, offsets *int, c *float32, ldc, mode int)", fmt.Sprintf(" is rowTileGeneric for %d rows and %d columns.", mr, nv*s.lanes()))
	tabled("rowTile", s.name, mr, name)
	k, a := parameter("k"), parameter("a")
	from := []Register{parameter("left")}
	if nv > 1 {
		from = append(from, parameter("right"))
	}
	offsets := parameter("offsets")
	t := newTile(s, mr, nv)
	t.prefetch()
	TESTQ(k, k)
	JZ(LabelRef("done"))
	at := GP64()
	loop("one")
	MOVQ(Mem{Base: offsets}, at)
	for v := range t.columns {
		VMOVUPS(Mem{Base: from[v], Index: at, Scale: 4}, t.columns[v])
	}
	for i := range mr {
		t.multiply(Mem{Base: a, Disp: i * 4}, i)
	}
	ADDQ(Imm(8), offsets)
	ADDQ(Imm(uint64(mr*4)), a)
	DECQ(k)
	JNZ(LabelRef("one"))
	Label("done")
	t.addResult()
	Label("bias")
	t.store()
	end()
}

// tileState is the registers of a tile.
type tileState struct {
	isa
	mr, nv             int
	c, ldc, at         Register
	acc, columns, rows []VecVirtual
}

func newTile(s isa, mr, nv int) *tileState {
	t := &tileState{isa: s, mr: mr, nv: nv, at: GP64()}
	t.acc, t.columns, t.rows = s.cleared(mr*nv), s.registers(nv), s.registers(2)
	return t
}

// locate loads the address of the result.
func (t *tileState) locate() {
	t.c = parameter("c")
	t.ldc = parameter("ldc")
	SHLQ(Imm(2), t.ldc)
}

func (t *tileState) prefetch() {
	t.locate()
	MOVQ(t.c, t.at)
	for i := range t.mr {
		for v := 0; v < t.nv*t.width; v += 64 {
			PREFETCHT0(Mem{Base: t.at, Disp: v})
		}
		if i+1 < t.mr {
			ADDQ(t.ldc, t.at)
		}
	}
}

// multiply adds one step of the depth to row i.
func (t *tileState) multiply(a Mem, i int) {
	row := t.rows[i%2]
	VBROADCASTSS(a, row)
	for v := range t.columns {
		VFMADD231PS(row, t.columns[v], t.acc[i*t.nv+v])
	}
}

// addResult adds c if mode selects accumulation, and jumps to bias.
func (t *tileState) addResult() {
	TESTQ(U32(addResult), parameter("mode"))
	JZ(LabelRef("bias"))
	t.addRows()
}

// addRows adds c to the tile.
func (t *tileState) addRows() {
	MOVQ(t.c, t.at)
	for i := range t.mr {
		for v := range t.nv {
			VADDPS(Mem{Base: t.at, Disp: v * t.width}, t.acc[i*t.nv+v], t.acc[i*t.nv+v])
		}
		ADDQ(t.ldc, t.at)
	}
}

func (t *tileState) store() {
	for i := range t.mr {
		for v := range t.nv {
			VMOVUPS(t.acc[i*t.nv+v], Mem{Base: t.c, Disp: v * t.width})
		}
		ADDQ(t.ldc, t.c)
	}
}

// storeRows writes the tile to c, whose rows are ldc bytes apart, or adds it if add is not 0, and returns.
func (t *tileState) storeRows(c, ldc, add Register) {
	t.c, t.ldc = c, ldc
	TESTQ(add, add)
	JZ(LabelRef("store"))
	t.addRows()
	Label("store")
	t.store()
	end()
}

// interleave8 transposes 8 rows of a depth that is a multiple of 8 into a
// panel of any width.
func interleave8() {
	begin("interleave8", "func(dst, src *float32, row, k, w int)", " writes dst[p*w+i] = src[i*row+p] for i < 8 and p < k, a multiple of 8.")
	dst, src, row, k, w := parameter("dst"), parameter("src"), parameter("row"), parameter("k"), parameter("w")
	rows, advance := avx2.rows(src, row)
	SHLQ(Imm(2), w)
	SHRQ(Imm(3), k)
	JZ(LabelRef("done"))
	Label("block")
	in := avx2.registers(8)
	for i := range in {
		VMOVUPS(rows[i], in[i])
	}
	for _, column := range avx2.transposed(in) {
		VMOVUPS(column, Mem{Base: dst})
		ADDQ(w, dst)
	}
	advance()
	DECQ(k)
	JNZ(LabelRef("block"))
	Label("done")
	end()
}

// interleaveFew transposes 4 to 6 rows of a depth that is a multiple of 8 into a panel of that width. Each column is stored as eight
// lanes, of which the next column overwrites what is too much, except for the last of each eight.
func interleaveFew(rows int) {
	begin(fmt.Sprintf("interleave%d", rows), "func(dst, src *float32, row, k int)", fmt.Sprintf(" writes dst[p*%d+i] = src[i*row+p] for i < %d and p < k, a multiple of 8.", rows, rows))
	dst, src, row, k := parameter("dst"), parameter("src"), parameter("row"), parameter("k")
	from, advance := avx2.rows(src, row)
	SHRQ(Imm(3), k)
	JZ(LabelRef("done"))
	Label("block")
	r := avx2.registers(rows)
	for i := range r {
		VMOVUPS(from[i], r[i])
		PREFETCHT0(from[i].Offset(256))
	}
	first := avx2.transposedFours(r[:4])
	var rest []VecVirtual // columns of the rows from 4 on, in the low elements of each half
	switch rows {
	case 5:
		for _, imm := range []uint64{0x00, 0x55, 0xaa, 0xff} {
			rest = append(rest, avx2.shuffle(imm, r[4], r[4]))
		}
	case 6:
		e, f := avx2.lower(r[4], r[5]), avx2.upper(r[4], r[5])
		rest = []VecVirtual{e, avx2.shuffle(0xee, e, e), f, avx2.shuffle(0xee, f, f)}
	}
	for p := range 8 {
		to := Mem{Base: dst, Disp: 4 * p * rows}
		half := uint64(p / 4)
		part := func(v VecVirtual) Register { // four rows of the column
			if half == 0 {
				return v.AsX()
			}
			x := XMM()
			VEXTRACTF128(Imm(1), v, x)
			return x
		}
		if rows == 4 {
			VMOVUPS(part(first[p%4]), to)
			continue
		}
		if p < 7 {
			out := YMM()
			VPERM2F128(Imm(0x20+half*0x11), rest[p%4], first[p%4], out)
			VMOVUPS(out, to)
			continue
		}
		VMOVUPS(part(first[3]), to)
		to.Disp += 16
		if rows == 5 {
			VMOVSS(part(rest[3]), to)
		} else {
			VMOVLPS(part(rest[3]), to)
		}
	}
	advance()
	ADDQ(U32(32*rows), dst)
	DECQ(k)
	JNZ(LabelRef("block"))
	Label("done")
	end()
}

// copyFew copies rows of 4 to 8 elements as two vectors of four, which may overlap.
func copyFew() {
	begin("copyFew", "func(dst, src *float32, k, q, w, col int)", " writes dst[p*w+i] = src[p*col+i] for i < q, 4 to 8, and p < k.")
	dst, src, k, q, w, col := parameter("dst"), parameter("src"), parameter("k"), parameter("q"), parameter("w"), parameter("col")
	SHLQ(Imm(2), w)
	SHLQ(Imm(2), col)
	TESTQ(k, k)
	JZ(LabelRef("done"))
	first, last := XMM(), XMM()
	Label("row")
	VMOVUPS(Mem{Base: src}, first)
	VMOVUPS(Mem{Base: src, Index: q, Scale: 4, Disp: -16}, last)
	VMOVUPS(first, Mem{Base: dst})
	VMOVUPS(last, Mem{Base: dst, Index: q, Scale: 4, Disp: -16})
	ADDQ(col, src)
	ADDQ(w, dst)
	DECQ(k)
	JNZ(LabelRef("row"))
	Label("done")
	RET()
}

// copyRows copies rows of at least 8 elements, eight at a time; the last eight may overlap
// the previous ones.
func copyRows() {
	begin("copyRows", "func(dst, src *float32, k, q, w, col int)", " writes dst[p*w+i] = src[p*col+i] for i < q, at least 8, and p < k.")
	dst, src, k, last, w, col := parameter("dst"), parameter("src"), parameter("k"), parameter("q"), parameter("w"), parameter("col")
	SHLQ(Imm(2), last)
	SUBQ(Imm(32), last)
	SHLQ(Imm(2), w)
	SHLQ(Imm(2), col)
	TESTQ(k, k)
	JZ(LabelRef("done"))
	at := GP64()
	eight := YMM()
	Label("row")
	XORQ(at, at)
	JMP(LabelRef("more"))
	Label("eight")
	VMOVUPS(Mem{Base: src, Index: at, Scale: 1}, eight)
	VMOVUPS(eight, Mem{Base: dst, Index: at, Scale: 1})
	ADDQ(Imm(32), at)
	Label("more")
	CMPQ(at, last)
	JL(LabelRef("eight"))
	VMOVUPS(Mem{Base: src, Index: last, Scale: 1}, eight)
	VMOVUPS(eight, Mem{Base: dst, Index: last, Scale: 1})
	ADDQ(col, src)
	ADDQ(w, dst)
	DECQ(k)
	JNZ(LabelRef("row"))
	Label("done")
	end()
}

// everySecond copies every second element of rows of at least 8 results, eight at a time; the last eight may overlap the previous ones.
func everySecond() {
	begin("everySecond", "func(dst, src *float32, rows, n, to, from int)", " writes dst[r*to+i] = src[r*from+2*i] for i < n, at least 8, and r < rows. It reads no element after the last of a row.")
	dst, src, rows, last, to, from := parameter("dst"), parameter("src"), parameter("rows"), parameter("n"), parameter("to"), parameter("from")
	SHLQ(Imm(2), last)
	SUBQ(Imm(32), last)
	SHLQ(Imm(2), to)
	SHLQ(Imm(2), from)
	TESTQ(rows, rows)
	JZ(LabelRef("done"))
	at := GP64()
	eight := func() {
		a, b := YMM(), YMM()
		VMOVUPS(Mem{Base: src, Index: at, Scale: 2}, a)
		VMOVUPS(Mem{Base: src, Index: at, Scale: 2, Disp: 28}, b) // the elements before those that are taken
		VSHUFPS(Imm(0xd8), b, a, a)
		VPERMPD(Imm(0xd8), a, a)
		VMOVUPS(a, Mem{Base: dst, Index: at, Scale: 1})
	}
	Label("row")
	XORQ(at, at)
	JMP(LabelRef("more"))
	Label("eight")
	eight()
	ADDQ(Imm(32), at)
	Label("more")
	CMPQ(at, last)
	JL(LabelRef("eight"))
	MOVQ(last, at)
	eight()
	ADDQ(from, src)
	ADDQ(to, dst)
	DECQ(rows)
	JNZ(LabelRef("row"))
	Label("done")
	end()
}

func pause() {
	TEXT("pause", NOSPLIT, "func(n int)")
	Doc("pause waits n times for some tens of cycles, without traffic on the memory bus.")
	n := parameter("n")
	Label("loop")
	PAUSE()
	DECQ(n)
	JNZ(LabelRef("loop"))
	RET()
}

func cpuid() {
	TEXT("cpuid", NOSPLIT, "func(leaf, subleaf uint32) (a, b, c, d uint32)")
	Doc("cpuid returns what the CPU reports about itself.")
	Load(Param("leaf"), EAX)
	Load(Param("subleaf"), ECX)
	CPUID()
	Store(EAX, Return("a"))
	Store(EBX, Return("b"))
	Store(ECX, Return("c"))
	Store(EDX, Return("d"))
	RET()
}

// rowAddresses returns the addresses of mr rows from a on. A parameter is the distance
// between them in elements of 1<<shift bytes.
func rowAddresses(mr int, a Register, distance string, shift uint64) []Mem {
	// Odd multiples of the distance; scaled addressing gives the even ones.
	odd := map[int]Register{}
	if mr > 1 {
		one := parameter(distance)
		if shift > 0 {
			SHLQ(Imm(shift), one)
		}
		odd[1] = one
		for i := 3; i < mr; i += 2 {
			odd[i] = GP64()
			LEAQ(Mem{Base: odd[i-2], Index: one, Scale: 2}, odd[i])
		}
	}
	rows := make([]Mem, mr)
	for i := range rows {
		rows[i] = Mem{Base: a}
		if i > 0 {
			scale := i & -i
			rows[i] = Mem{Base: a, Index: odd[i/scale], Scale: uint8(scale)}
		}
	}
	return rows
}
