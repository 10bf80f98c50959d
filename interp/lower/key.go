package lower

// Keys of maps that contain interfaces, and so may turn out to be unhashable. yaegi does not know the
// names of types, and Go's error is different for an empty map:
//
//	m[k]               ->  element(m, k)        where func element(m M, k K) V { rtʹ.HashableIn(len(m), k); return m[k] }
//	v, ok := m[k]      ->  lookupKey(m, k) in place of k
//	delete(m, k)       ->  deleteKey(m, k)
//	m[k] = v           ->  m[storeKey(m, k)] = v  where func storeKey(m M, k K) K { rtʹ.Storable(m == nil, k); return k }
//	M{k: v}            ->  M{key(k): v}

import (
	"go/ast"
	"go/types"
)

// key lowers a key of a map that is not empty. yaegi needs the type of a nil key.
func (f *function) key(e ast.Expr, t types.Type) string {
	if isNil(f.typeOf(e)) {
		return f.conversionType(f.subst(t)) + "(nil)"
	}
	x := f.exprTo(e, t)
	if !f.checksKey(e, t) {
		return x
	}
	typ := f.typ(f.subst(t))
	return f.helper("key", "key "+typ, func(name string) {
		f.noteParameter(name, f.subst(t))
		f.out.open("func %s(k %s) %[2]s {", name, typ)
		f.out.line("%s", f.rt("Hashable", "k"))
		f.out.line("return k")
		f.out.close("}")
	}) + "(" + x + ")"
}

// checksKey reports whether the value of e, used as a key of type t, may turn out to be unhashable.
func (f *functionTypes) checksKey(e ast.Expr, t types.Type) bool {
	from, t := f.typeOf(e), f.subst(t)
	if isNil(from) || !holdsInterface(t) {
		return false
	}
	return !types.IsInterface(t) || !types.Comparable(from) || holdsInterface(from)
}

// checksTarget reports whether e is an element of a map with such a key.
func (f *functionTypes) checksTarget(e ast.Expr) bool {
	x, ok := ast.Unparen(e).(*ast.IndexExpr)
	if !ok || !f.isMapElement(e) {
		return false
	}
	m, ok := f.coreOf(x.X).(*types.Map)
	return ok && f.checksKey(x.Index, m.Key())
}

// target lowers the target of an assignment.
func (f *function) target(w *writer, e ast.Expr) string {
	if f.checksTarget(e) {
		return f.lvalues(w, []ast.Expr{e})[0]
	}
	return f.expr(e)
}

// keyHelper returns the name of one of the helpers above for maps of type m.
func (f *functionTypes) keyHelper(base string, m types.Type, u *types.Map) string {
	typ, key := f.typ(m), f.typ(f.subst(u.Key()))
	return f.helper(base, base+" "+typ, func(name string) {
		result := key
		switch base {
		case "element":
			result = f.typ(f.subst(u.Elem()))
		case "deleteKey":
			result = ""
		}
		f.noteParameter(name, f.subst(u.Key()))
		f.out.open("func %s(m %s, k %s) %s {", name, typ, key, result)
		switch base {
		case "storeKey":
			f.out.line("%s", f.rt("Storable", "m == nil", "k"))
		default:
			f.out.line("%s", f.rt("HashableIn", "len(m)", "k"))
		}
		switch base {
		case "element":
			f.out.line("return m[k]")
		case "deleteKey":
			f.out.line("delete(m, k)")
		default:
			f.out.line("return k")
		}
		f.out.close("}")
	})
}
