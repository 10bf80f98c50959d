package ptxsim

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// perLane runs text that computes %r from %ra, the lane's value of the input.
func perLane(t *testing.T, body string, in [32]uint64) (out [32]uint64) {
	t.Helper()
	rows := make([][3]uint64, 32)
	for i, v := range in {
		rows[i][0] = v
	}
	copy(out[:], compute(t, body, rows))
	return out
}

func TestShuffles(t *testing.T) {
	t.Parallel()
	var in [32]uint64
	for i := range in {
		in[i] = uint64(100 + i)
	}
	for _, row := range []struct {
		ptx  string
		from func(lane int) int // lane that is read
	}{
		{"shfl.sync.bfly.b32 %r, %ra, 5, 31, -1;", func(i int) int { return i ^ 5 }},
		{"shfl.sync.idx.b32 %r, %ra, 9, 31, -1;", func(int) int { return 9 }},
		{"shfl.sync.idx.b32 %r, %ra, 3, 0x181f, -1;", func(i int) int { return i&^7 + 3 }}, // width 8
		{"shfl.sync.up.b32 %r, %ra, 4, 0, -1;", func(i int) int {
			if i < 4 {
				return i
			}
			return i - 4
		}},
		{"shfl.sync.down.b32 %r, %ra, 3, 0x100f, -1;", func(i int) int { // width 16
			if i&15 > 12 {
				return i
			}
			return i + 3
		}},
	} {
		for i, got := range perLane(t, row.ptx, in) {
			if want := uint64(100 + row.from(i)); got != want {
				t.Errorf("%s lane %d: %d, want %d", row.ptx, i, got, want)
			}
		}
		// The predicate reports whether the lane read within its segment.
		valid := strings.Replace(row.ptx, "%r,", "%r|%q,", 1) + " selp.u32 %r, 1, 0, %q; mov.u32 %r, %r;"
		for i, got := range perLane(t, valid, in) {
			moved := row.from(i) != i
			if moved && got != 1 {
				t.Errorf("%s lane %d: the predicate is %d", row.ptx, i, got)
			}
		}
	}
}

func TestVotesAndMatches(t *testing.T) {
	t.Parallel()
	var in [32]uint64
	var ballot uint64
	for i := range in {
		in[i] = uint64(i % 3)
		if in[i] == 1 {
			ballot |= 1 << i
		}
	}
	group := func(i int) (g uint64) {
		for j := range 32 {
			if in[j] == in[i] {
				g |= 1 << j
			}
		}
		return g
	}
	for _, row := range []struct {
		ptx  string
		want func(i int) uint64
	}{
		{"setp.eq.u32 %q, %ra, 1; vote.sync.ballot.b32 %r, %q, -1;", func(int) uint64 { return ballot }},
		{"setp.eq.u32 %q, %ra, 1; vote.sync.any.pred %p, %q, -1;", func(int) uint64 { return 1 }},
		{"setp.eq.u32 %q, %ra, 1; vote.sync.all.pred %p, %q, -1;", func(int) uint64 { return 0 }},
		{"setp.lt.u32 %q, %ra, 9; vote.sync.uni.pred %p, !%q, -1;", func(int) uint64 { return 1 }},
		{"match.any.sync.b32 %r, %ra, -1;", group},
		{"match.all.sync.b32 %r|%q, %ra, -1;", func(int) uint64 { return 0 }},
		{"redux.sync.add.u32 %r, %ra, -1;", func(int) uint64 { return 31 }},
		{"redux.sync.max.s32 %r, %ra, -1;", func(int) uint64 { return 2 }},
		{"redux.sync.xor.b32 %r, %ra, -1;", func(int) (x uint64) {
			for _, v := range in {
				x ^= v
			}
			return x
		}},
		{"activemask.b32 %t1; mov.u32 %r, %t1;", func(int) uint64 { return 0xffffffff }},
		{"elect.sync %r|%p, -1;", func(i int) uint64 { return 0 }},
		{"mov.u32 %r, %lanemask_lt;", func(i int) uint64 { return 1<<i - 1 }},
		{"bar.red.popc.u32 %r, 0, %q; setp.eq.u32 %q, %ra, 1; bar.red.popc.u32 %r, 0, %q; mov.u32 %r, %r;", func(int) uint64 { return 11 }},
	} {
		for i, got := range perLane(t, row.ptx, in) {
			if want := row.want(i); got != want {
				t.Errorf("%s lane %d: %#x, want %#x", row.ptx, i, got, want)
			}
		}
	}
}

// mmaCase is a shape and the layouts of the manual: where element i of a lane's
// fragment lies.
type mmaCase struct {
	name          string
	k             int
	a, b          string
	width         int // bits of an element
	placeA        func(g, t, i int) (row, column int)
	placeB        func(g, t, i int) (row, column int)
	countA        int // elements a lane has of a
	countB        int
	value         func(r *rand.Rand) (bits uint64, value float64)
	integers      bool
	accumulator16 bool
}

func TestMatrixMultiplication(t *testing.T) {
	t.Parallel()
	bfloat16 := func(r *rand.Rand) (uint64, float64) {
		b := uint64(math.Float32bits(r.Float32()-0.5) >> 16)
		return b, formatB16.decode(b)
	}
	half := func(r *rand.Rand) (uint64, float64) {
		b := format16.encode(r.Float64()-0.5, toNearest)
		return b, format16.decode(b)
	}
	tensor := func(r *rand.Rand) (uint64, float64) {
		b := uint64(math.Float32bits(r.Float32() - 0.5))
		return b, float64(value32(b &^ 0x1fff)) // the low bits are ignored
	}
	byte8 := func(r *rand.Rand) (uint64, float64) { b := uint64(r.IntN(256)); return b, float64(int8(b)) }
	a16 := func(g, t, i int) (int, int) { // .f16 and .bf16, k16
		row, column := g, 2*t+i&1
		if i&2 != 0 {
			row += 8
		}
		if i >= 4 {
			column += 8
		}
		return row, column
	}
	b16 := func(g, t, i int) (int, int) {
		row := 2*t + i&1
		if i >= 2 {
			row += 8
		}
		return row, g
	}
	atf := func(g, t, i int) (int, int) {
		row, column := g, t
		if i == 1 || i == 3 {
			row += 8
		}
		if i >= 2 {
			column += 4
		}
		return row, column
	}
	for _, c := range []mmaCase{
		{"m16n8k16 bf16", 16, "bf16", "bf16", 16, a16, b16, 8, 4, bfloat16, false, false},
		{"m16n8k16 f16", 16, "f16", "f16", 16, a16, b16, 8, 4, half, false, false},
		{"m16n8k16 f16 in f16", 16, "f16", "f16", 16, a16, b16, 8, 4, half, false, true},
		{"m16n8k8 f16", 8, "f16", "f16", 16, a16, b16, 4, 2, half, false, false},
		{"m16n8k8 tf32", 8, "tf32", "tf32", 32, atf, func(g, t, i int) (int, int) { return t + 4*i, g }, 4, 2, tensor, false, false},
		{"m16n8k4 tf32", 4, "tf32", "tf32", 32, atf, func(g, t, i int) (int, int) { return t, g }, 2, 1, tensor, false, false},
		{"m16n8k32 s8", 32, "s8", "s8", 8, func(g, t, i int) (int, int) {
			row, column := g, 4*t+i&3
			if i >= 4 && i < 8 || i >= 12 {
				row += 8
			}
			if i >= 8 {
				column += 16
			}
			return row, column
		}, func(g, t, i int) (int, int) {
			row := 4*t + i&3
			if i >= 4 {
				row += 16
			}
			return row, g
		}, 16, 8, byte8, true, false},
		{"m16n8k16 s8", 16, "s8", "s8", 8, func(g, t, i int) (int, int) {
			row := g
			if i >= 4 {
				row += 8
			}
			return row, 4*t + i&3
		}, func(g, t, i int) (int, int) { return 4*t + i&3, g }, 8, 4, byte8, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.check(t)
		})
	}
}

func (c *mmaCase) check(t *testing.T) {
	r := rand.New(rand.NewPCG(3, uint64(c.k)))
	var a [16][32]uint64
	var b [32][8]uint64
	var x [16][32]float64
	var y [32][8]float64
	for i := range 16 {
		for k := range c.k {
			a[i][k], x[i][k] = c.value(r)
		}
	}
	for k := range c.k {
		for j := range 8 {
			b[k][j], y[k][j] = c.value(r)
		}
	}
	per := 32 / c.width
	regsA, regsB, regsC := c.countA/per, c.countB/per, 4
	typ := "f32"
	switch {
	case c.integers:
		typ = "s32"
	case c.accumulator16:
		typ, regsC = "f16", 2
	}
	names := func(from, n int) string {
		var list []string
		for i := range n {
			list = append(list, "%r"+string(rune('0'+(from+i)/10))+string(rune('0'+(from+i)%10)))
		}
		return strings.ReplaceAll(strings.Join(list, ","), "%r0", "%r")
	}
	var text strings.Builder
	text.WriteString("mad.wide.u32 %d3, %r1, 32, %d1; mov.u32 %r2, 0; mov.u32 %r3, 0; mov.u32 %r4, 0; mov.u32 %r5, 0;\n")
	for i := range regsA + regsB {
		text.WriteString("ld.global.u32 " + names(6+i, 1) + ", [%d3+" + names(4*i, 1)[2:] + "];\n")
	}
	text.WriteString("mma.sync.aligned.m16n8k" + names(c.k, 1)[2:] + ".row.col." + typ + "." + c.a + "." + c.b + "." + typ +
		" {" + names(2, regsC) + "}, {" + names(6, regsA) + "}, {" + names(6+regsA, regsB) + "}, {" + names(2, regsC) + "};\n")
	text.WriteString("mad.wide.u32 %d4, %r1, 16, %d2; st.global.v4.u32 [%d4], {%r2, %r3, %r4, %r5};")
	m := newSimulator(t)
	k := m.load(kernelOf(text.String())).Kernel("k")
	in := make([]uint32, 32*8)
	for lane := range 32 {
		g, id := lane>>2, lane&3
		for i := range c.countA {
			row, column := c.placeA(g, id, i)
			in[8*lane+i/per] |= uint32(a[row][column]) << (i % per * c.width)
		}
		for i := range c.countB {
			row, column := c.placeB(g, id, i)
			in[8*lane+regsA+i/per] |= uint32(b[row][column]) << (i % per * c.width)
		}
	}
	out := m.alloc(16 * 32)
	m.run(k, Dim{}, Dim{X: 32}, put(m, in), out)
	got := get[uint32](m, out, 4*32)
	for lane := range 32 {
		for i := range 4 {
			row, column := lane>>2, 2*(lane&3)+i&1
			if i >= 2 {
				row += 8
			}
			want := 0.0
			for p := range c.k {
				want += x[row][p] * y[p][column]
			}
			v := got[4*lane+i]
			value, tolerance := float64(math.Float32frombits(v)), 1e-5
			switch {
			case c.integers:
				value = float64(int32(v))
			case c.accumulator16:
				value, tolerance = format16.decode(uint64(got[4*lane+i/2]>>(16*(i&1))&0xffff)), 2e-3
			}
			if math.Abs(value-want) > tolerance {
				t.Fatalf("d[%d][%d] = %v, want %v", row, column, value, want)
			}
		}
	}
}

func TestLoadAndStoreMatrices(t *testing.T) {
	t.Parallel()
	m := newSimulator(t)
	// Lane i stores row i of 32 rows of 8 elements; four matrices are loaded,
	// the second time transposed, and stored transposed again.
	k := m.load(strings.Replace(kernelOf(`
	mad.wide.u32 %d3, %r1, 16, %d1; ld.global.v4.u32 {%r2,%r3,%r4,%r5}, [%d3];
	shl.b32 %r6, %r1, 4; mov.u32 %r7, s; add.u32 %r6, %r6, %r7;
	st.shared.v4.u32 [%r6], {%r2,%r3,%r4,%r5}; bar.warp.sync -1;
	ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r8,%r9,%r10,%r11}, [%r6];
	mad.wide.u32 %d4, %r1, 16, %d2; st.global.v4.u32 [%d4], {%r8,%r9,%r10,%r11};
	ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r12,%r13,%r14,%r15}, [%r6];
	movmatrix.sync.aligned.m8n8.trans.b16 %r16, %r12;
	st.global.u32 [%d4+512], %r16;
	bar.warp.sync -1;
	stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%r6], {%r12,%r13,%r14,%r15}; bar.warp.sync -1;
	ld.shared.v4.u32 {%r2,%r3,%r4,%r5}, [%r6]; st.global.v4.u32 [%d4+1024], {%r2,%r3,%r4,%r5};`), ".b32 s[64]", ".b32 s[128]", 1)).Kernel("k")
	in := make([]uint16, 32*8)
	for i := range in {
		in[i] = uint16(i)
	}
	out := m.alloc(4 * 128 * 4)
	m.run(k, Dim{}, Dim{X: 32}, put(m, in), out)
	got := get[uint16](m, out, 2*128)
	for lane := range 32 {
		for j := range 4 {
			for e := range 2 {
				if v, want := got[8*lane+2*j+e], uint16(64*j+lane/4*8+lane%4*2+e); v != want {
					t.Fatalf("matrix %d, lane %d: %d, want %d", j, lane, v, want)
				}
			}
		}
	}
	back := make([]uint32, 0)
	for lane := range 32 {
		back = append(back, get[uint32](m, out+512+uint64(16*lane), 1)...)
	}
	for lane, v := range back { // transposed twice
		if want := uint32(lane/4*8+lane%4*2) | uint32(lane/4*8+lane%4*2+1)<<16; v != want {
			t.Fatalf("movmatrix, lane %d: %#x, want %#x", lane, v, want)
		}
	}
	if v := get[uint16](m, out+1024, 256); !slices.Equal(v, in) {
		t.Errorf("stored back: %v", v[:16])
	}
}

func TestAtomics(t *testing.T) {
	t.Parallel()
	m := newSimulator(t)
	k := m.load(kernelOf(`
	red.global.add.u32 [%d1], 1;
	atom.global.max.s32 %r2, [%d1+4], %r1;
	atom.global.add.f32 %r3, [%d1+8], 0f3F000000;
	atom.global.add.noftz.f16x2 %r4, [%d1+12], 0x3c004000;
	atom.global.add.u64 %d3, [%d1+16], 3;
	red.global.and.b32 [%d1+24], 0xfffffff0;
	atom.global.inc.u32 %r5, [%d1+28], 4;
	A: ld.volatile.global.u16 %h1, [%d1+34]; add.u16 %h2, %h1, 1; atom.global.cas.b16 %h3, [%d1+34], %h1, %h2; setp.ne.u16 %p1, %h3, %h1; @%p1 bra A;
	red.global.min.u64 [%d1+40], %d1;`)).Kernel("k")
	words := make([]uint32, 16)
	words[6], words[10], words[11] = 0xff, 0xffffffff, 0xffffffff
	x := put(m, words)
	const threads = 64 * 40
	if m.run(k, Dim{X: 40}, Dim{X: 64}, x, 0); true {
		words = get[uint32](m, x, 16)
	}
	sum := format16.encode(2048, toNearest) // adding 1 stops having an effect at 2048
	want := []uint32{threads, 63, math.Float32bits(threads / 2), uint32(sum)<<16 | uint32(format16.encode(4096, toNearest)), 3 * threads, 0, 0xf0, threads % 5, threads << 16, 0, uint32(x), uint32(x >> 32)}
	if !slices.Equal(words[:12], want) {
		t.Errorf("got  %#x\nwant %#x", words[:12], want)
	}
}
