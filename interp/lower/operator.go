package lower

// Operators:
//
//	x == y, one side an interface  ->  rtʹ.Equal(x as any, y as any)
//	x == y, structs with interfaces -> rtʹ.EqualParts(x, y)
//	&*p                            ->  nonNilʹ1(p), which panics if p is nil
//	s + t                          ->  rtʹ.Concat(s, t)
//	x / 0.0                        ->  x / func() float64 { var zero float64; return zero }()
//
// yaegi compares interface values by identity of its own wrappers.

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

func (f *function) unary(e *ast.UnaryExpr) string {
	if star, ok := ast.Unparen(e.X).(*ast.StarExpr); ok && e.Op == token.AND {
		return f.nonNil(f.typeOf(star.X)) + "(" + f.expr(star.X) + ")"
	}
	if e.Op == token.ARROW {
		return f.received(e.X, false)
	}
	if e.Op == token.AND {
		f.checkWrite(e.X)
	}
	x := f.expr(e.X)
	if e.Op == token.AND {
		return addressOf(x)
	}
	return "(" + e.Op.String() + x + ")"
}

// nonNil returns the name of a function that returns its argument, a pointer, and panics if it is nil.
func (e *emitter) nonNil(t types.Type) string {
	typ := e.typ(t)
	return e.helper("nonNil", "nonNil "+typ, func(name string) {
		e.out.open("func %s(p %s) %[2]s {", name, typ)
		e.out.open("if p == nil {")
		e.out.line("panic(%s)", e.rt("NilDereference"))
		e.out.close("}")
		e.out.line("return p")
		e.out.close("}")
	})
}

func (f *function) binary(e *ast.BinaryExpr) string {
	if chains(e.Op) {
		return f.chain(e)
	}
	if e.Op == token.EQL || e.Op == token.NEQ {
		if text, ok := f.compare(f.expr(e.X), f.expr(e.Y), f.typeOf(e.X), f.typeOf(e.Y)); ok {
			if e.Op == token.NEQ {
				return "!" + text
			}
			return text
		}
	}
	x, y := f.ofNamedType(e.X, f.expr(e.X)), f.ofNamedType(e.Y, f.expr(e.Y))
	switch e.Op {
	case token.EQL, token.NEQ:
		// yaegi ignores a conversion to an interface.
		x, y = f.unconverted(e.X, x), f.unconverted(e.Y, y)
		x, y = f.sameType(x, y, f.typeOf(e.X), f.typeOf(e.Y))
		x, y = f.sameDeclared(e, x, y)
		if isNil(f.typeOf(e.X)) { // yaegi compares only the right side with nil correctly
			x, y = y, x
		}
	case token.SHL, token.SHR:
		y = f.shiftCount(e.Y)
	}
	return "(" + x + " " + e.Op.String() + " " + y + ")"
}

// chains reports whether lowering an operator depends on nothing but its operands.
func chains(op token.Token) bool {
	switch op {
	case token.ADD, token.SUB, token.MUL, token.QUO, token.REM, token.AND, token.OR, token.XOR, token.AND_NOT, token.LAND, token.LOR:
		return true
	}
	return false
}

// chain lowers a + b + c without copying the text of a + b.
func (f *function) chain(e *ast.BinaryExpr) string {
	list := []*ast.BinaryExpr{e}
	for {
		x, ok := e.X.(*ast.BinaryExpr)
		if !ok || !chains(x.Op) || f.Info.Types[x].Value != nil {
			break
		}
		list, e = append(list, x), x
	}
	x := f.ofNamedType(e.X, f.expr(e.X))
	if e.Op == token.LAND || e.Op == token.LOR {
		x = f.condition(e.X, x)
	}
	if t := f.typeOf(e); isString(t) {
		for _, e := range slices.Backward(list) {
			x = f.shorten(f.concat(t, x, f.ofNamedType(e.Y, f.expr(e.Y))))
		}
		return x
	}
	var b strings.Builder
	b.WriteString(strings.Repeat("(", len(list)) + x)
	for _, e := range slices.Backward(list) {
		y := f.ofNamedType(e.Y, f.expr(e.Y))
		if e.Op == token.QUO {
			y = f.divisor(e.Y, y)
		}
		b.WriteString(" " + e.Op.String() + " " + y + ")")
	}
	return b.String()
}

// divisor returns the lowered divisor e, not as a constant if it is zero: yaegi rejects that also for floating-point numbers.
func (f *functionTypes) divisor(e ast.Expr, text string) string {
	if v := f.Info.Types[e].Value; v == nil || constant.Sign(v) != 0 {
		return text
	}
	typ := f.typ(f.typeOf(e))
	return "func() " + typ + " { var zero " + typ + "; return zero }()"
}

// concat lowers the concatenation of two strings of type t, whose result may not fit into memory:
//
//	x + y  ->  rtʹ.Concat(x, y)
func (f *functionTypes) concat(t types.Type, x, y string) string {
	if types.Identical(t, types.Typ[types.String]) {
		return f.rt("Concat", x, y)
	}
	return f.conversionType(t) + "(" + f.rt("Concat", "string("+x+")", "string("+y+")") + ")"
}

func isString(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}

// ofNamedType converts the lowered operand x of e to its type if yaegi does not know the type.
func (f *functionTypes) ofNamedType(e ast.Expr, x string) string {
	if !f.isRaw(e) {
		return x
	}
	return f.conversionType(f.typeOf(e)) + "(" + x + ")"
}

// isRaw reports whether yaegi treats e, whose type is declared in a cell, as a value of the underlying
// basic type: a field of type E in a struct created by package layout is an int.
func (f *functionTypes) isRaw(e ast.Expr) bool {
	return f.Info.Types[e].Value == nil && ofBasicKind(f.typeOf(e)) && f.inMade(e)
}

// ofBasicKind reports whether t is a type of a cell whose underlying type is a basic type.
func ofBasicKind(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || !Interpreted(n) {
		return false
	}
	_, basic := n.Underlying().(*types.Basic)
	return basic
}

// inMade reports whether e is a part of a struct created by package layout, or a result of a function in one.
func (f *functionTypes) inMade(e ast.Expr) bool {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.UnaryExpr:
			if x.Op != token.ARROW {
				return false
			}
			e = x.X
		case *ast.CallExpr:
			e = x.Fun
			if id, ok := ast.Unparen(e).(*ast.Ident); ok && id.Name == "append" && f.Info.Types[e].IsBuiltin() {
				e = x.Args[0]
			}
		case *ast.SelectorExpr:
			sel := f.Info.Selections[x]
			if sel == nil || sel.Kind() != types.FieldVal {
				return false
			}
			t := f.typeOf(x.X)
			if p, ok := t.Underlying().(*types.Pointer); ok {
				t = p.Elem()
			}
			if isMade(f.typ(t)) {
				return true
			}
			e = x.X
		default:
			return false
		}
	}
}

// unconverted passes x, the lowered conversion of e to an interface, through a function, so that it
// becomes an ordinary value.
func (f *functionTypes) unconverted(e ast.Expr, x string) string {
	c, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || !f.Info.Types[c.Fun].IsType() || !types.IsInterface(f.typeOf(e)) {
		return x
	}
	typ := f.typ(f.typeOf(e))
	return "func(x " + typ + ") " + typ + " { return x }(" + x + ")"
}

// sameType converts one side of a comparison to the type of the other, which yaegi does not do for a
// named array or a channel with a direction.
func (f *functionTypes) sameType(x, y string, xt, yt types.Type) (string, string) {
	if isNil(xt) || isNil(yt) || types.Identical(xt, yt) {
		return x, y
	}
	if _, basic := xt.Underlying().(*types.Basic); basic {
		return x, y
	}
	if types.AssignableTo(xt, yt) {
		return f.conversionType(yt) + "(" + x + ")", y
	}
	return x, f.conversionType(xt) + "(" + y + ")"
}

// sameDeclared converts both sides of a comparison of pointers, structs or arrays if one of them is a part of a struct created
// by package layout: yaegi does not know the declared type of that part.
func (f *functionTypes) sameDeclared(e *ast.BinaryExpr, x, y string) (string, string) {
	t := f.typeOf(e.X)
	if !types.Identical(t, f.typeOf(e.Y)) || !f.inMade(e.X) && !f.inMade(e.Y) {
		return x, y
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		if isMade(f.typ(u.Elem())) {
			return x, y
		}
	case *types.Struct, *types.Array:
		if isMade(f.typ(t)) {
			return x, y
		}
	default:
		return x, y
	}
	return f.conversionType(t) + "(" + x + ")", f.conversionType(t) + "(" + y + ")"
}

// compare lowers an equality that involves interfaces.
func (f *functionTypes) compare(x, y string, xt, yt types.Type) (string, bool) {
	switch {
	case isNil(xt) || isNil(yt):
		return "", false
	case !types.IsInterface(xt) && !types.IsInterface(yt):
		if holdsInterface(xt) && holdsInterface(yt) {
			return f.rt("EqualParts", x, y), true
		}
		return "", false
	}
	return f.rt("Equal", f.convert(x, xt, anyType), f.convert(y, yt, anyType)), true
}
