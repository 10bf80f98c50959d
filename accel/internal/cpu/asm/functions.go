package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Functions of several vectors load each constant once for all of them: on some CPUs, loading the constants takes longer than the
// arithmetic of one vector.

// shared returns a constant for instructions of n vectors.
func (s isa) shared(c float64, n int) Op {
	if n == 1 {
		return s.number(c)
	}
	return s.splat(constant(c))
}

// clampEach clamps to two bounds; it keeps NaN.
func (s isa) clampEach(x []VecVirtual, low, high float64) []VecVirtual {
	return s.each(x, func(x, r VecVirtual, c []VecVirtual) {
		VMAXPS(x, c[0], r)
		VMINPS(r, c[1], r)
	}, s.splat(constant(low)), s.splat(constant(high)))
}

// each returns new registers that f writes for each vector.
func (s isa) each(x []VecVirtual, f func(x, r VecVirtual, c []VecVirtual), c ...VecVirtual) []VecVirtual {
	out := make([]VecVirtual, len(x))
	for i := range x {
		out[i] = s.register()
		f(x[i], out[i], c)
	}
	return out
}

// scaled returns c·x.
func (s isa) scaled(x []VecVirtual, c float64) []VecVirtual {
	factor := s.shared(c, len(x))
	return s.each(x, func(x, r VecVirtual, _ []VecVirtual) { VMULPS(factor, x, r) })
}

// squares returns x².
func (s isa) squares(x []VecVirtual) []VecVirtual {
	return s.each(x, func(x, r VecVirtual, _ []VecVirtual) { VMULPS(x, x, r) })
}

// polynomialEach evaluates a polynomial, the coefficient of the highest power first.
func (s isa) polynomialEach(x []VecVirtual, coefficients ...float64) []VecVirtual {
	p := []VecVirtual{s.splat(constant(coefficients[0]))}
	for range x[1:] {
		first := s.register()
		VMOVAPS(p[0], first)
		p = append(p, first)
	}
	for _, c := range coefficients[1:] {
		c := s.shared(c, len(x))
		for i := range x {
			VFMADD213PS(c, x[i], p[i])
		}
	}
	return p
}

// exp computes 2ⁿ·eʳ with n = round(x/ln 2) and the rest r, with the polynomial of the
// Cephes library's expf.
func (s isa) exp(x VecVirtual) VecVirtual { return s.expEach([]VecVirtual{x})[0] }

func (s isa) expEach(x []VecVirtual) []VecVirtual { return s.expWithin(s.clampEach(x, -104, 89)) }

// expWithin is exp for arguments from -104 to 89.
func (s isa) expWithin(x []VecVirtual) []VecVirtual {
	n := s.scaled(x, 1.4426950408889634)
	r := s.each(x, func(x, r VecVirtual, _ []VecVirtual) { VMOVAPS(x, r) })
	high, low := s.shared(0.693359375, len(x)), s.shared(-2.12194440e-4, len(x))
	for i := range x {
		s.round(n[i], n[i])
		VFNMADD231PS(high, n[i], r[i])
		VFNMADD231PS(low, n[i], r[i])
	}
	p := s.polynomialEach(r, 1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1)
	square := s.squares(r)
	one := s.shared(1, len(x))
	for i := range x {
		VFMADD213PS(r[i], square[i], p[i])
		VADDPS(one, p[i], p[i])
	}
	if s.wide() {
		for i := range x {
			VSCALEFPS(n[i], p[i], p[i])
		}
		return p
	}
	// 2ⁿ in two factors, because n may be outside the exponent range of a float.
	bias := s.operand(127)
	for i := range x {
		whole, half := YMM(), YMM()
		VCVTPS2DQ(n[i], whole)
		VPSRAD(Imm(1), whole, half)
		VPSUBD(half, whole, whole)
		for _, e := range []VecVirtual{half, whole} {
			VPADDD(bias, e, e)
			VPSLLD(Imm(23), e, e)
			VMULPS(e, p[i], p[i])
		}
	}
	return p
}

func (s isa) tanh(x VecVirtual) VecVirtual { return s.tanhEach([]VecVirtual{x})[0] }

// tanhEach computes the odd polynomial of the Cephes library's tanhf below 0.625, and 1 -
// 2/(e²ˣ+1) with x's sign above, where nothing cancels.
func (s isa) tanhEach(x []VecVirtual) []VecVirtual {
	twice := s.each(x, func(x, r VecVirtual, c []VecVirtual) {
		s.and(c[0], x, r)
		VADDPS(r, r, r)
	}, s.splat(bits(0x7fffffff)))
	big := s.expEach(twice)
	one, two := s.splat(constant(1)), s.splat(constant(2))
	for _, e := range big {
		VADDPS(one, e, e)
		VDIVPS(e, two, e)
		VSUBPS(e, one, e)
	}
	sign := s.splat(bits(0x80000000))
	for i, b := range big {
		own := s.register()
		s.and(sign, x[i], own)
		s.or(own, b, b)
	}
	square := s.squares(x)
	small := s.polynomialEach(square, -5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1, -3.33332819422e-1)
	limit := s.splat(constant(2 * 0.625))
	for i, y := range small {
		VMULPS(square[i], y, y)
		VFMADD213PS(x[i], x[i], y)
		s.choose(greaterThan, twice[i], limit, big[i], y, y)
	}
	return small
}

// sigmoidEach computes 1/(1+e⁻ˣ) above zero and eˣ/(1+eˣ) below, so that e does not overflow.
func (s isa) sigmoidEach(x []VecVirtual) []VecVirtual {
	e := s.expEach(s.each(x, func(x, r VecVirtual, c []VecVirtual) { s.or(c[0], x, r) }, s.splat(bits(0x80000000))))
	one, zero := s.splat(constant(1)), s.zero()
	for i := range x {
		numerator := s.register()
		s.choose(greaterThan, zero, x[i], e[i], one, numerator)
		VADDPS(one, e[i], e[i])
		VDIVPS(e[i], numerator, e[i])
	}
	return e
}

// normalEach computes the normal distribution's Φ(x) = (1+erf(x/√2))/2 with a rational
// approximation of erf (coefficients of Eigen's perf).
func (s isa) normalEach(x []VecVirtual) []VecVirtual {
	z := s.clampEach(s.scaled(x, 0.7071067811865476), -4, 4)
	square := s.squares(z)
	p := s.polynomialEach(square, -2.72614225801306e-10, 2.77068142495902e-08, -2.10102402082508e-06, -5.69250639462346e-05, -7.34990630326855e-04, -2.95459980854025e-03, -1.60960333262415e-02)
	q := s.polynomialEach(square, -1.45660718464996e-05, -2.13374055278905e-04, -1.68282697438203e-03, -7.37332916720468e-03, -1.42647390514189e-02)
	half := s.splat(constant(0.5))
	for i := range x {
		VMULPS(z[i], p[i], p[i])
		s.divide(p[i], q[i])
		VFMADD213PS(half, half, p[i])
	}
	return p
}

// divide computes p /= q for numbers of moderate size. With AVX-512 it uses Newton's
// method, which does not use the divider and has one more rounding.
func (s isa) divide(p, q VecVirtual) {
	if !s.wide() {
		VDIVPS(q, p, p)
		return
	}
	r, rest := s.register(), s.splat(constant(1))
	VRCP14PS(q, r)
	VFNMADD231PS(q, r, rest)
	VFMADD231PS(r, rest, r)
	VMULPS(r, p, p)
}
