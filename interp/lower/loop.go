package lower

// Loops. Each iteration begins with a check for an interrupt.
//
//	for i := 0; c; i++ { go f(&i) }  ->  for i1 := 0; c; i1++ { i := i1; ...; i1 = i }, if i is shared
//	for i := 0; ; {}  ->  { i := 0; for {} }
//
// yaegi has one variable for all iterations.

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// interruptible emits the check whether the cell must stop.
func (f *functionTypes) interruptible(w *writer) {
	condition := "stopʹ"
	if f.StopCall {
		condition = f.session("Stopped") + "()"
	}
	w.line("if %s { %s() }", condition, f.session("Stop"))
}

// simpleClause reports whether a statement is lowered to one simple statement, which is allowed in the
// head of a loop.
func (f *function) simpleClause(s ast.Stmt) bool {
	switch s := s.(type) {
	case nil:
		return true
	case *ast.IncDecStmt:
		return !f.checksTarget(s.X)
	case *ast.AssignStmt:
		if slices.ContainsFunc(s.Lhs, f.checksTarget) {
			return false
		}
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
		return f.increment(f.expr(s.X), s)
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
	endless := s.Init != nil && s.Cond == nil && s.Post == nil // yaegi would run such a loop repeatedly
	if f.simpleClause(s.Init) && !endless && !f.owesCheck {
		if s.Init != nil {
			f.store(w, s.Init, false)
		}
		init = f.clause(s.Init)
	} else {
		w.open("{")
		defer func() { w.close("}") }()
		f.initial(w, s.Init)
	}
	if s.Cond != nil {
		f.store(w, s.Cond, false)
	}

	var copied []types.Object
	if a, ok := s.Init.(*ast.AssignStmt); ok && a.Tok == token.DEFINE {
		for _, e := range a.Lhs {
			if v := f.defined(e); v != nil && f.facts.Shared(v) && !f.globals[v] {
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

// storeHead stores the position of the head of a loop, which is evaluated next.
func (f *function) storeHead(w *writer, s *ast.ForStmt) {
	if s.Cond != nil && f.mayPanic(s.Cond) || s.Post != nil && f.mayPanic(s.Post) {
		f.storePosition(w, s)
	}
}
