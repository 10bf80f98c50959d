package ptx

import "math"

// lowerLn2 is the low part of ln 2: its difference from the nearest float64.
const lowerLn2 = 2.3190468138462996e-17

// reduceLn2 returns n and r for x = n·ln 2 + r with an integer n and |r| ≤ ½·ln 2.
func (b *builder) reduceLn2(x reg) (n, r reg) {
	n = b.op(real64, "cvt.rni.f64.f64", b.d("mul.rn", x, double(1/math.Ln2)))
	minus := b.d("neg", n)
	r = b.d("fma.rn", minus, double(math.Ln2), x)
	return n, b.d("fma.rn", minus, double(lowerLn2), r)
}

// smallExpm1 computes e^r - 1 for |r| ≤ ½·ln 2, by its series up to r¹⁴.
func (b *builder) smallExpm1(r reg) reg {
	series := make([]float64, 0, 13)
	for k := 14; k >= 2; k-- {
		series = append(series, 1/math.Gamma(float64(k+1)))
	}
	square := b.d("mul.rn", r, r)
	return b.d("fma.rn", square, b.horner(r, series...), r)
}

// power computes 2^n for an integer n from -1022 to 1023.
func (b *builder) power(n reg) reg {
	bits := b.op(bits64, "add.s64", b.op(bits64, "cvt.rni.s64.f64", n), "1023")
	return b.op(real64, "mov.b64", b.op(bits64, "shl.b64", bits, "52"))
}

// scaleByPower computes y·2^n for |n| up to 2000, in two steps, since 2^n may overflow where
// the result does not.
func (b *builder) scaleByPower(y, n reg) reg {
	half := b.op(real64, "cvt.rmi.f64.f64", b.d("mul.rn", n, double(.5)))
	return b.d("mul.rn", b.d("mul.rn", y, b.power(half)), b.power(b.d("sub.rn", n, half)))
}

// exp64 computes e^x of float64.
func (b *builder) exp64(x reg) reg {
	n, r := b.reduceLn2(b.d("max", b.d("min", x, double(1000)), double(-1000))) // outside this range the result is 0 or infinite
	y := b.d("add.rn", b.smallExpm1(r), double(1))
	return b.orNaN(b.scaleByPower(y, n), x)
}

// expm1Float64 computes e^x - 1 of float64. For x above 40 that is e^x.
func (b *builder) expm1Float64(x reg) reg {
	n, r := b.reduceLn2(b.d("max", b.d("min", x, double(700)), double(-60))) // below -60 the result is -1
	power := b.power(n)
	y := b.d("fma.rn", power, b.smallExpm1(r), b.d("sub.rn", power, double(1)))
	y = b.selp64(b.setp("gt.f64", x, double(40)), b.exp64(x), y)
	y = b.selp64(b.setp("lt.f64", b.d("abs", x), double(1e-150)), x, y) // keeps -0
	return b.orNaN(y, x)
}

// logistic64 computes 1/(1+e^-x) of float64: see logistic.
func (b *builder) logistic64(x reg) reg {
	e := b.exp64(b.d("neg", b.d("abs", x)))
	y := b.selp64(b.setp("lt.f64", x, double(0)), e, double(1))
	return b.d("div.rn", y, b.d("add.rn", e, double(1)))
}

// tanh64 computes (e^2x - 1)/(e^2x + 1) of float64, with the sign of x.
func (b *builder) tanh64(x reg) reg {
	size := b.d("min", b.d("abs", x), double(30))
	t := b.expm1Float64(b.d("add.rn", size, size))
	y := b.d("div.rn", t, b.d("add.rn", t, double(2)))
	y = b.d("copysign", x, y)
	return b.orNaN(y, x)
}

// quotient computes a rational function.
func (b *builder) quotient(at reg, above, below []float64) reg {
	return b.d("div.rn", b.horner(at, above...), b.horner(at, below...))
}

// nearErf64 computes the error function of t from 0 to 27/32, given its square.
func (b *builder) nearErf64(t, square reg) reg {
	return b.d("fma.rn", t, b.quotient(square,
		[]float64{-2.37630166566501626084e-05, -5.77027029648944159157e-03, -2.84817495755985104766e-02, -3.25042107247001499370e-01, 1.28379167095512558561e-01},
		[]float64{-3.96022827877536812320e-06, 1.32494738004321644526e-04, 5.08130628187576562776e-03, 6.50222499887672944485e-02, 3.97917223959155352819e-01, 1}), t)
}

// normal64 computes the cumulative normal distribution function Φ of float64, ½·erfc(t) for
// t = -x/√2. The rational functions are those of FreeBSD's s_erf.c (Sun Microsystems,
// 1993), which Go's math.Erfc uses too.
func (b *builder) normal64(x reg) reg {
	size := b.d("abs", x)
	t := b.d("mul.rn", size, double(1/math.Sqrt2))
	square := b.d("mul.rn", t, t)
	// t up to 27/32: Φ = ½ + ½·erf.
	near := b.nearErf64(t, square)
	near = b.d("fma.rn", double(.5), b.d("copysign", x, near), double(.5))
	// t up to 5/4: erfc(1) plus the difference from it.
	from := b.d("sub.rn", t, double(1))
	middle := b.quotient(from,
		[]float64{-2.16637559486879084300e-03, 3.54783043256182359371e-02, -1.10894694282396677476e-01, 3.18346619901161753674e-01, -3.72207876035701323847e-01, 4.14856118683748331666e-01, -2.36211856075265944077e-03},
		[]float64{1.19844998467991074170e-02, 1.36370839120290507362e-02, 1.26171219808761642112e-01, 7.18286544141962662868e-02, 5.40397917702171048937e-01, 1.06420880400844228286e-01, 1})
	middle = b.d("sub.rn", double(1-8.45062911510467529297e-01), middle)
	// Larger t: e^(-t²-9/16+R/S)/t.
	inverse := b.d("rcp.rn", square)
	first := b.quotient(inverse,
		[]float64{-9.81432934416914548592, -8.12874355063065934246e+01, -1.84605092906711035994e+02, -1.62396669462573470355e+02, -6.23753324503260060396e+01, -1.05586262253232909814e+01, -6.93858572707181764372e-01, -9.86494403484714822705e-03},
		[]float64{-6.04244152148580987438e-02, 6.57024977031928170135, 1.08635005541779435134e+02, 4.29008140027567833386e+02, 6.45387271733267880336e+02, 4.34565877475229228821e+02, 1.37657754143519042600e+02, 1.96512716674392571292e+01, 1})
	second := b.quotient(inverse,
		[]float64{-4.83519191608651397019e+02, -1.02509513161107724954e+03, -6.37566443368389627722e+02, -1.60636384855821916062e+02, -1.77579549177547519889e+01, -7.99283237680523006574e-01, -9.86494292470009928597e-03},
		[]float64{-2.24409524465858183362e+01, 4.74528541206955367215e+02, 2.55305040643316442583e+03, 3.19985821950859553908e+03, 1.53672958608443695994e+03, 3.25792512996573918826e+02, 3.03380607434824582924e+01, 1})
	rest := b.selp64(b.setp("lt.f64", t, double(1/.35)), first, second)
	far := b.d("div.rn", b.exp64(b.d("sub.rn", rest, double(.5625))), t)
	far = b.d("mul.rn", far, b.gaussian(x))

	tail := b.d("mul.rn", double(.5), b.selp64(b.setp("lt.f64", t, double(1.25)), middle, far))
	tail = b.selp64(b.setp("gt.f64", size, double(39)), double(0), tail)
	y := b.selp64(b.setp("lt.f64", x, double(0)), tail, b.d("sub.rn", double(1), tail))
	y = b.selp64(b.setp("lt.f64", t, double(.84375)), near, y)
	return b.orNaN(y, x)
}
