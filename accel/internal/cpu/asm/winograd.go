package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// winograd generates the functions of convolutions by Winograd's transforms, and those that
// interleave channels.
func winograd() {
	for _, s := range []isa{avx2, avx512} {
		s.interleave()
		s.deinterleave()
		s.sandwiches()
		highest := 6
		if s.wide() {
			highest = 14
		}
		for mr := 1; mr <= highest; mr++ {
			for nv := 1; nv <= 2; nv++ {
				blockTile(s, mr, nv)
			}
		}
		for nv := 1; nv <= 2; nv++ {
			sumTile(s, nv)
		}
	}
}

// Interpolation points: 0, ±near, ±far and infinity.
const (
	near  = 0.75
	far   = 1.5
	near2 = near * near
	far2  = far * far
	// Products of a point's distances to the other points.
	nilled   = near2 * far2
	nearest  = 2 * near2 * (near2 - far2)
	farthest = 2 * far2 * (far2 - near2)
)

// side is a row of values of a transform, in memory or in registers.
type side interface {
	read(i int) VecVirtual // not to be changed
	take(i int) VecVirtual // a copy
}

// part computes some of a line's outputs.
type part struct {
	outputs []int
	body    func(s isa, x side) []VecVirtual
}

// line is a linear map of values, in parts that share their work.
type line struct {
	in, out int
	parts   []part
}

// pair computes sum and difference.
func (s isa) pair(q, r VecVirtual) []VecVirtual {
	sum := s.register()
	VADDPS(r, q, sum)
	VSUBPS(r, q, q)
	return []VecVirtual{sum, q}
}

// add computes d += c·x.
func (s isa) addTimes(c float64, x, d VecVirtual) {
	if s.wide() {
		VFMADD231PS_BCST(constant(c), x, d)
	} else {
		VFMADD231PS(spread(c), x, d)
	}
}

// times computes d *= c.
func (s isa) times(c float64, d VecVirtual) {
	if s.wide() {
		VMULPS_BCST(constant(c), d, d)
	} else {
		VMULPS(spread(c), d, d)
	}
}

var spreads = map[float64]Mem{}

// spread returns a vector of eight equal values in read-only memory.
func spread(c float64) Mem {
	m, ok := spreads[c]
	if !ok {
		b := math.Float32bits(float32(c))
		m = GLOBL(fmt.Sprintf("f32x8_%08x", b), 8|16)
		for i := range 8 {
			DATA(4*i, U32(b))
		}
		spreads[c] = m
	}
	return m
}

// Outputs of a polynomial's values: those at ±p are computed from its even and odd parts.
func (s isa) inputPair(p, other float64) func(isa, side) []VecVirtual {
	return func(s isa, x side) []VecVirtual {
		q := x.take(4)
		s.addTimes(-other*other, x.read(2), q)
		r := x.take(3)
		s.addTimes(-other*other, x.read(1), r)
		s.times(p, r)
		return s.pair(q, r)
	}
}

// inputLine is Bᵀ.
func (s isa) inputLine() line {
	end := func(s isa, x side, i int) VecVirtual {
		r := x.take(i + 4)
		s.addTimes(-near2-far2, x.read(i+2), r)
		s.addTimes(near2*far2, x.read(i), r)
		return r
	}
	return line{6, 6, []part{
		{[]int{0, 5}, func(s isa, x side) []VecVirtual { return []VecVirtual{end(s, x, 0), end(s, x, 1)} }},
		{[]int{1, 2}, s.inputPair(near, far)},
		{[]int{3, 4}, s.inputPair(far, near)},
	}}
}

// sums computes x1 + x2 and x3 + x4, or the differences.
func (s isa) sums(x side, difference bool) (q, r VecVirtual) {
	q, r = x.take(1), x.take(3)
	if difference {
		VSUBPS(x.read(2), q, q)
		VSUBPS(x.read(4), r, r)
	} else {
		VADDPS(x.read(2), q, q)
		VADDPS(x.read(4), r, r)
	}
	return q, r
}

// combined computes a·q + b·r in q.
func (s isa) combined(a float64, q VecVirtual, b float64, r VecVirtual) VecVirtual {
	s.times(a, q)
	s.addTimes(b, r, q)
	return q
}

// outputLine is Aᵀ.
func (s isa) outputLine() line {
	return line{6, 4, []part{
		{[]int{0, 2}, func(s isa, x side) []VecVirtual {
			q, r := s.sums(x, false)
			y := x.take(0)
			VADDPS(q, y, y)
			VADDPS(r, y, y)
			return []VecVirtual{y, s.combined(near2, q, far2, r)}
		}},
		{[]int{1, 3}, func(s isa, x side) []VecVirtual {
			q, r := s.sums(x, true)
			y := x.take(5)
			s.addTimes(near*near2, q, y)
			s.addTimes(far*far2, r, y)
			return []VecVirtual{s.combined(near, q, far, r), y}
		}},
	}}
}

// slopeLine is A.
func (s isa) slopeLine() line {
	at := func(p float64) func(isa, side) []VecVirtual {
		return func(s isa, x side) []VecVirtual {
			q := x.take(0)
			s.addTimes(p*p, x.read(2), q)
			r := x.take(1)
			s.times(p, r)
			s.addTimes(p*p*p, x.read(3), r)
			return s.pair(q, r)
		}
	}
	return line{4, 6, []part{
		{[]int{0, 5}, func(_ isa, x side) []VecVirtual { return []VecVirtual{x.take(0), x.take(3)} }},
		{[]int{1, 2}, at(near)},
		{[]int{3, 4}, at(far)},
	}}
}

// weightLine is G.
func (s isa) weightLine() line {
	at := func(p, norm float64) func(isa, side) []VecVirtual {
		return func(s isa, x side) []VecVirtual {
			q := x.take(0)
			s.times(1/norm, q)
			s.addTimes(p*p/norm, x.read(2), q)
			r := x.take(1)
			s.times(p/norm, r)
			return s.pair(q, r)
		}
	}
	return line{3, 6, []part{
		{[]int{0, 5}, func(s isa, x side) []VecVirtual {
			r := x.take(0)
			s.times(1/nilled, r)
			return []VecVirtual{r, x.take(2)}
		}},
		{[]int{1, 2}, at(near, nearest)},
		{[]int{3, 4}, at(far, farthest)},
	}}
}

// gradientLine is Gᵀ.
func (s isa) gradientLine() line {
	return line{6, 3, []part{
		{[]int{0, 2}, func(s isa, x side) []VecVirtual {
			q, r := s.sums(x, false)
			first, last := x.take(0), x.take(5)
			s.times(1/nilled, first)
			s.addTimes(1/nearest, q, first)
			s.addTimes(1/farthest, r, first)
			s.addTimes(near2/nearest, q, last)
			s.addTimes(far2/farthest, r, last)
			return []VecVirtual{first, last}
		}},
		{[]int{1}, func(s isa, x side) []VecVirtual {
			q, r := s.sums(x, true)
			return []VecVirtual{s.combined(near/nearest, q, far/farthest, r)}
		}},
	}}
}

// held are values in registers.
type held struct {
	isa
	x []VecVirtual
}

func (h held) read(i int) VecVirtual { return h.x[i] }

func (h held) take(i int) VecVirtual {
	r := h.register()
	VMOVAPS(h.x[i], r)
	return r
}

// stored are values in memory.
type stored struct {
	isa
	at func(i int) Mem
}

func (m stored) read(i int) VecVirtual { return m.take(i) }

func (m stored) take(i int) VecVirtual {
	r := m.register()
	VMOVUPS(m.at(i), r)
	return r
}

// block is a square of vectors in memory.
type block struct {
	at   func(row, column int) Mem
	next func() // advances to the next one
}

// sandwich computes M·X·Mᵀ for a line M and a square X. Intermediate results of a few rows
// of M stay in registers.
func (s isa) sandwich(l line, from, to block, finish func(VecVirtual)) {
	for _, p := range l.parts {
		rows := make([][]VecVirtual, len(p.outputs))
		for j := range l.in {
			for i, v := range p.body(s, stored{s, func(i int) Mem { return from.at(i, j) }}) {
				rows[i] = append(rows[i], v)
			}
		}
		for i, row := range p.outputs {
			for _, q := range l.parts {
				for j, v := range q.body(s, held{s, rows[i]}) {
					if finish != nil {
						finish(v)
					}
					VMOVUPS(v, to.at(row, q.outputs[j]))
				}
			}
		}
	}
}

// planes returns the 36 elements of a square, step apart; the next square follows.
func (s isa) planes(base Register, step Register, next func(Register)) block {
	SHLQ(Imm(2), step)
	step3, step5 := GP64(), GP64()
	LEAQ(Mem{Base: step, Index: step, Scale: 2}, step3)
	LEAQ(Mem{Base: step, Index: step, Scale: 4}, step5)
	rows := []Register{base}
	for i := 1; i < 6; i++ {
		r := GP64()
		LEAQ(Mem{Base: rows[i-1], Index: step3, Scale: 2}, r)
		rows = append(rows, r)
	}
	return block{
		at: func(i, j int) Mem {
			m := Mem{Base: rows[i], Index: step, Scale: 1}
			switch j {
			case 0:
				return Mem{Base: rows[i]}
			case 2, 4:
				m.Scale = uint8(j)
			case 3:
				m.Index = step3
			case 5:
				m.Index = step5
			}
			return m
		},
		next: func() {
			for _, r := range rows {
				next(r)
			}
		},
	}
}

// by adds a constant number of vectors.
func (s isa) by(vectors int) func(Register) {
	return func(r Register) { ADDQ(I32(vectors*s.width), r) }
}

// image returns the elements of a square in rows of a pitch; the next square is some vectors to
// the right.
func (s isa) image(base, pitch Register, rows, vectors int) block {
	SHLQ(Imm(2), pitch)
	bases := []Register{base}
	for i := 3; i < rows; i += 3 {
		r := GP64()
		LEAQ(Mem{Base: bases[len(bases)-1], Index: pitch, Scale: 2}, r)
		ADDQ(pitch, r)
		bases = append(bases, r)
	}
	return block{
		at: func(i, j int) Mem {
			m := Mem{Base: bases[i/3], Disp: j * s.width}
			if i%3 > 0 {
				m.Index, m.Scale = pitch, uint8(i%3)
			}
			return m
		},
		next: func() {
			for _, r := range bases {
				s.by(vectors)(r)
			}
		},
	}
}

// flat returns the nine contiguous elements of a square.
func (s isa) flat(base Register) block {
	return block{
		at:   func(i, j int) Mem { return Mem{Base: base, Disp: (3*i + j) * s.width} },
		next: func() { s.by(9)(base) },
	}
}

func (s isa) begin(name, signature, doc string) string {
	name += s.name
	TEXT(name, NOSPLIT, signature)
	Pragma("noescape")
	Doc(name + doc)
	return name
}

// each runs a body n times; n is at least one.
func each(n Register, body func()) {
	Label("more")
	body()
	DECQ(n)
	JNZ(LabelRef("more"))
	VZEROUPPER()
	RET()
}

func parameter(name string) Register { return Load(Param(name), GP64()) }

func (s isa) sandwiches() {
	for _, f := range []struct {
		name          string
		line          line
		rows, vectors int
	}{{"tileInput", s.inputLine(), 6, 4}, {"tileSlope", s.slopeLine(), 4, 4}} {
		s.begin(f.name, "func(n int, dst *float32, step int, src *float32, pitch int)", " is "+f.name+"Generic with more lanes.")
		n := parameter("n")
		to := s.planes(parameter("dst"), parameter("step"), s.by(1))
		from := s.image(parameter("src"), parameter("pitch"), f.rows, f.vectors)
		each(n, func() {
			s.sandwich(f.line, from, to, nil)
			from.next()
			to.next()
		})
	}

	s.begin("tileOutput", "func(n int, dst *float32, pitch int, src *float32, step int, ends *float32)", " is tileOutputGeneric with more lanes.")
	n := parameter("n")
	from := s.planes(parameter("src"), parameter("step"), s.by(1))
	to := s.image(parameter("dst"), parameter("pitch"), 4, 4)
	ends := parameter("ends")
	each(n, func() {
		s.sandwich(s.outputLine(), from, to, func(v VecVirtual) {
			VADDPS(Mem{Base: ends}, v, v)
			low := s.register()
			VMOVUPS(Mem{Base: ends, Disp: s.width}, low)
			VMAXPS(v, low, v) // returns the second operand, the sum, if it is NaN
		})
		from.next()
		to.next()
	})

	s.begin("tileWeight", "func(n int, dst *float32, step, next int, src *float32)", " is tileWeightGeneric with more lanes.")
	n = parameter("n")
	next := parameter("next")
	SHLQ(Imm(2), next)
	to = s.planes(parameter("dst"), parameter("step"), func(r Register) { ADDQ(next, r) })
	from = s.flat(parameter("src"))
	each(n, func() {
		s.sandwich(s.weightLine(), from, to, nil)
		from.next()
		to.next()
	})

	s.begin("tileGradient", "func(n int, dst, src *float32, step, next int)", " is tileGradientGeneric with more lanes.")
	n = parameter("n")
	beyond := parameter("next")
	SHLQ(Imm(2), beyond)
	from = s.planes(parameter("src"), parameter("step"), func(r Register) { ADDQ(beyond, r) })
	to = s.flat(parameter("dst"))
	each(n, func() {
		s.sandwich(s.gradientLine(), from, to, nil)
		from.next()
		to.next()
	})
}

// blockTile generates a tile of a matmul whose left-hand side has interleaved channels: row
// i is vector i of a block, and blocks are apart. It prefetches the vectors of the next
// block and, some lines ahead, the right-hand side: misses of the CPU's own prefetcher cost
// a sixth of the time.
func blockTile(s isa, mr, nv int) {
	s.begin(fmt.Sprintf("blockTile%dx%d", mr, nv), "func(k int, a *float32, apart int, b, c *float32, next, add int)",
		fmt.Sprintf(" is blockTileGeneric for %d rows and %d vectors.", mr, nv))
	k, a, apart, b, c, next, add := parameter("k"), parameter("a"), parameter("apart"), parameter("b"), parameter("c"), parameter("next"), parameter("add")
	SHLQ(Imm(2), apart)
	SHLQ(Imm(2), next)
	acc := make([]VecVirtual, mr*nv)
	for i := range acc {
		acc[i] = s.zero()
	}
	columns := make([]VecVirtual, nv)
	for v := range columns {
		columns[v] = s.register()
	}
	rows := []VecVirtual{s.register(), s.register()}
	const unroll, ahead = 4, 4096
	at, left := GP64(), GP64()
	Label("block")
	MOVQ(a, at)
	MOVQ(U32(s.lanes()/unroll), left)
	Label("some")
	for u := range unroll {
		for v := range columns {
			VMOVUPS(Mem{Base: b, Disp: (u*nv + v) * s.width}, columns[v])
			PREFETCHT0(Mem{Base: b, Disp: (u*nv+v)*s.width + ahead})
		}
		for i := range mr {
			row := rows[i%2]
			VBROADCASTSS(Mem{Base: at, Disp: i*s.width + u*4}, row)
			for v := range columns {
				VFMADD231PS(row, columns[v], acc[i*nv+v])
			}
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
	for i := range acc {
		VADDPS(result(i/nv, i%nv), acc[i], acc[i])
	}
	Label("store")
	for i := range acc {
		VMOVUPS(acc[i], result(i/nv, i%nv))
	}
	VZEROUPPER()
	RET()
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
	acc := make([]VecVirtual, mr*nv)
	for i := range acc {
		acc[i] = s.zero()
	}
	columns := make([]VecVirtual, nv)
	for v := range columns {
		columns[v] = s.register()
	}
	rows := []VecVirtual{s.register(), s.register()}
	step := func(u int) {
		for v := range columns {
			m := Mem{Base: b, Disp: u * s.width}
			if v > 0 {
				m.Index, m.Scale = next, 1
			}
			VMOVUPS(m, columns[v])
		}
		for i := range mr {
			row := rows[i%2]
			VBROADCASTSS(Mem{Base: a, Disp: u*s.width + i*4}, row)
			for v := range columns {
				VFMADD231PS(row, columns[v], acc[i*nv+v])
			}
		}
	}
	const unroll = 4
	blocks := GP64()
	MOVQ(k, blocks)
	SHRQ(Imm(2), blocks)
	JZ(LabelRef("rest"))
	Label("block")
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
	TESTQ(add, add)
	JZ(LabelRef("store"))
	at := GP64()
	MOVQ(c, at)
	for i := range mr {
		for v := range nv {
			VADDPS(Mem{Base: at, Disp: v * s.width}, acc[i*nv+v], acc[i*nv+v])
		}
		ADDQ(ldc, at)
	}
	Label("store")
	for i := range mr {
		for v := range nv {
			VMOVUPS(acc[i*nv+v], Mem{Base: c, Disp: v * s.width})
		}
		ADDQ(ldc, c)
	}
	VZEROUPPER()
	RET()
}
