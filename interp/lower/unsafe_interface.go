package lower

// Casts between interfaces and other types through package unsafe. Values of interfaces have another representation here than in
// compiled Go, because a value of an interpreted type is in a box. Reading the pointer to the data is possible:
//
//	(*eface)(unsafe.Pointer(&i)).data          ->  rtʹ.InterfaceData(i)
//	(*[2]uintptr)(unsafe.Pointer(&i))[1]       ->  uintptr(rtʹ.InterfaceData(i))
//
// Both words may be copied together, from one interface to another. All else that depends on the words is rejected: reading the
// first one, keeping the words or a pointer to them in a variable, an assignment to one of them, and a cast of two words to an
// interface, because there the words come from package reflect or from the type of another value. Nobody knows what code does with
// an unsafe.Pointer to an interface that it keeps, so that is rejected too.

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
)

// isConversion reports whether e is a conversion, and returns its type and operand.
func (f *function) isConversion(e ast.Expr) (to types.Type, operand ast.Expr, ok bool) {
	call, isCall := ast.Unparen(e).(*ast.CallExpr)
	if !isCall || len(call.Args) != 1 || !f.Info.Types[call.Fun].IsType() {
		return nil, nil, false
	}
	return f.typeOf(call), call.Args[0], true
}

func isUnsafePointer(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Kind() == types.UnsafePointer
}

// unsafeCast returns the pointer p of (*T)(unsafe.Pointer(p)) and its type. p is nil if the operand of the conversion is another
// unsafe.Pointer.
func (f *function) unsafeCast(e ast.Expr) (p ast.Expr, from, to *types.Pointer, ok bool) {
	t, operand, ok := f.isConversion(e)
	if !ok {
		return nil, nil, nil, false
	}
	to, isPointer := t.Underlying().(*types.Pointer)
	if !isPointer || !isUnsafePointer(f.typeOf(operand)) {
		return nil, nil, nil, false
	}
	if _, inner, ok := f.isConversion(operand); ok {
		if from, ok := f.typeOf(inner).Underlying().(*types.Pointer); ok {
			return inner, from, to, true
		}
	}
	return nil, nil, to, true
}

// beginsWithInterface reports whether a value of type t has an interface at its address.
func beginsWithInterface(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Interface:
		return true
	case *types.Array:
		return u.Len() > 0 && beginsWithInterface(u.Elem())
	case *types.Struct:
		return u.NumFields() > 0 && beginsWithInterface(u.Field(0).Type())
	}
	return false
}

// headerName matches names of structs that have the words of an interface.
var headerName = regexp.MustCompile(`(?i)^_*(e|i|non|non_?empty|empty)?_?(inter)?face_?(words?|header|struct|data|value)?$`)

// isHeader reports whether a type can have the two words of an interface: it is an array, or it is called like one.
func isHeader(t types.Type) bool {
	if a, ok := t.Underlying().(*types.Array); ok {
		return a.Len() == 2 && isPointerWord(a.Elem())
	}
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || !headerName.MatchString(n.Obj().Name()) {
		return false
	}
	s, ok := n.Underlying().(*types.Struct)
	return ok && s.NumFields() == 2 && isPointerWord(s.Field(0).Type()) && isPointerWord(s.Field(1).Type())
}

func isPointerWord(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		return true
	case *types.Basic:
		return u.Kind() == types.UnsafePointer || u.Kind() == types.Uintptr
	}
	return false
}

// hasWords reports whether a type has the words of an interface, or the first one.
func hasWords(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Array:
		return u.Len() > 0 && u.Len() <= 2 && isPointerWord(u.Elem())
	case *types.Struct:
		return u.NumFields() == 2 && isPointerWord(u.Field(0).Type()) && isPointerWord(u.Field(1).Type())
	}
	return isPointerWord(t)
}

// checkCast rejects (*T)(unsafe.Pointer(p)) if p does not point to an interface and T has an interface at that address, and if
// p points to an interface and T has its words. It rejects unsafe.Pointer(p) if p points to an interface and the pointer is not
// the operand of a cast.
func (f *function) checkCast(e *ast.CallExpr) {
	if from, ok := f.typeOf(e.Args[0]).Underlying().(*types.Pointer); ok && isUnsafePointer(f.typeOf(e)) && types.IsInterface(from.Elem()) && !f.casts[e] {
		f.rejectCast(e, from, f.typeOf(e))
	}
	p, from, to, ok := f.unsafeCast(e)
	if p != nil {
		f.casts[ast.Unparen(e.Args[0]).(*ast.CallExpr)] = true
	}
	switch {
	case !ok || f.copied[e]:
	case p != nil && beginsWithInterface(to.Elem()) && isHeader(from.Elem()):
		f.rejectCast(e, from, to)
	case p != nil && types.IsInterface(from.Elem()) && hasWords(to.Elem()):
		f.rejectCast(e, from, to)
	case p == nil && isHeader(to.Elem()) && !isArray(to.Elem()):
		f.rejectCast(e, types.Typ[types.UnsafePointer], to)
	}
}

func isArray(t types.Type) bool { _, ok := t.Underlying().(*types.Array); return ok }

// noteCopies notes the casts of an assignment *(*T)(unsafe.Pointer(p)) = *(*T)(unsafe.Pointer(q)), which copies an interface.
func (f *function) noteCopies(s *ast.AssignStmt) {
	if len(s.Lhs) != len(s.Rhs) {
		return
	}
	cast := func(e ast.Expr) (*ast.CallExpr, types.Type) {
		star, ok := ast.Unparen(e).(*ast.StarExpr)
		if !ok {
			return nil, nil
		}
		p, from, to, ok := f.unsafeCast(star.X)
		if !ok || p == nil || !types.IsInterface(from.Elem()) {
			return nil, nil
		}
		return ast.Unparen(star.X).(*ast.CallExpr), to.Elem()
	}
	for i := range s.Lhs {
		x, t := cast(s.Lhs[i])
		y, u := cast(s.Rhs[i])
		if x != nil && y != nil && types.Identical(t, u) {
			f.copied[x], f.copied[y] = true, true
		}
	}
}

func (f *function) rejectCast(at ast.Node, from, to types.Type) {
	f.unsupported(at, "a cast of "+types.TypeString(from, (*types.Package).Name)+" to "+types.TypeString(to, (*types.Package).Name), castHint)
}

const castHint = "it depends on how compiled code represents interfaces, which is different in cells"

// interfaceData lowers an expression that reads the pointer to the data of an interface.
func (f *function) interfaceData(e ast.Expr) (string, bool) {
	cast, ok := f.secondWord(e)
	if !ok {
		return "", false
	}
	p, from, _, ok := f.unsafeCast(cast)
	if !ok || p == nil || !types.IsInterface(from.Elem()) {
		return "", false
	}
	x := ast.Unparen(p)
	var value string
	if u, ok := x.(*ast.UnaryExpr); ok && u.Op == token.AND {
		value = f.exprTo(u.X, anyType)
	} else {
		value = f.convert("(*"+f.expr(x)+")", from.Elem(), anyType)
	}
	text := f.rt("InterfaceData", value)
	if t := f.typeOf(e); !types.Identical(t, types.Typ[types.UnsafePointer]) {
		text = f.conversionType(t) + "(" + text + ")"
	}
	return text, true
}

// secondWord returns x if e is x.f or x[1], and that is the second of two words at x.
func (f *function) secondWord(e ast.Expr) (x ast.Expr, ok bool) {
	switch e := ast.Unparen(e).(type) {
	case *ast.SelectorExpr:
		if sel := f.Info.Selections[e]; sel == nil || len(sel.Index()) != 1 || sel.Index()[0] != 1 {
			return nil, false
		}
	case *ast.IndexExpr:
		i := f.Info.Types[e.Index].Value
		if i == nil || !constant.Compare(constant.ToInt(i), token.EQL, constant.MakeInt64(1)) {
			return nil, false
		}
	}
	return f.word(e)
}

// word returns x if e is x.f or x[i], and that is one of two words at x.
func (f *function) word(e ast.Expr) (x ast.Expr, ok bool) {
	switch e := ast.Unparen(e).(type) {
	case *ast.SelectorExpr:
		if sel := f.Info.Selections[e]; sel == nil || sel.Kind() != types.FieldVal || len(sel.Index()) != 1 {
			return nil, false
		}
		x = e.X
	case *ast.IndexExpr:
		if tv := f.Info.Types[e.X]; !tv.IsValue() {
			return nil, false
		}
		x = e.X
	default:
		return nil, false
	}
	elem := f.typeOf(x)
	if star, ok := ast.Unparen(x).(*ast.StarExpr); ok {
		x = star.X
	} else if p, ok := elem.Underlying().(*types.Pointer); ok {
		elem = p.Elem()
	} else {
		return nil, false
	}
	switch u := elem.Underlying().(type) {
	case *types.Struct:
		return x, u.NumFields() == 2 && isPointerWord(u.Field(0).Type()) && isPointerWord(u.Field(1).Type())
	case *types.Array:
		return x, u.Len() == 2 && isPointerWord(u.Elem())
	}
	return nil, false
}

// checkWrite rejects an assignment to one word of an interface, and its address. Both words may be assigned together: they
// come from another interface.
func (f *function) checkWrite(e ast.Expr) {
	cast, ok := f.word(e)
	if !ok {
		return
	}
	if p, from, to, ok := f.unsafeCast(cast); ok && p != nil && types.IsInterface(from.Elem()) {
		f.rejectCast(e, from, to)
	}
	t := f.typeOf(cast)
	if p, ok := t.Underlying().(*types.Pointer); ok {
		if _, array := p.Elem().Underlying().(*types.Array); !array && isHeader(p.Elem()) {
			f.unsupported(e, "an assignment to a word of an interface ("+types.TypeString(t, (*types.Package).Name)+")", castHint)
		}
	}
}
