package cpu

import (
	"math"
	"reflect"

	"github.com/quernlab/quern/accel/internal/engine/ir"
)

// scalar computes an elementwise op for one element. a, b and c are the inputs, s is the scalar.
type scalar func(a, b, c, s float64) float64

// row is an implementation of an op, whose parameters do not matter.
type row[T any] struct {
	op ir.Op
	f  T
}

func byType[T any](rows []row[T]) map[reflect.Type]T {
	all := map[reflect.Type]T{}
	for _, r := range rows {
		all[reflect.TypeOf(r.op)] = r.f
	}
	return all
}

// scalarOps are the elementwise ops on one element, by type. They
// implement ops on float64, and, rounded, ops on float32 that are not in elementwiseOps.
var scalarOps = byType([]row[scalar]{
	{ir.Abs{}, func(a, _, _, _ float64) float64 { return math.Abs(a) }},
	{ir.Add{}, func(a, b, _, _ float64) float64 { return a + b }},
	{ir.AddScalar{}, func(a, _, _, s float64) float64 { return a + s }},
	{ir.And{}, func(a, b, _, _ float64) float64 { return mask(a != 0 && b != 0) }},
	{ir.AtLeast{}, func(a, _, _, s float64) float64 { return max(a, s) }},
	{ir.AtMost{}, func(a, _, _, s float64) float64 { return min(a, s) }},
	{ir.Cos{}, func(a, _, _, _ float64) float64 { return math.Cos(a) }},
	{ir.Div{}, func(a, b, _, _ float64) float64 { return a / b }},
	{ir.ELU{}, func(a, _, _, s float64) float64 { return elu(a, s) }},
	{ir.Eq{}, func(a, b, _, _ float64) float64 { return mask(a == b) }},
	{ir.Erf{}, func(a, _, _, _ float64) float64 { return math.Erf(a) }},
	{ir.Exp{}, func(a, _, _, _ float64) float64 { return math.Exp(a) }},
	{ir.Expm1{}, func(a, _, _, _ float64) float64 { return math.Expm1(a) }},
	{ir.Fill{}, func(_, _, _, s float64) float64 { return s }},
	{ir.Floor{}, func(a, _, _, _ float64) float64 { return math.Floor(a) }},
	{ir.GELU{}, func(a, _, _, _ float64) float64 { return geluScalar(a) }},
	{ir.GELUGradient{}, func(a, b, _, _ float64) float64 { return a * geluSlopeScalar(b) }},
	{ir.Greater{}, func(a, b, _, _ float64) float64 { return mask(a > b) }},
	{ir.LeakyReLU{}, func(a, _, _, s float64) float64 { return where1(a > 0, a, s*a) }},
	{ir.Log{}, func(a, _, _, _ float64) float64 { return math.Log(a) }},
	{ir.Log1p{}, func(a, _, _, _ float64) float64 { return math.Log1p(a) }},
	{ir.Maximum{}, func(a, b, _, _ float64) float64 { return max(a, b) }},
	{ir.Minimum{}, func(a, b, _, _ float64) float64 { return min(a, b) }},
	{ir.Mul{}, func(a, b, _, _ float64) float64 { return a * b }},
	{ir.MulScalar{}, func(a, _, _, s float64) float64 { return a * s }},
	{ir.Neg{}, func(a, _, _, _ float64) float64 { return -a }},
	{ir.Or{}, func(a, b, _, _ float64) float64 { return mask(a != 0 || b != 0) }},
	{ir.Pow{}, func(a, b, _, _ float64) float64 { return math.Pow(a, b) }},
	{ir.PowScalar{}, func(a, _, _, s float64) float64 { return math.Pow(a, s) }},
	{ir.ReLU{}, func(a, _, _, _ float64) float64 { return max(a, 0) }},
	{ir.ReLUGradient{}, func(a, b, _, _ float64) float64 { return where1(b > 0, a, 0) }},
	{ir.Round{}, func(a, _, _, _ float64) float64 { return math.RoundToEven(a) }},
	{ir.SiLU{}, func(a, _, _, _ float64) float64 { return a * logistic(a) }},
	{ir.Sigmoid{}, func(a, _, _, _ float64) float64 { return logistic(a) }},
	{ir.Sin{}, func(a, _, _, _ float64) float64 { return math.Sin(a) }},
	{ir.Sqrt{}, func(a, _, _, _ float64) float64 { return math.Sqrt(a) }},
	{ir.Square{}, func(a, _, _, _ float64) float64 { return a * a }},
	{ir.Sub{}, func(a, b, _, _ float64) float64 { return a - b }},
	{ir.Tanh{}, func(a, _, _, _ float64) float64 { return math.Tanh(a) }},
	{ir.Where{}, func(a, b, c, _ float64) float64 { return where1(a != 0, b, c) }},
})

func mask(b bool) float64 { return where1(b, 1, 0) }

func where1(b bool, yes, no float64) float64 {
	if b {
		return yes
	}
	return no
}

func elu(x, scale float64) float64 {
	if x > 0 {
		return x
	}
	return scale * math.Expm1(x)
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// normal returns the cumulative distribution function Φ of the standard normal distribution.
func normal(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }

func geluScalar(x float64) float64 {
	if math.IsInf(x, -1) {
		return 0
	}
	return x * normal(x)
}

func geluSlopeScalar(x float64) float64 {
	density := math.Exp(-0.5*x*x) / math.Sqrt(2*math.Pi)
	if density == 0 {
		return normal(x)
	}
	return normal(x) + x*density
}

// scalarOf returns the function of an op on one element, or nil.
func scalarOf(op ir.Op) scalar {
	if f := scalarOps[reflect.TypeOf(op)]; f != nil {
		return f
	}
	if f, ok := ir.FormulaOf(op); ok {
		return derivedScalar(f)
	}
	return nil
}

// derivedScalar returns the function of a formula.
func derivedScalar(f ir.Formula) scalar {
	a := ir.Arithmetic[scalar]{
		Inputs: []scalar{
			func(a, _, _, _ float64) float64 { return a },
			func(_, b, _, _ float64) float64 { return b },
			func(_, _, c, _ float64) float64 { return c },
		},
		Scalar:   func() scalar { return func(_, _, _, s float64) float64 { return s } },
		Constant: func(v float64) scalar { return func(_, _, _, _ float64) float64 { return v } },
		Apply: func(op ir.Op, args []scalar) scalar {
			f := scalarOf(op)
			switch x := args[0]; len(args) {
			case 1:
				return func(a, b, c, s float64) float64 { return f(x(a, b, c, s), 0, 0, 0) }
			case 2:
				y := args[1]
				return func(a, b, c, s float64) float64 { return f(x(a, b, c, s), y(a, b, c, s), 0, 0) }
			default:
				y, z := args[1], args[2]
				return func(a, b, c, s float64) float64 { return f(x(a, b, c, s), y(a, b, c, s), z(a, b, c, s), 0) }
			}
		},
	}
	return a.Evaluate(f)
}

// scalarLoop returns a float32 elementwise op from one of scalarOps.
func scalarLoop(f scalar) elementwise {
	return func(_ *vectors, d, a, b, c []float32, s float32) {
		for i := range d {
			var x, y, z float64
			if a != nil {
				x = float64(a[i])
			}
			if b != nil {
				y = float64(b[i])
			}
			if c != nil {
				z = float64(c[i])
			}
			d[i] = float32(f(x, y, z, float64(s)))
		}
	}
}
