package lower

// Explicit conversions. Implicit ones are in convert.go.

import (
	"go/ast"
	"go/types"
	"strconv"
	"strings"

	"github.com/quernlab/quern/interp/facts"
)

// conversion lowers T(x).
func (f *function) conversion(e *ast.CallExpr, t types.Type) string {
	x := e.Args[0]
	from := f.typeOf(x)
	if types.IsInterface(t) {
		if isNil(from) {
			return f.conversionType(t) + "(nil)"
		}
		// In a condition, yaegi would use the conversion as the condition. The destination of
		// the value has the type.
		return f.exprTo(x, t)
	}
	f.checkCast(e)
	text := f.expr(x)
	if s, ok := t.Underlying().(*types.Slice); ok && isText(from) {
		name := "TextRunes"
		if s.Elem().Underlying().(*types.Basic).Kind() == types.Byte {
			name = "TextBytes"
		}
		exact, short := f.Info.Types[x].Value != nil || f.facts.Capacities[e] == facts.Exact, f.facts.Capacities[e] == facts.Buffered
		if exact || short {
			return f.conversionType(t) + "(" + f.rt(name, "string("+text+")", strconv.FormatBool(exact), strconv.FormatBool(short)) + ")"
		}
	}
	if a, ok := under(t).(*types.Array); ok {
		if _, slice := from.Underlying().(*types.Slice); slice {
			return f.toArray(from, t, a) + "(" + text + ")"
		}
	}
	return f.conversionType(t) + "(" + text + ")"
}

func isText(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}

// toArray returns the name of a function that converts a slice to an array or to a pointer to one.
func (f *functionTypes) toArray(from, to types.Type, array *types.Array) string {
	in, out := f.typ(from), f.typ(to)
	return f.helper("array", "array "+in+" "+out, func(helper string) {
		w := &f.out
		w.open("func %s(s %s) %s {", helper, in, out)
		w.line("%s", f.rt("ArrayLength", "len(s)", strconv.FormatInt(array.Len(), 10)))
		w.line("return %s(s)", f.conversionType(to))
		w.close("}")
	})
}

func (f *functionTypes) conversionType(t types.Type) string {
	return convertible(f.typ(t))
}

// convertible returns a type with the parentheses that a conversion needs. Without them, the operand
// would be parsed as the results of a function type.
func convertible(typ string) string {
	if strings.ContainsAny(typ[:1], "*<") || strings.HasPrefix(typ, "chan") || strings.Contains(typ, "func(") {
		return "(" + typ + ")"
	}
	return typ
}
