package host

import (
	"fmt"
	"math"

	"github.com/quernlab/quern/accel/kernel/internal/program"
)

func f32(x uint64) float32    { return math.Float32frombits(uint32(x)) }
func bits32(x float32) uint64 { return uint64(math.Float32bits(x)) }
func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
func f64(x uint64) float64      { return math.Float64frombits(x) }
func bits64(x float64) uint64   { return math.Float64bits(x) }
func width(t program.Type) uint { return uint(8 * t.Size()) }

// wrap returns the integer of a type that has the low bits of x.
func wrap(x uint64, t program.Type) uint64 {
	s := 64 - width(t)
	if t.IsSigned() {
		return uint64(int64(x<<s) >> s)
	}
	return x << s >> s
}

// binaryOp returns the function of an op with two operands of the type t.
func binaryOp(op program.Op, t program.Type) func(x, y uint64) uint64 {
	switch t {
	case program.Float32:
		return float32Op(op)
	case program.Float64:
		return float64Op(op)
	}
	f := integerOp(op, t)
	switch op {
	case program.Add, program.Sub, program.Mul, program.Div, program.Shl:
		return func(x, y uint64) uint64 { return wrap(f(x, y), t) }
	}
	return f
}

func float32Op(op program.Op) func(x, y uint64) uint64 {
	switch op {
	case program.Add:
		return func(x, y uint64) uint64 { return bits32(f32(x) + f32(y)) }
	case program.Sub:
		return func(x, y uint64) uint64 { return bits32(f32(x) - f32(y)) }
	case program.Mul:
		return func(x, y uint64) uint64 { return bits32(f32(x) * f32(y)) }
	case program.Div:
		return func(x, y uint64) uint64 { return bits32(f32(x) / f32(y)) }
	case program.Min:
		return func(x, y uint64) uint64 { return bits32(min(f32(x), f32(y))) }
	case program.Max:
		return func(x, y uint64) uint64 { return bits32(max(f32(x), f32(y))) }
	case program.Eq:
		return func(x, y uint64) uint64 { return truth(f32(x) == f32(y)) }
	case program.Ne:
		return func(x, y uint64) uint64 { return truth(f32(x) != f32(y)) }
	case program.Lt:
		return func(x, y uint64) uint64 { return truth(f32(x) < f32(y)) }
	case program.Le:
		return func(x, y uint64) uint64 { return truth(f32(x) <= f32(y)) }
	}
	panic(fmt.Sprintf("host: %s of float32", op))
}

func float64Op(op program.Op) func(x, y uint64) uint64 {
	switch op {
	case program.Add:
		return func(x, y uint64) uint64 { return bits64(f64(x) + f64(y)) }
	case program.Sub:
		return func(x, y uint64) uint64 { return bits64(f64(x) - f64(y)) }
	case program.Mul:
		return func(x, y uint64) uint64 { return bits64(f64(x) * f64(y)) }
	case program.Div:
		return func(x, y uint64) uint64 { return bits64(f64(x) / f64(y)) }
	case program.Min:
		return func(x, y uint64) uint64 { return bits64(min(f64(x), f64(y))) }
	case program.Max:
		return func(x, y uint64) uint64 { return bits64(max(f64(x), f64(y))) }
	case program.Eq:
		return func(x, y uint64) uint64 { return truth(f64(x) == f64(y)) }
	case program.Ne:
		return func(x, y uint64) uint64 { return truth(f64(x) != f64(y)) }
	case program.Lt:
		return func(x, y uint64) uint64 { return truth(f64(x) < f64(y)) }
	case program.Le:
		return func(x, y uint64) uint64 { return truth(f64(x) <= f64(y)) }
	}
	panic(fmt.Sprintf("host: %s of float64", op))
}

// integerOp is for integers and bools. Results may need wrap.
func integerOp(op program.Op, t program.Type) func(x, y uint64) uint64 {
	signed := t.IsSigned()
	switch op {
	case program.Add:
		return func(x, y uint64) uint64 { return x + y }
	case program.Sub:
		return func(x, y uint64) uint64 { return x - y }
	case program.Mul:
		return func(x, y uint64) uint64 { return x * y }
	case program.And:
		return func(x, y uint64) uint64 { return x & y }
	case program.Or:
		return func(x, y uint64) uint64 { return x | y }
	case program.Xor:
		return func(x, y uint64) uint64 { return x ^ y }
	case program.AndNot:
		return func(x, y uint64) uint64 { return x &^ y }
	case program.Shl:
		return func(x, y uint64) uint64 { return x << y }
	case program.Eq:
		return func(x, y uint64) uint64 { return truth(x == y) }
	case program.Ne:
		return func(x, y uint64) uint64 { return truth(x != y) }
	}
	if signed {
		switch op {
		case program.Div:
			return func(x, y uint64) uint64 { return uint64(int64(x) / int64(y)) }
		case program.Rem:
			return func(x, y uint64) uint64 { return uint64(int64(x) % int64(y)) }
		case program.Shr:
			return func(x, y uint64) uint64 { return uint64(int64(x) >> y) }
		case program.Lt:
			return func(x, y uint64) uint64 { return truth(int64(x) < int64(y)) }
		case program.Le:
			return func(x, y uint64) uint64 { return truth(int64(x) <= int64(y)) }
		case program.Min:
			return func(x, y uint64) uint64 { return uint64(min(int64(x), int64(y))) }
		case program.Max:
			return func(x, y uint64) uint64 { return uint64(max(int64(x), int64(y))) }
		}
	}
	switch op {
	case program.Div:
		return func(x, y uint64) uint64 { return x / y }
	case program.Rem:
		return func(x, y uint64) uint64 { return x % y }
	case program.Shr:
		return func(x, y uint64) uint64 { return x >> y }
	case program.Lt:
		return func(x, y uint64) uint64 { return truth(x < y) }
	case program.Le:
		return func(x, y uint64) uint64 { return truth(x <= y) }
	case program.Min:
		return func(x, y uint64) uint64 { return min(x, y) }
	case program.Max:
		return func(x, y uint64) uint64 { return max(x, y) }
	}
	panic(fmt.Sprintf("host: %s of %s", op, t))
}

// unaryOp returns the function of an op with one operand of type t and a result of type to.
func unaryOp(i *program.Instr) func(x uint64) uint64 {
	t := i.Type
	switch i.Op {
	case program.Neg:
		switch t {
		case program.Float32:
			return func(x uint64) uint64 { return bits32(-f32(x)) }
		case program.Float64:
			return func(x uint64) uint64 { return bits64(-f64(x)) }
		}
		return func(x uint64) uint64 { return wrap(-x, t) }
	case program.Not:
		return func(x uint64) uint64 { return x ^ 1 }
	case program.Complement:
		return func(x uint64) uint64 { return wrap(^x, t) }
	case program.Convert:
		return convert(t, i.Dst.Type)
	case program.Bits:
		// The sign extends an integer with 32 bits.
		if to := i.Dst.Type; !to.IsFloat() {
			return func(x uint64) uint64 { return wrap(x, to) }
		} else if to == program.Float32 {
			return func(x uint64) uint64 { return uint64(uint32(x)) }
		}
		return func(x uint64) uint64 { return x }
	}
	panic(fmt.Sprintf("host: %s of %s", i.Op, t))
}

var functions = map[string]func(float64) float64{
	"Abs": math.Abs, "Sqrt": math.Sqrt, "Floor": math.Floor, "Ceil": math.Ceil, "Trunc": math.Trunc, "RoundToEven": math.RoundToEven,
	"Exp": math.Exp, "Expm1": math.Expm1, "Log": math.Log, "Sin": math.Sin, "Cos": math.Cos, "Tanh": math.Tanh, "Erf": math.Erf,
}
