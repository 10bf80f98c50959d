package ptx

// operations64 are the ops on float64, each with an error of at most two or three ULP.
var operations64 = map[string]operation{
	"Abs":       direct64("abs"),
	"Add":       direct64("add.rn"),
	"AddScalar": func(b *builder, x []reg, s reg) reg { return b.d("add.rn", x[0], s) },
	"And":       logical64("and"),
	"AtLeast":   func(b *builder, x []reg, s reg) reg { return b.minMax64("max", x[0], s) },
	"AtMost":    func(b *builder, x []reg, s reg) reg { return b.minMax64("min", x[0], s) },
	"Cast":      func(_ *builder, x []reg, _ reg) reg { return x[0] },
	"Cos":       func(b *builder, x []reg, _ reg) reg { return b.sin64(x[0], 1) },
	"Div":       direct64("div.rn"),
	"ELU": func(b *builder, x []reg, s reg) reg {
		return b.selp64(b.setp("gt.f64", x[0], double(0)), x[0], b.d("mul.rn", s, b.expm1Float64(x[0])))
	},
	"Eq":    comparison64("eq"),
	"Exp":   func(b *builder, x []reg, _ reg) reg { return b.exp64(x[0]) },
	"Fill":  func(_ *builder, _ []reg, s reg) reg { return s },
	"Floor": direct64("cvt.rmi.f64"),
	"GELU":  func(b *builder, x []reg, _ reg) reg { return b.gelu64(x[0]) },
	"GELUGradient": func(b *builder, x []reg, _ reg) reg {
		return b.d("mul.rn", x[0], b.geluSlope64(x[1]))
	},
	"Greater": comparison64("gt"),
	"LeakyReLU": func(b *builder, x []reg, s reg) reg {
		return b.selp64(b.setp("gt.f64", x[0], double(0)), x[0], b.d("mul.rn", s, x[0]))
	},
	"Log":       func(b *builder, x []reg, _ reg) reg { return b.log64(x[0]) },
	"Maximum":   func(b *builder, x []reg, _ reg) reg { return b.minMax64("max", x[0], x[1]) },
	"Minimum":   func(b *builder, x []reg, _ reg) reg { return b.minMax64("min", x[0], x[1]) },
	"Mul":       direct64("mul.rn"),
	"MulScalar": func(b *builder, x []reg, s reg) reg { return b.d("mul.rn", x[0], s) },
	"Neg":       direct64("neg"),
	"Not":       func(b *builder, x []reg, _ reg) reg { return b.mask64(b.setp("eq.f64", x[0], double(0))) },
	"Or":        logical64("or"),
	"Pow":       func(b *builder, x []reg, _ reg) reg { return b.pow64(x[0], x[1]) },
	"PowScalar": func(b *builder, x []reg, s reg) reg { return b.pow64(x[0], s) },
	"ReLU":      func(b *builder, x []reg, _ reg) reg { return b.minMax64("max", x[0], double(0)) },
	"ReLUGradient": func(b *builder, x []reg, _ reg) reg {
		return b.selp64(b.setp("gt.f64", x[1], double(0)), x[0], double(0))
	},
	"SiLU":    func(b *builder, x []reg, _ reg) reg { return b.d("mul.rn", x[0], b.logistic64(x[0])) },
	"Sigmoid": func(b *builder, x []reg, _ reg) reg { return b.logistic64(x[0]) },
	"Sin":     func(b *builder, x []reg, _ reg) reg { return b.sin64(x[0], 0) },
	"Sqrt":    direct64("sqrt.rn"),
	"Square":  func(b *builder, x []reg, _ reg) reg { return b.d("mul.rn", x[0], x[0]) },
	"Sub":     direct64("sub.rn"),
	"Tanh":    func(b *builder, x []reg, _ reg) reg { return b.tanh64(x[0]) },
	"Where": func(b *builder, x []reg, _ reg) reg {
		return b.selp64(b.setp("neu.f64", x[0], double(0)), x[1], x[2])
	},
}

func direct64(instruction string) operation {
	return func(b *builder, x []reg, _ reg) reg { return b.d(instruction, x...) }
}

func (b *builder) selp64(p, x, y reg) reg { return b.d("selp", x, y, p) }

// mask64 returns 1 where the predicate holds, else 0.
func (b *builder) mask64(p reg) reg { return b.selp64(p, double(1), double(0)) }

func comparison64(compare string) operation {
	return func(b *builder, x []reg, _ reg) reg { return b.mask64(b.setp(compare+".f64", x[0], x[1])) }
}

// logical64 treats everything but 0 as true, NaN too.
func logical64(instruction string) operation {
	return func(b *builder, x []reg, _ reg) reg {
		p, q := b.setp("neu.f64", x[0], double(0)), b.setp("neu.f64", x[1], double(0))
		return b.mask64(b.op(predicate, instruction+".pred", p, q))
	}
}

// minMax64 computes the instruction "max" or "min", with NaN where x or y is NaN.
func (b *builder) minMax64(which string, x, y reg) reg {
	return b.orNaN(b.orNaN(b.d(which, x, y), x), y)
}

// orNaN returns x where it is NaN, else y.
func (b *builder) orNaN(y, x reg) reg { return b.selp64(b.setp("nan.f64", x, x), x, y) }

// horner64 evaluates a polynomial in x. The coefficient of the highest power comes first.
func (b *builder) horner64(x reg, coefficients ...float64) reg {
	y := double(coefficients[0])
	for _, c := range coefficients[1:] {
		y = b.d("fma.rn", y, x, double(c))
	}
	return y
}

// doubleDouble is the unevaluated sum of two float64. low is the rounding error of high.
type doubleDouble struct{ high, low reg }

// twoProduct computes x·y exactly.
func (b *builder) twoProduct(x, y reg) doubleDouble {
	high := b.d("mul.rn", x, y)
	return doubleDouble{high, b.d("fma.rn", x, y, b.d("neg", high))}
}

// fastTwoSum computes x+y exactly, for |x| ≥ |y|.
func (b *builder) fastTwoSum(x, y reg) doubleDouble {
	high := b.d("add.rn", x, y)
	return doubleDouble{high, b.d("sub.rn", y, b.d("sub.rn", high, x))}
}

// mulDD computes x·y.
func (b *builder) mulDD(x, y doubleDouble) doubleDouble {
	p := b.twoProduct(x.high, y.high)
	low := b.d("fma.rn", x.high, y.low, b.d("fma.rn", x.low, y.high, p.low))
	return b.fastTwoSum(p.high, low)
}

// addDD computes x+y, for |x| ≥ |y|.
func (b *builder) addDD(x, y doubleDouble) doubleDouble {
	s := b.fastTwoSum(x.high, y.high)
	return b.fastTwoSum(s.high, b.d("add.rn", s.low, b.d("add.rn", x.low, y.low)))
}
