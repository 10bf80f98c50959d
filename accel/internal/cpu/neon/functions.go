package main

// The approximations are those of the assembly for amd64: see there for their sources.

// clamp limits x to two bounds; it keeps NaN.
func (p *program) clamp(x reg, low, high float64) reg {
	return p.op("FMIN", p.op("FMAX", x, p.c(low)), p.c(high))
}

// polynomial evaluates a polynomial at x, the coefficient of the highest power first.
func (p *program) polynomial(x reg, coefficients ...float64) reg {
	y := p.c(coefficients[0])
	for _, c := range coefficients[1:] {
		y = p.fma(y, x, p.c(c))
	}
	return y
}

func (p *program) exp(x reg) reg { return p.expWithin(p.clamp(x, -104, 89)) }

// expWithin is exp for arguments from -104 to 89.
func (p *program) expWithin(x reg) reg {
	n := p.op("FRINTN", p.mul(x, p.c(1.4426950408889634)))
	r := p.fnma(n, p.c(0.693359375), x)
	r = p.fnma(n, p.c(-2.12194440e-4), r)
	y := p.polynomial(r, 1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1)
	y = p.fma(y, p.mul(r, r), r)
	y = p.add(y, p.c(1))
	// 2ⁿ in two factors, because n may be outside the exponent range of a float.
	whole := p.op("FCVTZS", n)
	half := p.shifted("SSHR", whole, 1)
	for _, e := range []reg{half, p.op("SUB", whole, half)} {
		y = p.mul(y, p.shifted("SHL", p.op("ADD", e, p.bits(127)), 23))
	}
	return y
}

func (p *program) tanh(x reg) reg {
	square := p.mul(x, x)
	small := p.polynomial(square, -5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1, -3.33332819422e-1)
	small = p.fma(p.mul(small, square), x, x)
	size := p.op("FABS", x)
	e := p.add(p.exp(p.add(size, size)), p.c(1))
	big := p.sub(p.c(1), p.div(p.c(2), e))
	big = p.op("ORR", big, p.op("AND", x, p.bits(0x80000000)))
	return p.choose(p.op("FCMGT", size, p.c(0.625)), big, small)
}

// normal computes the normal distribution's Φ(x).
func (p *program) normal(x reg) reg {
	z := p.clamp(p.mul(x, p.c(0.7071067811865476)), -4, 4)
	square := p.mul(z, z)
	over := p.polynomial(square, -2.72614225801306e-10, 2.77068142495902e-08, -2.10102402082508e-06, -5.69250639462346e-05, -7.34990630326855e-04, -2.95459980854025e-03, -1.60960333262415e-02)
	under := p.polynomial(square, -1.45660718464996e-05, -2.13374055278905e-04, -1.68282697438203e-03, -7.37332916720468e-03, -1.42647390514189e-02)
	return p.fma(p.div(p.mul(over, z), under), p.c(0.5), p.c(0.5))
}

func (p *program) sigmoid(x reg) reg {
	// 1/(1+e⁻ˣ) above zero and eˣ/(1+eˣ) below, so that e does not overflow.
	e := p.exp(p.op("ORR", x, p.bits(0x80000000)))
	numerator := p.choose(p.op("FCMGT", p.zero(), x), e, p.c(1))
	return p.div(numerator, p.add(e, p.c(1)))
}

func (p *program) gelu(x reg) reg {
	x = p.op("FMAX", x, p.c(-14)) // -Inf·0 would be NaN
	return p.mul(p.normal(x), x)
}

func (p *program) geluGradient(dy, x reg) reg {
	x = p.clamp(x, -14, 14)
	density := p.mul(p.expWithin(p.mul(p.mul(x, p.c(-0.5)), x)), p.c(0.3989422804014327)) // 1/√(2π)
	return p.mul(dy, p.fma(density, x, p.normal(x)))
}
