package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// channel generates the functions of batch normalization, which go over rows of
// one channel that lie a pitch apart, and those of pools.
func channel() {
	sumRows()
	for _, s := range []isa{avx2, avx512} {
		s.squareRows()
		s.scaleRows()
		s.slopeRows()
		s.slopeScaleRows()
		pools(s)
	}
}

// vectorOf has the vectors of the rows that a loop body processes. The last vector of a row
// may be partial.
type vectorOf struct {
	masked
	place func(i int) Mem
}

func (v vectorOf) load(i int) VecVirtual { return v.masked.load(v.place(i)) }

// store stores a vector of the first row.
func (v vectorOf) store(x VecVirtual) { v.masked.store(x, v.place(0)) }

// overRows runs a body over all vectors of rows; the first base is where it stores.
func (s isa) overRows(bases []Register, body func(v vectorOf)) {
	rows, n, pitch := parameter("rows"), parameter("n"), parameter("pitch")
	SHLQ(Imm(2), pitch)
	at, left, whole := GP64(), GP64(), GP64()
	shift := uint64(3)
	if s.wide() {
		shift = 4
	}
	MOVQ(n, whole)
	SHRQ(Imm(shift), whole)
	ANDQ(Imm(uint64(s.lanes()-1)), n)
	partly := s.first(n)
	place := func(i int) Mem { return Mem{Base: bases[i], Index: at, Scale: 1} }
	Label("row")
	XORQ(at, at)
	MOVQ(whole, left)
	TESTQ(left, left)
	JZ(LabelRef("tail"))
	Label("vector")
	body(vectorOf{s.all(), place})
	ADDQ(Imm(uint64(s.width)), at)
	DECQ(left)
	JNZ(LabelRef("vector"))
	Label("tail")
	TESTQ(n, n)
	JZ(LabelRef("next"))
	body(vectorOf{partly, place})
	Label("next")
	for _, b := range bases {
		ADDQ(pitch, b)
	}
	DECQ(rows)
	JNZ(LabelRef("row"))
}

// parameters are numbers in all lanes.
func (s isa) parameters(names ...string) []VecVirtual {
	list := make([]VecVirtual, len(names))
	for i, name := range names {
		list[i] = s.scalar(name)
	}
	return list
}

// sums writes the sums of the lanes consecutively.
func (s isa) sumsTo(to Register, sums ...VecVirtual) {
	for i, v := range sums {
		VMOVSS(s.lanesSum(v), Mem{Base: to, Disp: 4 * i})
	}
	end()
}

// sumRows adds pairs in float32, which is exact for equal numbers, and then in float64. CPUs with
// AVX-512 use it, too, since memory limits it.
func sumRows() {
	s := avx2
	s.begin("sumRows", "func(rows, n int, a *float32, pitch int, sum *float64)", " is sumRowsGeneric with more lanes.")
	a, to := parameter("a"), parameter("sum")
	sum := s.zero()
	s.overRows([]Register{a}, func(v vectorOf) {
		if v.mask == nil {
			addPair(v.place(0), v.place(0).Offset(16), sum)
			return
		}
		// The elements after the end are zeros, whose sums with others are exact.
		x, wide, half := v.load(0), YMM(), XMM()
		VEXTRACTF128(Imm(1), x, half)
		VADDPS(half, x.AsX(), half)
		VCVTPS2PD(half, wide)
		VADDPD(wide, sum, sum)
	})
	VMOVSD(float64LanesSum(sum), Mem{Base: to})
	end()
}

func (s isa) squareRows() {
	s.begin("squareRows", "func(rows, n int, a *float32, pitch int, mean float32, sum *float32)", " is squareRowsGeneric with more lanes.")
	a, to := parameter("a"), parameter("sum")
	p := s.parameters("mean")
	sum := s.zero()
	s.overRows([]Register{a}, func(v vectorOf) {
		x := v.load(0)
		VSUBPS(p[0], x, x)
		v.keep(x)
		VFMADD231PS(x, x, sum)
	})
	s.sumsTo(to, sum)
}

func (s isa) scaleRows() {
	s.begin("scaleRows", "func(rows, n int, d, a *float32, pitch int, mean, scale, bias, low float32)", " is scaleRowsGeneric with more lanes.")
	d, a := parameter("d"), parameter("a")
	p := s.parameters("mean", "scale", "bias", "low")
	s.overRows([]Register{d, a}, func(v vectorOf) {
		x := v.load(1)
		VSUBPS(p[0], x, x)
		VFMADD213PS(p[2], p[1], x)
		VMAXPS(x, p[3], x) // the second operand, the sum, comes out if it is NaN
		v.store(x)
	})
	end()
}

func (s isa) slopeRows() {
	s.begin("slopeRows", "func(rows, n int, a, dy *float32, pitch int, mean float32, sums *float32)", " is slopeRowsGeneric with more lanes.")
	a, dy, to := parameter("a"), parameter("dy"), parameter("sums")
	p := s.parameters("mean")
	sum, product := s.zero(), s.zero()
	s.overRows([]Register{a, dy}, func(v vectorOf) {
		x, y := v.load(0), v.load(1)
		VSUBPS(p[0], x, x)
		v.keep(x) // or a mean that is infinite would give NaN
		VADDPS(y, sum, sum)
		VFMADD231PS(x, y, product)
	})
	s.sumsTo(to, sum, product)
}

func (s isa) slopeScaleRows() {
	s.begin("slopeScaleRows", "func(rows, n int, d, a, dy *float32, pitch int, mean, level, slope, scale float32)", " is slopeScaleRowsGeneric with more lanes.")
	d, a, dy := parameter("d"), parameter("a"), parameter("dy")
	p := s.parameters("mean", "level", "slope", "scale")
	s.overRows([]Register{d, a, dy}, func(v vectorOf) {
		x, y := v.load(1), v.load(2)
		VSUBPS(p[0], x, x)
		VSUBPS(p[1], y, y)
		VFNMADD231PS(x, p[2], y)
		VMULPS(p[3], y, y)
		v.store(y)
	})
	end()
}
