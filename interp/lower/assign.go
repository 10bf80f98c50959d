package lower

// Assignments and definitions:
//
//	x = T{...}             ->  var t1 Tʹ1 = Tʹ1{...}; x = t1    yaegi gives x a new storage, and pointers to it keep the old one
//	m[k] = *p              ->  var t1 T = *p; m[k] = t1          yaegi does not notice a nil p
//	xs[i] = f(), p.x = f() ->  var t1 T = f(); xs[i] = t1        the value is evaluated before a panic of the target
//	x = <-ch               ->  var t1 T = <-ch; x = t1           yaegi stores into the wrong frame
//	i, s = i+1, f()        ->  t1 := i+1; t2 := f(); i = t1; s = t2   yaegi does not assign i
//	i, m[i] = 1, 2         ->  the key is evaluated first
//	v, ok := m[k]          ->  v := m[k]; _, ok := m[k]          v would keep the value of the previous iteration
//	a, err := g(), err old ->  t1, t2 := g(); var a A = t1; err = t2
//	x := v, in a loop and captured -> var t1 T = v; var x T = t1: only a definition from a variable always creates a new variable
//	x := v, top level      ->  xʹ1 = v

import (
	"go/ast"
	"go/token"
	"go/types"
)

func (f *function) assign(w *writer, s *ast.AssignStmt) {
	switch {
	case s.Tok != token.ASSIGN && s.Tok != token.DEFINE:
		value := f.ofNamedType(s.Rhs[0], f.expr(s.Rhs[0]))
		if s.Tok == token.SHL_ASSIGN || s.Tok == token.SHR_ASSIGN {
			value = f.shiftCount(s.Rhs[0])
		} else if s.Tok == token.QUO_ASSIGN {
			value = f.divisor(s.Rhs[0], value)
		}
		target, text := "", s.Tok == token.ADD_ASSIGN && isString(f.typeOf(s.Lhs[0]))
		if _, ok := ast.Unparen(s.Lhs[0]).(*ast.Ident); !ok && (text || f.calls(s.Rhs[0])) {
			target = f.lvalues(w, s.Lhs)[0]
		} else {
			target = f.target(w, s.Lhs[0])
		}
		if s.Tok != token.SHL_ASSIGN && s.Tok != token.SHR_ASSIGN && f.isRaw(s.Lhs[0]) {
			value = f.typ(f.typeOf(s.Lhs[0]).Underlying()) + "(" + value + ")"
		}
		if text {
			t := f.typeOf(s.Lhs[0])
			if f.isRaw(s.Lhs[0]) {
				t = types.Typ[types.String]
			}
			w.line("%s = %s", target, f.concat(t, target, value))
			return
		}
		w.line("%s %s %s", target, s.Tok, value)
	case len(s.Lhs) == 1:
		f.assignOne(w, s.Lhs[0], s.Rhs[0])
	case len(s.Rhs) == 1:
		f.assignTuple(w, s.Lhs, s.Rhs[0])
	default:
		f.assignMany(w, s)
	}
}

// defined returns the variable that the identifier e defines, or nil if e is assigned to.
func (f *functionTypes) defined(e ast.Expr) *types.Var {
	id, ok := e.(*ast.Ident)
	if !ok {
		return nil
	}
	v, _ := f.Info.Defs[id].(*types.Var)
	return v
}

func isBlank(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "_"
}

// targetType returns the type of the target of an assignment to e, or nil for _.
func (f *functionTypes) targetType(e ast.Expr) types.Type {
	if isBlank(e) {
		return nil
	}
	return f.typeOf(e)
}

func (f *function) assignOne(w *writer, lhs, rhs ast.Expr) {
	if isBlank(lhs) {
		f.discard(w, rhs)
		return
	}
	t := f.targetType(lhs)
	value := f.exprTo(rhs, t)
	if v := f.defined(lhs); v != nil {
		f.define(w, v, t, rhs, value)
		return
	}
	_, variable := ast.Unparen(lhs).(*ast.Ident)
	_, dereference := ast.Unparen(rhs).(*ast.StarExpr)
	switch {
	case f.isMapElement(lhs) && dereference, !variable && (f.calls(rhs) || f.mayPanic(rhs)), f.checksTarget(lhs):
		target := ""
		if f.calls(lhs) || f.checksTarget(lhs) {
			target = f.lvalues(w, []ast.Expr{lhs})[0]
		}
		tmp := f.temp()
		w.line("var %s %s = %s", tmp, f.typ(t), value)
		if target == "" {
			target = f.expr(lhs)
		}
		w.line("%s = %s", target, tmp)
		return
	}
	f.put(w, f.expr(lhs), t, rhs, value)
}

// discard evaluates rhs for its effects.
func (f *function) discard(w *writer, rhs ast.Expr) {
	if isNil(f.typeOf(rhs)) || f.Info.Types[rhs].Value != nil {
		return
	}
	t := f.temp()
	w.line("var %s %s = %s", t, f.typ(f.typeOf(rhs)), f.expr(rhs))
}

// put emits the assignment of a lowered value to a lowered variable of type t.
func (f *function) put(w *writer, variable string, t types.Type, rhs ast.Expr, value string) {
	if f.replaces(rhs, t) {
		tmp := f.temp()
		w.line("var %s %s = %s", tmp, f.typ(t), value)
		value = tmp
	}
	w.line("%s = %s", variable, value)
}

// define emits the definition of a variable with the given value.
func (f *function) define(w *writer, v *types.Var, t types.Type, rhs ast.Expr, value string) {
	if f.globals[v] {
		f.put(w, f.names[v], t, rhs, value)
		return
	}
	typ := f.typ(t)
	if f.facts.Shared(v) && f.repeats() {
		tmp := f.temp()
		w.line("var %s %s = %s", tmp, typ, value)
		value = tmp
	}
	w.line("var %s %s = %s", f.declare(v), typ, value)
}

// tuple emits the evaluation of an expression with several values, and returns the temporaries.
func (f *function) tuple(w *writer, rhs ast.Expr, tuple *types.Tuple) []string {
	return f.tupleOf(w, f.multi(rhs), tuple)
}

// tupleOf is tuple for a lowered expression.
func (f *function) tupleOf(w *writer, rhs string, tuple *types.Tuple) []string {
	temps := make([]string, tuple.Len())
	for i := range temps {
		temps[i] = f.temp()
	}
	w.line("%s := %s", list(temps), rhs)
	return temps
}

// multi lowers an expression with several values.
func (f *function) multi(rhs ast.Expr) string {
	switch x := ast.Unparen(rhs).(type) {
	case *ast.TypeAssertExpr:
		return f.asHelper(f.typeOf(x.Type)) + "(" + f.expr(x.X) + ")"
	case *ast.UnaryExpr:
		return f.received(x.X, true)
	default:
		return f.expr(rhs)
	}
}

func (f *function) assignTuple(w *writer, lhs []ast.Expr, rhs ast.Expr) {
	if x, ok := ast.Unparen(rhs).(*ast.IndexExpr); ok {
		f.assignLookup(w, lhs, x)
		return
	}
	tuple := f.typeOf(rhs).(*types.Tuple)
	temps := make([]string, len(lhs))
	for i, e := range lhs {
		temps[i] = "_"
		if !isBlank(e) {
			temps[i] = f.temp()
		}
	}
	names := f.lvalues(w, lhs)
	tok := ":="
	if all(lhs, isBlank) {
		tok = "="
	}
	w.line("%s %s %s", list(temps), tok, f.multi(rhs))
	for i, e := range lhs {
		if isBlank(e) {
			continue
		}
		t := f.targetType(e)
		value := f.convert(temps[i], tuple.At(i).Type(), t)
		if v := f.defined(e); v != nil {
			f.defineFrom(w, v, t, value)
		} else {
			w.line("%s = %s", names[i], value)
		}
	}
}

// defineFrom emits the definition of a variable whose value is a variable.
func (f *function) defineFrom(w *writer, v *types.Var, t types.Type, value string) {
	if f.globals[v] {
		w.line("%s = %s", f.names[v], value)
		return
	}
	w.line("var %s %s = %s", f.declare(v), f.typ(t), value)
}

// assignLookup lowers v, ok = m[k].
func (f *function) assignLookup(w *writer, lhs []ast.Expr, x *ast.IndexExpr) {
	m := f.coreOf(x.X).(*types.Map)
	names := f.lvalues(w, lhs)
	tm, tk := f.temp(), f.temp()
	w.line("var %s %s = %s", tm, f.typ(f.typeOf(x.X)), f.expr(x.X))
	key := f.key(x.Index, m.Key())
	if f.checksKey(x.Index, m.Key()) {
		key = f.keyHelper("lookupKey", f.typeOf(x.X), m) + "(" + tm + ", " + f.exprTo(x.Index, m.Key()) + ")"
	}
	w.line("var %s %s = %s", tk, f.typ(m.Key()), key)
	values := []string{tm + "[" + tk + "]", ""}
	from := []types.Type{m.Elem(), types.Typ[types.Bool]}
	temps := []string{f.temp(), f.temp()}
	if !isBlank(lhs[0]) {
		w.line("var %s %s = %s", temps[0], f.typ(m.Elem()), values[0])
	}
	w.line("_, %s := %s[%s]", temps[1], tm, tk)
	for i, e := range lhs {
		if isBlank(e) {
			continue
		}
		t := f.targetType(e)
		value := f.convert(temps[i], from[i], t)
		if v := f.defined(e); v != nil {
			f.defineFrom(w, v, t, value)
		} else {
			w.line("%s = %s", names[i], value)
		}
	}
}

func all(list []ast.Expr, is func(ast.Expr) bool) bool {
	for _, e := range list {
		if !is(e) {
			return false
		}
	}
	return true
}

// assignMany lowers a, b = x, y.
func (f *function) assignMany(w *writer, s *ast.AssignStmt) {
	if s.Tok == token.ASSIGN && f.plainSwap(s) {
		var names, values []string
		for i, e := range s.Lhs {
			names = append(names, f.expr(e))
			values = append(values, f.exprTo(s.Rhs[i], f.targetType(e)))
		}
		w.line("%s = %s", list(names), list(values))
		return
	}
	names := f.lvalues(w, s.Lhs)
	temps := make([]string, len(s.Lhs))
	for i, e := range s.Lhs {
		t := f.targetType(e)
		if t == nil {
			f.discard(w, s.Rhs[i])
			continue
		}
		temps[i] = f.temp()
		w.line("var %s %s = %s", temps[i], f.typ(t), f.exprTo(s.Rhs[i], t))
	}
	for i, e := range s.Lhs {
		if temps[i] == "" {
			continue
		}
		if v := f.defined(e); v != nil {
			f.defineFrom(w, v, f.targetType(e), temps[i])
		} else {
			w.line("%s = %s", names[i], temps[i])
		}
	}
}

// variables lowers a var declaration in a function.
func (f *function) variables(w *writer, spec *ast.ValueSpec) {
	lhs := make([]ast.Expr, len(spec.Names))
	for i, name := range spec.Names {
		lhs[i] = name
	}
	if len(spec.Values) > 0 {
		f.store(w, spec, false)
	}
	switch {
	case len(spec.Values) == 0:
		for _, name := range spec.Names {
			v := f.defined(name)
			if v == nil || name.Name == "_" {
				continue
			}
			t := f.subst(v.Type())
			if f.globals[v] {
				continue
			}
			if f.repeats() {
				zero := f.temp()
				w.line("var %s %s", zero, f.typ(t))
				w.line("var %s %s = %s", f.declare(v), f.typ(t), zero)
				continue
			}
			w.line("var %s %s", f.declare(v), f.typ(t))
		}
	case len(spec.Names) == 1:
		if spec.Names[0].Name == "_" {
			f.discardAs(w, spec)
			return
		}
		v := f.defined(spec.Names[0])
		t := f.subst(v.Type())
		f.define(w, v, t, spec.Values[0], f.exprTo(spec.Values[0], t))
	case len(spec.Values) == 1:
		f.assignTuple(w, lhs, spec.Values[0])
	default:
		f.assignMany(w, &ast.AssignStmt{Lhs: lhs, Tok: token.DEFINE, Rhs: spec.Values})
	}
}

func (f *function) discardAs(w *writer, spec *ast.ValueSpec) {
	if spec.Type == nil {
		f.discard(w, spec.Values[0])
		return
	}
	t := f.typeOf(spec.Type)
	tmp := f.temp()
	w.line("var %s %s = %s", tmp, f.typ(t), f.exprTo(spec.Values[0], t))
}
