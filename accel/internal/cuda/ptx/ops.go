package ptx

import (
	"reflect"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// operation writes one elementwise op on the builder's type. x are its inputs, followed by
// its scalar if it has one.
type operation func(b *builder, x []reg) reg

// operations are the elementwise ops by type, with the meaning that package cpu gives them. An op
// that states a formula needs no row.
// Those on float64 have an error of at most two or three ULP.
var operations = byType([]row{
	{ir.Abs{}, instruction("abs")},
	{ir.Add{}, instruction("add.rn")},
	{ir.And{}, logical("and")},
	{ir.Cast{}, unaryOp((*builder).same)},
	{ir.Cos{}, unaryOp((*builder).cos)},
	{ir.Div{}, instruction("div.rn")},
	{ir.ELU{}, func(b *builder, x []reg) reg {
		return b.selp(b.positive(x[0]), x[0], b.real("mul.rn", x[1], b.expm1(x[0])))
	}},
	{ir.Eq{}, comparison("eq")},
	{ir.Erf{}, unaryOp((*builder).erf)},
	{ir.Exp{}, unaryOp((*builder).exp)},
	{ir.Expm1{}, unaryOp((*builder).expm1)},
	{ir.Fill{}, func(_ *builder, x []reg) reg { return x[len(x)-1] }},
	{ir.Floor{}, unaryOp((*builder).floor)},
	{ir.GELU{}, unaryOp((*builder).gelu)},
	{ir.GELUGradient{}, func(b *builder, x []reg) reg { return b.real("mul.rn", x[0], b.geluSlope(x[1])) }},
	{ir.Greater{}, comparison("gt")},
	{ir.LeakyReLU{}, func(b *builder, x []reg) reg {
		return b.selp(b.positive(x[0]), x[0], b.real("mul.rn", x[1], x[0]))
	}},
	{ir.Log{}, unaryOp((*builder).log)},
	{ir.Maximum{}, binaryOp((*builder).max)},
	{ir.Minimum{}, binaryOp((*builder).min)},
	{ir.Mul{}, instruction("mul.rn")},
	{ir.Neg{}, instruction("neg")},
	{ir.Or{}, logical("or")},
	{ir.Pow{}, binaryOp((*builder).pow)},
	{ir.ReLUGradient{}, func(b *builder, x []reg) reg { return b.selp(b.positive(x[1]), x[0], b.constant(0)) }},
	{ir.Round{}, unaryOp((*builder).round)},
	{ir.Sigmoid{}, unaryOp((*builder).logistic)},
	{ir.Sin{}, unaryOp((*builder).sin)},
	{ir.Sqrt{}, instruction("sqrt.rn")},
	{ir.Sub{}, instruction("sub.rn")},
	{ir.Tanh{}, unaryOp((*builder).tanh)},
	{ir.Where{}, func(b *builder, x []reg) reg { return b.selp(b.truth(x[0]), x[1], x[2]) }},
})

type row struct {
	op    ir.Op // its parameters do not matter
	write operation
}

func byType(table []row) map[reflect.Type]operation {
	out := map[reflect.Type]operation{}
	for _, r := range table {
		out[reflect.TypeOf(r.op)] = r.write
	}
	return out
}

// writerOf returns the writer of an op: the one in the table, or that of its formula. It is nil
// if there is neither.
func writerOf(op ir.Op) operation {
	if o := operations[reflect.TypeOf(op)]; o != nil {
		return o
	}
	f, ok := ir.FormulaOf(op)
	if !ok {
		return nil
	}
	return func(b *builder, x []reg) reg {
		a := ir.Arithmetic[reg]{
			Inputs:   x,
			Scalar:   func() reg { return x[len(x)-1] },
			Constant: b.constant,
			Apply:    func(op ir.Op, args []reg) reg { return writerOf(op)(b, args) },
		}
		return a.Evaluate(f)
	}
}

// Supports reports whether an op is elementwise with a kernel.
func Supports(op ir.Op) bool { return writerOf(op) != nil }

// instruction returns an op that is one instruction.
func instruction(name string) operation {
	return func(b *builder, x []reg) reg { return b.real(name, x...) }
}

func unaryOp(f func(b *builder, x reg) reg) operation {
	return func(b *builder, x []reg) reg { return f(b, x[0]) }
}

func binaryOp(f func(b *builder, x, y reg) reg) operation {
	return func(b *builder, x []reg) reg { return f(b, x[0], x[1]) }
}

func comparison(how string) operation {
	return func(b *builder, x []reg) reg { return b.mask(b.compare(how, x[0], x[1])) }
}

// logical treats everything but 0 as true, NaN too.
func logical(instruction string) operation {
	return func(b *builder, x []reg) reg {
		p, q := b.truth(x[0]), b.truth(x[1])
		return b.mask(b.op(predicate, instruction+".pred", p, q))
	}
}
