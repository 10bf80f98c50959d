// Arithmetic on the type of the builder, float32 or float64.

package ptx

// real writes an op on the builder's type.
func (b *builder) real(instruction string, operands ...reg) reg {
	if b.double {
		return b.d(instruction, operands...)
	}
	return b.f(instruction, operands...)
}

// compare is setp of the builder's type.
func (b *builder) compare(how string, x, y reg) reg { return b.setp(how+"."+typeOf(b.double), x, y) }

// selp returns x where the predicate holds, else y.
func (b *builder) selp(p, x, y reg) reg { return b.real("selp", x, y, p) }

func (b *builder) selp64(p, x, y reg) reg { return b.d("selp", x, y, p) }

// constant returns a literal of the builder's type, and choose that of the two values which
// is for it.
func (b *builder) constant(v float64) reg { return b.choose(v, v) }

func (b *builder) choose(forFloat32, forFloat64 float64) reg {
	if b.double {
		return double(forFloat64)
	}
	return single(forFloat32)
}

func (b *builder) same(x reg) reg { return x }

func (b *builder) floor(x reg) reg { return b.real("cvt.rmi."+typeOf(b.double), x) }

// round rounds to the nearest integer, ties to even.
func (b *builder) round(x reg) reg { return b.real("cvt.rni."+typeOf(b.double), x) }

// mask returns 1 where the predicate holds, else 0.
func (b *builder) mask(p reg) reg { return b.selp(p, b.constant(1), b.constant(0)) }

func (b *builder) positive(x reg) reg { return b.compare("gt", x, b.constant(0)) }

func (b *builder) truth(x reg) reg { return b.compare("neu", x, b.constant(0)) }

func (b *builder) max(x, y reg) reg { return b.extreme("max", x, y) }

func (b *builder) min(x, y reg) reg { return b.extreme("min", x, y) }

// extreme computes the instruction "max" or "min", with NaN where x or y is NaN.
func (b *builder) extreme(which string, x, y reg) reg {
	if b.double {
		return b.orNaN(b.orNaN(b.d(which, x, y), x), y)
	}
	return b.f(which+".NaN", x, y)
}

// horner evaluates a polynomial in x. The coefficient of the highest power comes first.
func (b *builder) horner(x reg, coefficients ...float64) reg {
	y := b.constant(coefficients[0])
	for _, c := range coefficients[1:] {
		y = b.real("fma.rn", y, x, b.constant(c))
	}
	return y
}

// orNaN returns x where it is NaN, else y.
func (b *builder) orNaN(y, x reg) reg { return b.selp64(b.setp("nan.f64", x, x), x, y) }
