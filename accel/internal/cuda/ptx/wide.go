package ptx

// wideOperations are the ops on float64, each within two or three units in the last
// place of what it stands for.
var wideOperations = map[string]operation{
	"Abs":       wide("abs"),
	"Add":       wide("add.rn"),
	"AddScalar": func(b *builder, x []reg, s reg) reg { return b.d("add.rn", x[0], s) },
	"And":       wideLogical("and"),
	"AtLeast":   func(b *builder, x []reg, s reg) reg { return b.wideMost("max", x[0], s) },
	"AtMost":    func(b *builder, x []reg, s reg) reg { return b.wideMost("min", x[0], s) },
	"Cast":      func(_ *builder, x []reg, _ reg) reg { return x[0] },
	"Cos":       func(b *builder, x []reg, _ reg) reg { return b.wideSin(x[0], 1) },
	"Div":       wide("div.rn"),
	"ELU": func(b *builder, x []reg, s reg) reg {
		return b.chooseWide(b.when("gt.f64", x[0], double(0)), x[0], b.d("mul.rn", s, b.wideExpm1(x[0])))
	},
	"Equal": wideComparison("eq"),
	"Exp":   func(b *builder, x []reg, _ reg) reg { return b.wideExp(x[0]) },
	"Fill":  func(_ *builder, _ []reg, s reg) reg { return s },
	"Floor": wide("cvt.rmi.f64"),
	"GELU":  func(b *builder, x []reg, _ reg) reg { return b.wideGELU(x[0]) },
	"GELUGradient": func(b *builder, x []reg, _ reg) reg {
		return b.d("mul.rn", x[0], b.wideGELUSlope(x[1]))
	},
	"Greater": wideComparison("gt"),
	"LeakyReLU": func(b *builder, x []reg, s reg) reg {
		return b.chooseWide(b.when("gt.f64", x[0], double(0)), x[0], b.d("mul.rn", s, x[0]))
	},
	"Log":       func(b *builder, x []reg, _ reg) reg { return b.wideLog(x[0]) },
	"Maximum":   func(b *builder, x []reg, _ reg) reg { return b.wideMost("max", x[0], x[1]) },
	"Minimum":   func(b *builder, x []reg, _ reg) reg { return b.wideMost("min", x[0], x[1]) },
	"Mul":       wide("mul.rn"),
	"MulScalar": func(b *builder, x []reg, s reg) reg { return b.d("mul.rn", x[0], s) },
	"Neg":       wide("neg"),
	"Not":       func(b *builder, x []reg, _ reg) reg { return b.wideMask(b.when("eq.f64", x[0], double(0))) },
	"Or":        wideLogical("or"),
	"Pow":       func(b *builder, x []reg, _ reg) reg { return b.widePow(x[0], x[1]) },
	"PowScalar": func(b *builder, x []reg, s reg) reg { return b.widePow(x[0], s) },
	"ReLU":      func(b *builder, x []reg, _ reg) reg { return b.wideMost("max", x[0], double(0)) },
	"ReLUGradient": func(b *builder, x []reg, _ reg) reg {
		return b.chooseWide(b.when("gt.f64", x[1], double(0)), x[0], double(0))
	},
	"SiLU":    func(b *builder, x []reg, _ reg) reg { return b.d("mul.rn", x[0], b.wideLogistic(x[0])) },
	"Sigmoid": func(b *builder, x []reg, _ reg) reg { return b.wideLogistic(x[0]) },
	"Sin":     func(b *builder, x []reg, _ reg) reg { return b.wideSin(x[0], 0) },
	"Sqrt":    wide("sqrt.rn"),
	"Square":  func(b *builder, x []reg, _ reg) reg { return b.d("mul.rn", x[0], x[0]) },
	"Sub":     wide("sub.rn"),
	"Tanh":    func(b *builder, x []reg, _ reg) reg { return b.wideTanh(x[0]) },
	"Where": func(b *builder, x []reg, _ reg) reg {
		return b.chooseWide(b.when("neu.f64", x[0], double(0)), x[1], x[2])
	},
}

func wide(instruction string) operation {
	return func(b *builder, x []reg, _ reg) reg { return b.d(instruction, x...) }
}

func (b *builder) chooseWide(p, x, y reg) reg { return b.d("selp", x, y, p) }

// wideMask is 1 where the predicate holds and else 0.
func (b *builder) wideMask(p reg) reg { return b.chooseWide(p, double(1), double(0)) }

func wideComparison(compare string) operation {
	return func(b *builder, x []reg, _ reg) reg { return b.wideMask(b.when(compare+".f64", x[0], x[1])) }
}

// wideLogical takes what is not 0, NaN too, for true.
func wideLogical(instruction string) operation {
	return func(b *builder, x []reg, _ reg) reg {
		p, q := b.when("neu.f64", x[0], double(0)), b.when("neu.f64", x[1], double(0))
		return b.wideMask(b.op(predicate, instruction+".pred", p, q))
	}
}

// wideMost is the larger or the smaller one, or NaN if one is.
func (b *builder) wideMost(which string, x, y reg) reg {
	return b.orNaN(b.orNaN(b.d(which, x, y), x), y)
}

// orNaN is y, or x where that is NaN.
func (b *builder) orNaN(y, x reg) reg { return b.chooseWide(b.when("nan.f64", x, x), x, y) }

// wideHorner is a polynomial in x, the coefficient of the highest power first.
func (b *builder) wideHorner(x reg, coefficients ...float64) reg {
	y := double(coefficients[0])
	for _, c := range coefficients[1:] {
		y = b.d("fma.rn", y, x, double(c))
	}
	return y
}

// twice is a number in two float64, of which the second is what the first lacks.
type twice struct{ high, low reg }

// product is x·y without loss.
func (b *builder) product(x, y reg) twice {
	high := b.d("mul.rn", x, y)
	return twice{high, b.d("fma.rn", x, y, b.d("neg", high))}
}

// sum is x+y without loss, for |x| not below |y|.
func (b *builder) sum(x, y reg) twice {
	high := b.d("add.rn", x, y)
	return twice{high, b.d("sub.rn", y, b.d("sub.rn", high, x))}
}

// times is x·y for numbers in two.
func (b *builder) times(x, y twice) twice {
	p := b.product(x.high, y.high)
	low := b.d("fma.rn", x.high, y.low, b.d("fma.rn", x.low, y.high, p.low))
	return b.sum(p.high, low)
}

// plus is x+y for numbers in two, |x| not below |y|.
func (b *builder) plus(x, y twice) twice {
	s := b.sum(x.high, y.high)
	return b.sum(s.high, b.d("add.rn", s.low, b.d("add.rn", x.low, y.low)))
}
