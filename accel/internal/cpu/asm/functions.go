package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// clamp clamps x to two bounds; it keeps NaN.
func (s isa) clamp(x VecVirtual, low, high float64) VecVirtual {
	r := s.register()
	VMAXPS(x, s.splat(constant(low)), r)
	VMINPS(r, s.splat(constant(high)), r)
	return r
}

// polynomial evaluates a polynomial at x, the coefficient of the highest power first.
func (s isa) polynomial(x VecVirtual, coefficients ...float64) VecVirtual {
	p := s.splat(constant(coefficients[0]))
	for _, c := range coefficients[1:] {
		VFMADD213PS(s.number(c), x, p)
	}
	return p
}

// exp computes 2ⁿ·eʳ with n = round(x/ln 2) and the rest r, with the polynomial of the
// Cephes library's expf.
func (s isa) exp(x VecVirtual) VecVirtual { return s.expWithin(s.clamp(x, -104, 89)) }

// expWithin is exp for arguments from -104 to 89.
func (s isa) expWithin(x VecVirtual) VecVirtual {
	n := s.register()
	VMULPS(s.number(1.4426950408889634), x, n)
	s.round(n, n)
	r := s.register()
	VMOVAPS(x, r)
	VFNMADD231PS(s.number(0.693359375), n, r)
	VFNMADD231PS(s.number(-2.12194440e-4), n, r)
	p := s.polynomial(r, 1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1)
	square := s.register()
	VMULPS(r, r, square)
	VFMADD213PS(r, square, p)
	VADDPS(s.number(1), p, p)
	if s.wide() {
		VSCALEFPS(n, p, p)
		return p
	}
	// 2ⁿ in two factors, because n may be outside the exponent range of a float.
	whole, half := YMM(), YMM()
	VCVTPS2DQ(n, whole)
	VPSRAD(Imm(1), whole, half)
	VPSUBD(half, whole, whole)
	bias := s.operand(127)
	for _, e := range []VecVirtual{half, whole} {
		VPADDD(bias, e, e)
		VPSLLD(Imm(23), e, e)
		VMULPS(e, p, p)
	}
	return p
}

// tanh computes the odd polynomial of the Cephes library's tanhf below 0.625, and 1 -
// 2/(e²ˣ+1) with x's sign above, where nothing cancels.
func (s isa) tanh(x VecVirtual) VecVirtual {
	square, size := s.register(), s.register()
	VMULPS(x, x, square)
	small := s.polynomial(square, -5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1, -3.33332819422e-1)
	VMULPS(square, small, small)
	VFMADD213PS(x, x, small)
	s.and(s.splat(bits(0x7fffffff)), x, size)
	twice := s.register()
	VADDPS(size, size, twice)
	e := s.exp(twice)
	one := s.splat(constant(1))
	VADDPS(one, e, e)
	big := s.splat(constant(2))
	VDIVPS(e, big, big)
	VSUBPS(big, one, big)
	sign := s.register()
	s.and(s.splat(bits(0x80000000)), x, sign)
	s.or(sign, big, big)
	s.choose(greaterThan, size, s.splat(constant(0.625)), big, small, big)
	return big
}

// sigmoid computes 1/(1+e⁻ˣ) above zero and eˣ/(1+eˣ) below, so that e does not overflow.
func (s isa) sigmoid(x VecVirtual) VecVirtual {
	minus := s.register()
	s.or(s.splat(bits(0x80000000)), x, minus)
	e := s.exp(minus)
	one := s.splat(constant(1))
	numerator := s.register()
	s.choose(greaterThan, s.zero(), x, e, one, numerator)
	VADDPS(one, e, e)
	VDIVPS(e, numerator, e)
	return e
}

// normal computes the normal distribution's Φ(x) = (1+erf(x/√2))/2 with a rational
// approximation of erf (coefficients of Eigen's perf).
func (s isa) normal(x VecVirtual) VecVirtual {
	z := s.register()
	VMULPS(s.splat(constant(0.7071067811865476)), x, z)
	z = s.clamp(z, -4, 4)
	square := s.register()
	VMULPS(z, z, square)
	p := s.polynomial(square, -2.72614225801306e-10, 2.77068142495902e-08, -2.10102402082508e-06, -5.69250639462346e-05, -7.34990630326855e-04, -2.95459980854025e-03, -1.60960333262415e-02)
	q := s.polynomial(square, -1.45660718464996e-05, -2.13374055278905e-04, -1.68282697438203e-03, -7.37332916720468e-03, -1.42647390514189e-02)
	VMULPS(z, p, p)
	s.divide(p, q)
	half := s.splat(constant(0.5))
	VFMADD213PS(half, half, p)
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
