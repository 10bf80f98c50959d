package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// side is a row of values of a transform, in registers or in memory.
type side struct {
	isa
	registers []VecVirtual
	at        func(i int) Mem
}

// read returns a value that is not to be changed.
func (x side) read(i int) VecVirtual {
	if x.registers != nil {
		return x.registers[i]
	}
	return x.all().load(x.at(i))
}

// take returns a copy of a value.
func (x side) take(i int) VecVirtual {
	if x.registers == nil {
		return x.read(i)
	}
	r := x.register()
	VMOVAPS(x.registers[i], r)
	return r
}

// part computes some of a line's outputs.
type part struct {
	outputs []int
	body    func(s isa, x side) []VecVirtual
}

// line is a linear map of values, in parts that share their work.
type line struct {
	in    int
	parts []part
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
		VFMADD231PS(s.number(c), x, d)
	}
}

// times computes d *= c.
func (s isa) times(c float64, d VecVirtual) {
	if s.wide() {
		VMULPS_BCST(constant(c), d, d)
	} else {
		VMULPS(s.number(c), d, d)
	}
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
	return line{6, []part{
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
	return line{6, []part{
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
	return line{4, []part{
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
	return line{3, []part{
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
	return line{6, []part{
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
