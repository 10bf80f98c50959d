package lower

// Constants are folded, because yaegi computes them in float64 and int:
//
//	1 << 40 | x        ->  1099511627776 | x
//	const KB = 1 << 10 ->  nothing; its uses are 1024
//	var f float32 = 1  ->  float32(1.0)
//	Sunday             ->  Dayʹ1(0)

import (
	"go/constant"
	"go/types"
	"math/big"
	"strconv"
	"strings"
)

// constant renders v as a value of type t.
func (e *emitter) constant(v constant.Value, t types.Type) string {
	b, _ := t.Underlying().(*types.Basic)
	if b == nil || b.Kind() == types.UntypedNil {
		t = defaultType(v)
		b = t.(*types.Basic)
	}
	if b.Info()&types.IsUntyped != 0 {
		t = types.Default(b)
		b = t.(*types.Basic)
	}
	text, natural := "", types.Invalid
	switch info := b.Info(); {
	case info&types.IsBoolean != 0:
		text, natural = strconv.FormatBool(constant.BoolVal(v)), types.Bool
	case info&types.IsString != 0:
		text, natural = strconv.Quote(constant.StringVal(v)), types.String
	case info&types.IsInteger != 0:
		text, natural = constant.ToInt(v).ExactString(), types.Int
	case info&types.IsFloat != 0:
		text, natural = floatLiteral(v), types.Float64
	case info&types.IsComplex != 0:
		// yaegi's complex returns a complex128 even for two float32.
		c := constant.ToComplex(v)
		text = "complex(float64(" + floatLiteral(constant.Real(c)) + "), float64(" + floatLiteral(constant.Imag(c)) + "))"
		natural = types.Complex128
	}
	if t == types.Typ[natural] {
		if strings.HasPrefix(text, "-") {
			return "(" + text + ")"
		}
		return text
	}
	return e.typ(t) + "(" + text + ")"
}

func defaultType(v constant.Value) types.Type {
	switch v.Kind() {
	case constant.Bool:
		return types.Typ[types.Bool]
	case constant.String:
		return types.Typ[types.String]
	case constant.Int:
		return types.Typ[types.Int]
	case constant.Float:
		return types.Typ[types.Float64]
	}
	return types.Typ[types.Complex128]
}

func floatLiteral(v constant.Value) string {
	v = constant.ToFloat(v)
	x, _ := constant.Float64Val(v)
	if x == 0 && constant.Sign(v) != 0 {
		// Below the smallest float64: the text must be exact enough to round to 0.
		text, _ := new(big.Float).SetString(v.ExactString())
		if text != nil {
			return text.Text('e', 40)
		}
	}
	s := strconv.FormatFloat(x, 'g', -1, 64)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}
