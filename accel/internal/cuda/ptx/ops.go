package ptx

import "fmt"

// operation writes one elementwise op on float32. x are its inputs and s is its scalar.
type operation func(b *builder, x []reg, s reg) reg

// operations are the elementwise ops by name, with the meaning that package cpu gives them.
var operations = map[string]operation{
	"Abs":          direct("abs"),
	"Add":          direct("add.rn"),
	"AddScalar":    func(b *builder, x []reg, s reg) reg { return b.f("add.rn", x[0], s) },
	"And":          logical("and"),
	"AtLeast":      func(b *builder, x []reg, s reg) reg { return b.f("max.NaN", x[0], s) },
	"AtMost":       func(b *builder, x []reg, s reg) reg { return b.f("min.NaN", x[0], s) },
	"Cast":         func(_ *builder, x []reg, _ reg) reg { return x[0] },
	"Cos":          func(b *builder, x []reg, _ reg) reg { return b.sin(x[0], 1) },
	"Div":          direct("div.rn"),
	"ELU":          elu,
	"Eq":           comparison("eq"),
	"Exp":          func(b *builder, x []reg, _ reg) reg { return b.exp(x[0]) },
	"Fill":         func(_ *builder, _ []reg, s reg) reg { return s },
	"Floor":        direct("cvt.rmi.f32"),
	"GELU":         func(b *builder, x []reg, _ reg) reg { return b.gelu(x[0]) },
	"GELUGradient": func(b *builder, x []reg, _ reg) reg { return b.f("mul.rn", x[0], b.geluSlope(x[1])) },
	"Greater":      comparison("gt"),
	"LeakyReLU":    leakyReLU,
	"Log":          func(b *builder, x []reg, _ reg) reg { return b.log(x[0]) },
	"Maximum":      direct("max.NaN"),
	"Minimum":      direct("min.NaN"),
	"Mul":          direct("mul.rn"),
	"MulScalar":    func(b *builder, x []reg, s reg) reg { return b.f("mul.rn", x[0], s) },
	"Neg":          direct("neg"),
	"Not":          func(b *builder, x []reg, _ reg) reg { return b.mask(b.setp("eq.f32", x[0], single(0))) },
	"Or":           logical("or"),
	"Pow":          func(b *builder, x []reg, _ reg) reg { return b.pow(x[0], x[1]) },
	"PowScalar":    func(b *builder, x []reg, s reg) reg { return b.pow(x[0], s) },
	"ReLU":         func(b *builder, x []reg, _ reg) reg { return b.f("max.NaN", x[0], single(0)) },
	"ReLUGradient": func(b *builder, x []reg, _ reg) reg {
		return b.selp(b.setp("gt.f32", x[1], single(0)), x[0], single(0))
	},
	"SiLU":    func(b *builder, x []reg, _ reg) reg { return b.f("mul.rn", x[0], b.logistic(x[0])) },
	"Sigmoid": func(b *builder, x []reg, _ reg) reg { return b.logistic(x[0]) },
	"Sin":     func(b *builder, x []reg, _ reg) reg { return b.sin(x[0], 0) },
	"Sqrt":    direct("sqrt.rn"),
	"Square":  func(b *builder, x []reg, _ reg) reg { return b.f("mul.rn", x[0], x[0]) },
	"Sub":     direct("sub.rn"),
	"Tanh":    func(b *builder, x []reg, _ reg) reg { return b.tanh(x[0]) },
	"Where": func(b *builder, x []reg, _ reg) reg {
		return b.selp(b.setp("neu.f32", x[0], single(0)), x[1], x[2])
	},
}

// direct returns an op that is one instruction.
func direct(instruction string) operation {
	return func(b *builder, x []reg, _ reg) reg { return b.f(instruction, x...) }
}

// mask returns 1 where the predicate holds, else 0.
func (b *builder) mask(p reg) reg { return b.selp(p, single(1), single(0)) }

func comparison(compare string) operation {
	return func(b *builder, x []reg, _ reg) reg { return b.mask(b.setp(compare+".f32", x[0], x[1])) }
}

// logical treats everything but 0 as true, NaN too.
func logical(instruction string) operation {
	return func(b *builder, x []reg, _ reg) reg {
		p, q := b.setp("neu.f32", x[0], single(0)), b.setp("neu.f32", x[1], single(0))
		return b.mask(b.op(predicate, instruction+".pred", p, q))
	}
}

func elu(b *builder, x []reg, s reg) reg {
	return b.selp(b.setp("gt.f32", x[0], single(0)), x[0], b.f("mul.rn", s, b.expm1(x[0])))
}

func leakyReLU(b *builder, x []reg, s reg) reg {
	return b.selp(b.setp("gt.f32", x[0], single(0)), x[0], b.f("mul.rn", s, x[0]))
}

// lookup returns the operation with the given name, on float64 if double, else on float32.
func lookup(name string, double bool) (operation, error) {
	if double {
		if op := operations64[name]; op != nil {
			return op, nil
		}
		return nil, fmt.Errorf("cuda: there is no elementwise kernel for %s of float64", name)
	}
	if op := operations[name]; op != nil {
		return op, nil
	}
	return nil, fmt.Errorf("cuda: there is no elementwise kernel for %s", name)
}

// Supports reports whether an op is elementwise with a kernel for float32 at least.
func Supports(name string) bool { return operations[name] != nil }
