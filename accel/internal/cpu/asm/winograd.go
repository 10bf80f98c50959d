package main

import (
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
			for i, v := range p.body(s, side{isa: s, at: func(i int) Mem { return from.at(i, j) }}) {
				rows[i] = append(rows[i], v)
			}
		}
		for i, row := range p.outputs {
			for _, q := range l.parts {
				for j, v := range q.body(s, side{isa: s, registers: rows[i]}) {
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

// each runs a body n times; n is at least one.
func each(n Register, body func()) {
	Label("more")
	body()
	DECQ(n)
	JNZ(LabelRef("more"))
	end()
}

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

	s.begin("tileWeight", "func(n int, dst *float32, step, next int, src, ahead *float32, row int)", " is tileWeightGeneric with more lanes.")
	n = parameter("n")
	next := parameter("next")
	SHLQ(Imm(2), next)
	to = s.planes(parameter("dst"), parameter("step"), func(r Register) { ADDQ(next, r) })
	from = s.flat(parameter("src"))
	ahead, row := parameter("ahead"), parameter("row")
	SHLQ(Imm(2), row)
	each(n, func() {
		for line := range 9 * s.width / 64 { // of a row of nine elements for each lane
			PREFETCHT1(Mem{Base: ahead, Disp: 64 * line})
		}
		ADDQ(row, ahead)
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
