package lower

// Expressions. Each is lowered to one expression, of the same type.
//
//	x == y, one side an interface  ->  rtʹ.Equal(x as any, y as any)
//	x == y, structs with interfaces -> rtʹ.EqualParts(x, y)
//	m[k], k an interface, or with such fields -> m[keyʹ1(k)], which panics when k cannot be hashed
//	p.promoted                     ->  p.Base.promoted
//	P{1, 2}                        ->  Pʹ1{X: 1, Y: 2}
//	[]P{{1}}                       ->  []Pʹ1{Pʹ1{X: 1}}
//	[]int{*p}                      ->  []int{0: (*p)}
//	(&x).f, (*p).f                 ->  as they are
//	&*p                            ->  nonNilʹ1(p), which panics when p is nil
//
// yaegi compares interface values by identity of its own wrappers.

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"github.com/quernlab/quern/interp/lower/layout"
)

// typeOf returns the type of e with the type arguments of the function; nil for a
// package name.
func (f *function) typeOf(e ast.Expr) types.Type {
	if tv, ok := f.Info.Types[e]; ok {
		// The checker keeps the generic type where an assignment infers the arguments.
		if sig, ok := tv.Type.(*types.Signature); ok && sig.TypeParams() != nil {
			if in, ok := f.Info.Instances[calleeIdent(e)]; ok {
				return f.subst(in.Type)
			}
		}
		return f.subst(tv.Type)
	}
	if id, ok := e.(*ast.Ident); ok {
		if o := f.Info.ObjectOf(id); o != nil {
			if _, ok := o.(*types.PkgName); !ok {
				return f.subst(o.Type())
			}
		}
	}
	return nil
}

// expr lowers e to an expression of its own type.
func (f *function) expr(e ast.Expr) string { return f.shorten(f.whole(e)) }

func (f *function) whole(e ast.Expr) string {
	if tv, ok := f.Info.Types[e]; ok {
		if tv.IsType() {
			return f.typ(f.subst(tv.Type))
		}
		if tv.Value != nil {
			return f.constant(tv.Value, f.subst(tv.Type))
		}
	}
	switch e := e.(type) {
	case *ast.Ident:
		return f.value(e, f.ident(e))
	case *ast.ParenExpr:
		return parenthesized(f.expr(e.X))
	case *ast.FuncLit:
		return f.closure(f.literal(e, ""), f.typ(f.typeOf(e)))
	case *ast.CompositeLit:
		return f.composite(e)
	case *ast.SelectorExpr:
		if f.Info.Selections[e] == nil {
			return f.value(e, f.selector(e))
		}
		return f.selector(e)
	case *ast.IndexExpr:
		return f.index(e)
	case *ast.IndexListExpr:
		return f.value(e, f.reference(e.X))
	case *ast.SliceExpr:
		return f.slice(e)
	case *ast.TypeAssertExpr:
		t, source := f.typeOf(e.Type), f.typeOf(e.X)
		return f.mustHelper(t, source) + "(" + f.expr(e.X) + ")"
	case *ast.CallExpr:
		return f.call(e)
	case *ast.StarExpr:
		return "(*" + f.expr(e.X) + ")"
	case *ast.UnaryExpr:
		return f.unary(e)
	case *ast.BinaryExpr:
		return f.binary(e)
	}
	panic(fmt.Sprintf("expression %T", e))
}

// parenthesized puts x in parentheses, unless it is a name: see condition.go.
func parenthesized(x string) string {
	if token.IsIdentifier(x) {
		return x
	}
	return "(" + x + ")"
}

func (f *function) ident(e *ast.Ident) string {
	o := f.Info.ObjectOf(e)
	if o == nil {
		return e.Name
	}
	switch o := o.(type) {
	case *types.Func:
		if args, ok := f.arguments(e); ok {
			return f.functionInstance(e, o, args)
		}
		if name, ok := f.names[o]; ok {
			return name
		}
		if isSource(o.Pkg()) {
			return f.sourceFunction(o)
		}
		if o.Pkg().Path() != "main" { // of a dot import
			return f.alias(o.Pkg()) + "." + o.Name()
		}
	case *types.Var:
		if name, ok := f.locals[o]; ok {
			return name
		}
		if name, ok := f.names[o]; ok {
			return name
		}
		if o.Pkg() != nil && o.Pkg().Path() != "main" && !isSource(o.Pkg()) {
			return f.compiledVariable(o)
		}
	case *types.Nil:
		return "nil"
	}
	f.unsupported(e, fmt.Sprintf("%s here (%T)", e.Name, o), "")
	return ""
}

// reference lowers the name of a declared function that is called; any other
// expression as expr does.
func (f *function) reference(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		if f.Info.Types[e].Value == nil {
			return f.ident(e)
		}
	case *ast.SelectorExpr:
		if f.Info.Selections[e] == nil {
			return f.selector(e)
		}
	case *ast.ParenExpr:
		return f.reference(e.X)
	case *ast.IndexExpr:
		return f.reference(e.X)
	case *ast.IndexListExpr:
		return f.reference(e.X)
	}
	return f.expr(e)
}

// value makes the lowered name of a declared function a value:
//
//	return f  ->  return func(f func(int) int) func(int) int { return f }(fʹ1)
//
// because yaegi keeps the name's syntax tree where it should make a function.
func (f *function) value(e ast.Expr, name string) string {
	id := calleeIdent(e)
	if o, ok := f.Info.Uses[id].(*types.Func); ok {
		_, instance := f.Info.Instances[id]
		if instance || o.Pkg() != nil && (o.Pkg().Path() == "main" || isSource(o.Pkg())) {
			typ := f.typ(f.typeOf(e))
			return "func(f " + typ + ") " + typ + " { return f }(" + name + ")"
		}
	}
	return name
}

// operand puts x in parentheses unless it can be selected from or called as it is.
func operand(x string) string {
	if strings.HasPrefix(x, "func") || strings.HasPrefix(x, "&") || strings.HasPrefix(x, "<-") || strings.HasPrefix(x, "-") || strings.HasPrefix(x, "!") || strings.HasPrefix(x, "^") {
		return "(" + x + ")"
	}
	return x
}

func (f *function) selector(e *ast.SelectorExpr) string {
	sel := f.Info.Selections[e]
	if sel == nil {
		o := f.Info.Uses[e.Sel]
		if args, ok := f.arguments(e.Sel); ok {
			return f.functionInstance(e, o.(*types.Func), args)
		}
		if name, ok := f.names[o]; ok {
			return name
		}
		if v, ok := o.(*types.Var); ok && !isSource(o.Pkg()) {
			return f.compiledVariable(v)
		}
		return f.alias(o.Pkg()) + "." + o.Name()
	}
	switch sel.Kind() {
	case types.MethodExpr:
		return f.methodExpression(e, sel)
	case types.MethodVal:
		return f.methodValue(e, sel)
	}
	t, path := f.typeOf(e.X), sel.Index()
	if f.env != nil {
		if _, index, _ := types.LookupFieldOrMethod(t, true, sel.Obj().Pkg(), sel.Obj().Name()); index != nil {
			path = index
		}
	}
	return f.field(operand(f.expr(e.X)), t, path)
}

func (f *function) index(e *ast.IndexExpr) string {
	if id := calleeIdent(e.X); id != nil {
		if _, ok := f.Info.Instances[id]; ok {
			return f.value(e, f.reference(e.X))
		}
	}
	x := operand(f.expr(e.X))
	switch u := f.coreOf(e.X).(type) {
	case *types.Map:
		if f.checksKey(e.Index, u.Key()) {
			return f.keyHelper("element", f.typeOf(e.X), u) + "(" + x + ", " + f.exprTo(e.Index, u.Key()) + ")"
		}
		return x + "[" + f.key(e.Index, u.Key()) + "]"
	case *types.Pointer:
		x = "(*" + x + ")"
	}
	return x + "[" + f.expr(e.Index) + "]"
}

// holdsInterface reports whether values of type t are interfaces or have some
// among their fields and elements.
func holdsInterface(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Interface:
		return true
	case *types.Struct:
		for v := range u.Fields() {
			if holdsInterface(v.Type()) {
				return true
			}
		}
	case *types.Array:
		return holdsInterface(u.Elem())
	}
	return false
}

func (f *function) slice(e *ast.SliceExpr) string {
	x := operand(f.expr(e.X))
	s := x + "["
	if e.Low != nil {
		s += f.expr(e.Low)
	}
	s += ":"
	if e.High != nil {
		s += f.expr(e.High)
	}
	if e.Slice3 {
		s += ":" + f.expr(e.Max)
	}
	return s + "]"
}

func (f *function) unary(e *ast.UnaryExpr) string {
	if star, ok := ast.Unparen(e.X).(*ast.StarExpr); ok && e.Op == token.AND {
		return f.nonNil(f.typeOf(star.X)) + "(" + f.expr(star.X) + ")"
	}
	if e.Op == token.ARROW {
		return f.received(e.X, false)
	}
	x := f.expr(e.X)
	if e.Op == token.AND {
		return addressOf(x)
	}
	return "(" + e.Op.String() + x + ")"
}

// nonNil names a function that returns its argument, a pointer, unless it is nil.
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
		// yaegi takes a conversion to an interface for what is converted.
		x, y = f.unconverted(e.X, x), f.unconverted(e.Y, y)
		x, y = f.sameType(x, y, f.typeOf(e.X), f.typeOf(e.Y))
	case token.SHL, token.SHR:
		y = f.shiftCount(e.Y)
	}
	return "(" + x + " " + e.Op.String() + " " + y + ")"
}

// chains reports whether nothing but its operands is to be known of an operator.
func chains(op token.Token) bool {
	switch op {
	case token.ADD, token.SUB, token.MUL, token.QUO, token.REM, token.AND, token.OR, token.XOR, token.AND_NOT, token.LAND, token.LOR:
		return true
	}
	return false
}

// chain lowers a + b + c, without a copy of a + b.
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
		b.WriteString(" " + e.Op.String() + " " + f.ofNamedType(e.Y, f.expr(e.Y)) + ")")
	}
	return b.String()
}

// concat lowers the concatenation of two strings of type t, which may need more memory than
// there is:
//
//	x + y  ->  rtʹ.Concat(x, y)
func (f *function) concat(t types.Type, x, y string) string {
	if types.Identical(t, types.Typ[types.String]) {
		return f.rt("Concat", x, y)
	}
	return f.conversionType(t) + "(" + f.rt("Concat", "string("+x+")", "string("+y+")") + ")"
}

func isString(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}

// ofNamedType converts the lowered operand x of e to its type where yaegi does
// not know that.
func (f *function) ofNamedType(e ast.Expr, x string) string {
	if !f.isRaw(e) {
		return x
	}
	return f.conversionType(f.typeOf(e)) + "(" + x + ")"
}

// isRaw reports whether yaegi takes e, of a type of a cell, for a value of the
// basic type below it: in a struct that package layout made, a field of type E is
// an int.
func (f *function) isRaw(e ast.Expr) bool {
	n, ok := types.Unalias(f.typeOf(e)).(*types.Named)
	if !ok || !Interpreted(n) || f.Info.Types[e].Value != nil {
		return false
	}
	_, basic := n.Underlying().(*types.Basic)
	return basic && f.inMade(e)
}

// inMade reports whether e is a part of a struct that package layout made.
func (f *function) inMade(e ast.Expr) bool {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
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

// unconverted returns the lowered conversion x of e to an interface to a function,
// so that it becomes a plain value.
func (f *function) unconverted(e ast.Expr, x string) string {
	c, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || !f.Info.Types[c.Fun].IsType() || !types.IsInterface(f.typeOf(e)) {
		return x
	}
	typ := f.typ(f.typeOf(e))
	return "func(x " + typ + ") " + typ + " { return x }(" + x + ")"
}

// sameType converts one side of a comparison to the type of the other, which
// yaegi does not do by itself: a named array, a channel of one direction.
func (f *function) sameType(x, y string, xt, yt types.Type) (string, string) {
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

// compare lowers an equality that involves interfaces.
func (f *function) compare(x, y string, xt, yt types.Type) (string, bool) {
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

func (f *function) composite(e *ast.CompositeLit) string {
	if text, ok := f.table(e); ok {
		return text
	}
	t, prefix := f.typeOf(e), ""
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t, prefix = p.Elem(), "&"
	}
	var items []string
	switch u := t.Underlying().(type) {
	case *types.Struct:
		if promotes(e, u) {
			return f.promoted(e, t, prefix)
		}
		for i, item := range e.Elts {
			field := i
			if kv, ok := item.(*ast.KeyValueExpr); ok {
				item = kv.Value
				for field = 0; u.Field(field).Name() != kv.Key.(*ast.Ident).Name; field++ {
				}
			}
			if u.Field(field).Name() == "_" {
				f.blankField(item)
				continue
			}
			name := layout.FieldName(u, field)
			if isCompiled(t) {
				name = u.Field(field).Name()
			}
			items = append(items, name+": "+f.exprTo(item, u.Field(field).Type()))
		}
	case *types.Map:
		for i, item := range e.Elts {
			if i%64 == 63 {
				f.stop()
			}
			kv := item.(*ast.KeyValueExpr)
			key := f.key(kv.Key, u.Key())
			if c, ok := ast.Unparen(kv.Key).(*ast.CallExpr); ok && f.env != nil && f.Info.Types[c.Fun].IsType() {
				// A constant, which may be there twice, for these type arguments only.
				key = fmt.Sprintf("func(k %s) %[1]s { return k }(%s)", f.typ(u.Key()), key)
			}
			items = append(items, key+": "+f.exprTo(kv.Value, u.Elem()))
		}
	default:
		var elem types.Type
		switch u := u.(type) {
		case *types.Slice:
			elem = u.Elem()
		case *types.Array:
			elem = u.Elem()
		}
		items = f.elements(e.Elts, elem)
	}
	return prefix + f.typ(t) + "{" + list(items) + "}"
}

// promotes reports whether a key of a struct literal is a promoted field.
func promotes(e *ast.CompositeLit, u *types.Struct) bool {
	return slices.ContainsFunc(e.Elts, func(item ast.Expr) bool {
		kv, ok := item.(*ast.KeyValueExpr)
		return ok && !slices.ContainsFunc(slices.Collect(u.Fields()), func(v *types.Var) bool { return v.Name() == kv.Key.(*ast.Ident).Name })
	})
}

// promoted lowers a struct literal whose keys are promoted fields, which the
// engine does not know. The values are evaluated in the order of the text.
//
//	T{N: f(), Burrow: g()}  ->  (*func(a0 int, a1 string) *Tʹ1 { r := new(Tʹ1); r.N = a0; r.Habitat.Burrow = a1; return r }(f(), g()))
func (f *function) promoted(e *ast.CompositeLit, t types.Type, prefix string) string {
	var parameters, sets, values []string
	for i, item := range e.Elts {
		kv := item.(*ast.KeyValueExpr)
		name := kv.Key.(*ast.Ident).Name
		o, path, _ := types.LookupFieldOrMethod(t, false, f.Info.ObjectOf(kv.Key.(*ast.Ident)).Pkg(), name)
		v := o.(*types.Var)
		parameters = append(parameters, fmt.Sprintf("a%d %s", i, f.typ(v.Type())))
		sets = append(sets, fmt.Sprintf("%s = a%d; ", f.field("r", t, path), i))
		values = append(values, f.exprTo(kv.Value, v.Type()))
	}
	typ := f.typ(t)
	x := fmt.Sprintf("func(%s) *%s { r := new(%[2]s); %[3]sreturn r }(%[4]s)", list(parameters), typ, strings.Join(sets, ""), list(values))
	if prefix == "&" {
		return x
	}
	return "(*" + x + ")"
}

// elements lowers those of a literal of a slice or an array. yaegi takes a
// dereferenced pointer among them for the type of a pointer, unless it has a key.
func (f *function) elements(list []ast.Expr, t types.Type) []string {
	var items []string
	index := int64(0)
	for i, element := range list {
		if i%64 == 63 {
			f.stop()
		}
		key := ""
		if kv, ok := element.(*ast.KeyValueExpr); ok {
			index, _ = constant.Int64Val(constant.ToInt(f.Info.Types[kv.Key].Value))
			key, element = f.expr(kv.Key)+": ", kv.Value
		}
		x := f.exprTo(element, t)
		if key == "" {
			x = item(index, x)
		}
		items = append(items, key+x)
		index++
	}
	return items
}

// item returns the lowered element x of a literal that has no keys.
func item(index int64, x string) string {
	if strings.Contains(x, "(*") || isShortened(x) {
		return strconv.FormatInt(index, 10) + ": " + x
	}
	return x
}

// sliceLiteral returns the literal of a slice of lowered elements.
func sliceLiteral(typ string, elements []string) string {
	items := make([]string, len(elements))
	for i, x := range elements {
		items[i] = item(int64(i), x)
	}
	return typ + "{" + list(items) + "}"
}

// blankField checks the value of a blank field, which stays zero.
func (f *function) blankField(value ast.Expr) {
	if f.mayPanic(value) {
		f.unsupported(value, "a call as the value of a blank field", "call it before")
	}
}
