package device

import (
	"fmt"

	"github.com/quernlab/quern/accel/internal/engine/ir"
	"github.com/quernlab/quern/accel/kernel/internal/program"
)

// suffix returns the type of arithmetic in the register of t: s32, u64, f32 …
func suffix(t program.Type) string {
	switch {
	case t.IsFloat():
		return map[program.Type]string{program.Float32: "f32", program.Float64: "f64"}[t]
	case t.IsSigned():
		return map[bool]string{true: "s64", false: "s32"}[t.Size() == 8]
	}
	return map[bool]string{true: "u64", false: "u32"}[t.Size() == 8]
}

// bits returns the type of the register without a meaning: b32 or b64.
func bits(t program.Type) string {
	if t.Size() == 8 {
		return "b64"
	}
	return "b32"
}

// wrap extends the low bits of a register to those of a type with less than 32 bits.
func (w *writer) wrap(d string, t program.Type) {
	n := 8 * t.Size()
	if n >= 32 || t == program.Bool {
		return
	}
	if t.IsSigned() {
		w.do("shl.b32", d, d, fmt.Sprint(32-n))
		w.do("shr.s32", d, d, fmt.Sprint(32-n))
	} else {
		w.do("and.b32", d, d, fmt.Sprint(1<<n-1))
	}
}

var floatOps = map[program.Op]string{program.Add: "add.rn.", program.Sub: "sub.rn.", program.Mul: "mul.rn.", program.Div: "div.rn."}

var integerOps = map[program.Op]string{program.Add: "add.", program.Sub: "sub.", program.Mul: "mul.lo."}

var logicOps = map[program.Op]string{program.And: "and.", program.Or: "or.", program.Xor: "xor."}

var compareOps = map[program.Op]string{program.Eq: "eq", program.Ne: "ne", program.Lt: "lt", program.Le: "le"}

// instr writes an instruction.
func (w *writer) instr(i *program.Instr) error {
	if i.Op.ChecksBounds() && w.options.Unchecked {
		return nil
	}
	if i.Op.IsCheck() || i.Op == program.Panic {
		w.check(i)
		return nil
	}
	if w.special(i) || w.access(i) {
		return nil
	}
	d, args, t := w.register(i.Dst), w.operands(i.Args), i.Type
	switch i.Op {
	case program.Move:
		w.do("mov."+map[string]string{"r": "b32", "l": "b64", "f": "f32", "d": "f64"}[kindOf(t)], d, args[0])
	case program.Math:
		return w.math(i, d, args)
	case program.Neg:
		if t.IsFloat() {
			w.do("neg."+suffix(t), d, args[0])
			break
		}
		w.do("neg.s"+bits(t)[1:], d, args[0])
		w.wrap(d, t)
	case program.Not:
		w.do("xor.b32", d, args[0], "1")
	case program.Complement:
		w.do("not."+bits(t), d, args[0])
		w.wrap(d, t)
	case program.Add, program.Sub, program.Mul, program.Div:
		switch {
		case t.IsFloat():
			w.do(floatOps[i.Op]+suffix(t), d, args[0], args[1])
		case i.Op == program.Div:
			w.divide("div.", d, args[0], args[1], t)
		default:
			w.do(integerOps[i.Op]+suffix(t), d, args[0], args[1])
			w.wrap(d, t)
		}
	case program.Rem:
		w.divide("rem.", d, args[0], args[1], t)
	case program.And, program.Or, program.Xor:
		w.do(logicOps[i.Op]+bits(t), d, args[0], args[1])
	case program.AndNot:
		w.do("and."+bits(t), d, args[0], w.op(kindOf(t), "not."+bits(t), args[1]))
	case program.Shl, program.Shr:
		w.shift(i, d, args)
	case program.Eq, program.Ne, program.Lt, program.Le:
		how := compareOps[i.Op]
		if t.IsFloat() && i.Op == program.Ne {
			how = "neu"
		}
		w.truth(d, w.op("p", "setp."+how+"."+suffix(t), args[0], args[1]))
	case program.Min, program.Max:
		w.extreme(map[program.Op]string{program.Min: "min", program.Max: "max"}[i.Op], d, args, t)
	case program.Convert:
		w.convert(d, args[0], t, i.Dst.Type)
	case program.Bits:
		w.do("mov."+bits(t), d, args[0])
	default:
		return fmt.Errorf("device: no instruction of PTX computes %s", i.Op)
	}
	return nil
}

// truth sets d to 1 where the predicate holds, else to 0.
func (w *writer) truth(d, p string) { w.do("selp.b32", d, "1", "0", p) }

// divide writes a quotient or remainder of integers. PTX does not define that of the smallest integer and -1, so a signed one divides
// by 1 instead of -1 and negates the quotient.
func (w *writer) divide(what, d, x, y string, t program.Type) {
	s := suffix(t)
	if !t.IsSigned() {
		w.do(what+s, d, x, y)
		return
	}
	p := w.op("p", "setp.eq."+s, y, "-1")
	q := w.op(kindOf(t), what+s, x, w.op(kindOf(t), "selp."+bits(t), "1", y, p))
	if what == "div." {
		w.do("selp."+bits(t), d, w.op(kindOf(t), "neg."+s, x), q, p)
		w.wrap(d, t)
		return
	}
	w.do("mov."+bits(t), d, q)
}

// shift writes a shift. PTX clamps counts of 32 bits to the width.
func (w *writer) shift(i *program.Instr, d string, args []string) {
	n := args[1]
	if i.Args[1].Type.Size() == 8 {
		n = w.op("r", "cvt.u32.u64", w.op("l", "min.u64", n, "64"))
	}
	if i.Op == program.Shr {
		w.do("shr."+suffix(i.Type), d, args[0], n)
		return
	}
	w.do("shl."+bits(i.Type), d, args[0], n)
	w.wrap(d, i.Type)
}

// extreme writes the builtin functions min and max: NaN if one operand is NaN.
func (w *writer) extreme(which, d string, args []string, t program.Type) {
	switch t {
	case program.Float32:
		w.do(which+".NaN.f32", d, args[0], args[1])
	case program.Float64:
		r := w.op("d", which+".f64", args[0], args[1])
		for _, x := range args {
			r = w.op("d", "selp.f64", x, r, w.op("p", "setp.nan.f64", x, x))
		}
		w.do("mov.f64", d, r)
	default:
		w.do(which+"."+suffix(t), d, args[0], args[1])
	}
}

// mathInstructions are the functions of package math that are one instruction.
var mathInstructions = map[string]string{
	"Abs": "abs.f64", "Sqrt": "sqrt.rn.f64", "Floor": "cvt.rmi.f64.f64", "Ceil": "cvt.rpi.f64.f64", "Trunc": "cvt.rzi.f64.f64",
	"RoundToEven": "cvt.rni.f64.f64", "FMA": "fma.rn.f64",
}

// mathOps are those that ops of the engine compute.
var mathOps = map[string]ir.Op{
	"Exp": ir.Exp{}, "Expm1": ir.Expm1{}, "Log": ir.Log{}, "Sin": ir.Sin{}, "Cos": ir.Cos{}, "Tanh": ir.Tanh{}, "Erf": ir.Erf{}, "Pow": ir.Pow{},
}

func (w *writer) math(i *program.Instr, d string, args []string) error {
	if instruction, ok := mathInstructions[i.Text]; ok {
		w.do(instruction, append([]string{d}, args...)...)
		return nil
	}
	name := "math_" + i.Text
	if err := w.functions.Add(name, mathOps[i.Text], len(args)); err != nil {
		return err
	}
	fmt.Fprintf(&w.text, "\t{\n\t.param .f64 y;\n")
	list := ""
	for k, x := range args {
		fmt.Fprintf(&w.text, "\t.param .f64 a%d;\n\tst.param.f64 [a%d], %s;\n", k, k, x)
		if k > 0 {
			list += ", "
		}
		list += fmt.Sprintf("a%d", k)
	}
	fmt.Fprintf(&w.text, "\tcall.uni (y), %s, (%s);\n\tld.param.f64 %s, [y];\n\t}\n", name, list, d)
	return nil
}
