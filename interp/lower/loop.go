package lower

// Loops. Each begins with a check for an interrupt.
//
//	for i := 0; c; i++ { go f(&i) }  ->  for i1 := 0; c; i1++ { i := i1; ...; i1 = i }, if i is shared
//	for i := range 10                ->  for i := 0; i < 10; i++
//	for i := range n                 ->  for i, t1 := 0, n; i < t1; i++
//	for i := range p, *[3]T          ->  for i := 0; i < 3; i++
//	for range "héé"                  ->  for t1 := range "héé"
//	for k, x = range m               ->  for t1, t2 := range m { k = t1; x = t2 }
//
// The engine has one variable for all iterations and cannot range over an int.

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
	"strings"
)

// interruptible checks whether the cell is to stop.
func (f *function) interruptible(w *writer) {
	condition := "stopʹ"
	if f.StopCall {
		condition = f.session("Stopped") + "()"
	}
	w.line("if %s { %s() }", condition, f.session("Stop"))
}

// simpleClause tells whether a statement lowers to one simple statement, which
// can stand in the head of a loop.
func (f *function) simpleClause(s ast.Stmt) bool {
	switch s := s.(type) {
	case nil:
		return true
	case *ast.IncDecStmt:
		return true
	case *ast.AssignStmt:
		if s.Tok != token.ASSIGN && s.Tok != token.DEFINE {
			return true
		}
		if len(s.Lhs) != len(s.Rhs) {
			return false
		}
		if s.Tok == token.ASSIGN && len(s.Lhs) > 1 {
			return f.plainSwap(s)
		}
		for i, e := range s.Lhs {
			if isBlank(e) || f.globals[f.defined(e)] || s.Tok == token.DEFINE && f.defined(e) == nil {
				return false
			}
			t := f.targetType(e)
			if types.IsInterface(t) || f.replaces(s.Rhs[i], t) {
				return false
			}
		}
		return true
	}
	return false
}

// clause renders a simple statement.
func (f *function) clause(s ast.Stmt) string {
	switch s := s.(type) {
	case *ast.IncDecStmt:
		return f.expr(s.X) + s.Tok.String()
	case *ast.AssignStmt:
		var names, values []string
		for i, e := range s.Lhs {
			if s.Tok == token.ASSIGN || s.Tok == token.DEFINE {
				values = append(values, f.exprTo(s.Rhs[i], f.targetType(e)))
			} else {
				values = append(values, f.expr(s.Rhs[i]))
			}
		}
		for _, e := range s.Lhs {
			if v := f.defined(e); v != nil {
				names = append(names, f.declare(v))
			} else {
				names = append(names, f.expr(e))
			}
		}
		return list(names) + " " + s.Tok.String() + " " + list(values)
	}
	return ""
}

func (f *function) forLoop(w *writer, s *ast.ForStmt, label string) {
	init := ""
	if f.simpleClause(s.Init) {
		if s.Init != nil {
			f.store(w, s.Init, false)
		}
		init = f.clause(s.Init)
	} else {
		w.open("{")
		defer func() { w.close("}") }()
		f.statement(w, s.Init)
	}
	if s.Cond != nil {
		f.store(w, s.Cond, false)
	}

	var copied []types.Object
	if a, ok := s.Init.(*ast.AssignStmt); ok && a.Tok == token.DEFINE {
		for _, e := range a.Lhs {
			if v := f.defined(e); v != nil && f.facts.shared[v] && !f.globals[v] {
				copied = append(copied, v)
			}
		}
	}
	condition := ""
	if s.Cond != nil {
		condition = f.expr(s.Cond)
	}
	post := ""
	if f.simpleClause(s.Post) {
		post = f.clause(s.Post)
	} else {
		inner := &writer{indent: 1}
		f.statement(inner, s.Post)
		post = "func() {\n" + inner.text.String() + "}()"
	}

	t := f.push(&target{label: label, loop: true})
	f.frame.loops++
	f.label(w, t)
	w.open("for %s; %s; %s {", init, condition, post)
	f.interruptible(w)
	outer := map[types.Object]string{}
	for _, v := range copied {
		outer[v] = f.locals[v]
		w.line("%s := %s", f.declare(v), outer[v])
	}
	t.beforeContinue = func(w *writer) {
		for _, v := range copied {
			w.line("%s = %s", outer[v], f.locals[v])
		}
		f.storeHead(w, s)
	}
	f.statements(w, s.Body.List)
	t.beforeContinue(w)
	for _, v := range copied {
		f.locals[v] = outer[v]
	}
	w.close("}")
	f.frame.loops--
	f.pop()
}

// storeHead stores the position of the head of a loop, which the engine
// evaluates next.
func (f *function) storeHead(w *writer, s *ast.ForStmt) {
	if s.Cond != nil && f.mayPanic(s.Cond) || s.Post != nil && f.mayPanic(s.Post) {
		f.storePosition(w, s)
	}
}

func (f *function) rangeLoop(w *writer, s *ast.RangeStmt, label string) {
	f.store(w, s.X, false)
	switch u := f.coreOf(s.X).(type) {
	case *types.Basic:
		if u.Info()&types.IsInteger != 0 {
			f.rangeInt(w, s, label)
			return
		}
	case *types.Signature:
		f.rangeFunc(w, s, label, u)
		return
	}
	if n, ok := f.rangesOverLength(s); ok {
		f.count(w, s, label, types.Typ[types.Int], strconv.FormatInt(n, 10), true)
		return
	}
	x := operand(f.expr(s.X))
	if _, ok := ast.Unparen(s.X).(*ast.CompositeLit); ok {
		x = "(" + x + ")"
	}
	var names []string
	var set []func()
	for i, e := range []ast.Expr{s.Key, s.Value} {
		if e == nil || isBlank(e) {
			names = append(names, "_")
			continue
		}
		from := f.elementType(s, i)
		v := f.defined(e)
		if v != nil && !f.facts.shared[v] && !f.globals[v] {
			names = append(names, f.declare(v))
			continue
		}
		t := f.temp()
		names = append(names, t)
		set = append(set, func() {
			value := f.convert(t, from, f.targetType(e))
			if v != nil {
				f.defineFrom(w, v, f.targetType(e), value)
			} else {
				w.line("%s = %s", f.expr(e), value)
			}
		})
	}
	for len(names) > 0 && names[len(names)-1] == "_" {
		names = names[:len(names)-1]
	}
	if len(names) == 0 {
		// The engine counts bytes, not runes, when there is no variable.
		names = []string{f.temp()}
	}
	head := strings.Join(names, ", ")
	if head != "" {
		head += " := "
	}
	t := f.push(&target{label: label, loop: true})
	f.frame.loops++
	f.label(w, t)
	w.open("for %srange %s {", head, x)
	f.interruptible(w)
	for _, set := range set {
		set()
	}
	f.statements(w, s.Body.List)
	w.close("}")
	f.frame.loops--
	f.pop()
}

// elementType is the type of the key (0) or value (1) that a range yields.
func (f *function) elementType(s *ast.RangeStmt, i int) types.Type {
	u := f.coreOf(s.X)
	if p, ok := u.(*types.Pointer); ok {
		u = p.Elem().Underlying()
	}
	switch u := u.(type) {
	case *types.Map:
		if i == 0 {
			return u.Key()
		}
		return u.Elem()
	case *types.Chan:
		return u.Elem()
	case *types.Slice:
		if i == 1 {
			return u.Elem()
		}
	case *types.Array:
		if i == 1 {
			return u.Elem()
		}
	case *types.Basic:
		if i == 1 {
			return types.Typ[types.Rune]
		}
	}
	return types.Typ[types.Int]
}

// rangesOverLength tells whether only the length of an array counts, which is
// known even of a nil pointer.
func (f *function) rangesOverLength(s *ast.RangeStmt) (int64, bool) {
	if s.Value != nil && !isBlank(s.Value) {
		return 0, false
	}
	u := f.coreOf(s.X)
	if star, ok := ast.Unparen(s.X).(*ast.StarExpr); ok {
		u = f.coreOf(star.X)
	}
	p, ok := u.(*types.Pointer)
	if !ok {
		return 0, false
	}
	array, ok := p.Elem().Underlying().(*types.Array)
	if !ok || f.calls(s.X) {
		return 0, false
	}
	return array.Len(), true
}

// calls tells whether e contains a call or a receive.
func (f *function) calls(e ast.Expr) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			found = true
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW
		}
		return !found
	})
	return found
}

func (f *function) rangeInt(w *writer, s *ast.RangeStmt, label string) {
	t := types.Default(f.typeOf(s.X))
	if s.Key != nil && !isBlank(s.Key) {
		if v := f.defined(s.Key); v != nil {
			t = f.subst(v.Type())
		} else {
			t = f.typeOf(s.Key)
		}
	}
	if tv := f.Info.Types[s.X]; tv.Value != nil {
		f.count(w, s, label, t, f.constant(tv.Value, t), true)
	} else {
		f.count(w, s, label, t, f.expr(s.X), false)
	}
}

// count lowers a loop from 0 to a limit of type t.
func (f *function) count(w *writer, s *ast.RangeStmt, label string, t types.Type, limit string, constant bool) {
	v := f.defined(s.Key)
	typ := f.typ(t)
	zero := "0"
	if typ != "int" {
		zero = typ + "(0)"
	}
	own := v != nil && !f.facts.shared[v] && !f.facts.changed[v] && !f.globals[v]
	i := ""
	if own {
		i = f.declare(v)
	} else {
		i = f.temp()
	}
	head := i + " := " + zero
	if !constant {
		n := f.temp()
		head = i + ", " + n + " := " + zero + ", " + limit
		limit = n
	}
	target := f.push(&target{label: label, loop: true})
	f.frame.loops++
	f.label(w, target)
	w.open("for %s; %s < %s; %[2]s++ {", head, i, limit)
	f.interruptible(w)
	switch {
	case own:
	case v != nil:
		f.defineFrom(w, v, t, i)
	case s.Key != nil && !isBlank(s.Key):
		w.line("%s = %s", f.expr(s.Key), i)
	}
	f.statements(w, s.Body.List)
	w.close("}")
	f.frame.loops--
	f.pop()
}
