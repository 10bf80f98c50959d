package lower

// A type switch becomes a chain of tests, in the order of the cases, and a switch over the number of the matching case, so that
// break keeps its meaning:
//
//	switch v := x.(type) {        var t1 interface{} = x
//	case P:                       t2 := rtʹ.TypeID(t1)
//		use(v)                    t3 := -1
//	case int, error:          ->  var t4 Pʹ1
//	}                             if t2 == 17 { t3 = 0; t4 = rtʹ.Value(t1).(Pʹ1) } else {
//	                                  _, ok := asʹ1(t1); if ok { t3 = 1 } else { ... } }
//	                              switch t3 { case 0: v := t4; use(v); case 1: }
//
// yaegi treats types with the same structure as identical.

import (
	"go/ast"
	"go/types"
)

func (f *function) typeSwitch(w *writer, s *ast.TypeSwitchStmt, label string) {
	w.open("{")
	defer func() { w.close("}") }()
	if s.Init != nil {
		f.initial(w, s.Init)
	}
	var x ast.Expr
	switch a := s.Assign.(type) {
	case *ast.ExprStmt:
		x = ast.Unparen(a.X).(*ast.TypeAssertExpr).X
	case *ast.AssignStmt:
		x = ast.Unparen(a.Rhs[0]).(*ast.TypeAssertExpr).X
	}
	f.store(w, x, false)
	xt := f.typeOf(x)
	subject, found := f.temp(), f.temp()
	w.line("var %s %s = %s", subject, f.typ(xt), f.expr(x))
	w.line("var %s int = -1", found)
	id := ""
	type clause struct {
		stmt *ast.CaseClause
		v    types.Object
		name string
		typ  types.Type
	}
	clauses := make([]clause, len(s.Body.List))
	for i, c := range s.Body.List {
		c := c.(*ast.CaseClause)
		cl := clause{stmt: c}
		if o := f.Info.Implicits[c]; o != nil && f.uses(c, o) {
			cl.v, cl.typ = o, xt
			if len(c.List) == 1 && !isNil(f.typeOf(c.List[0])) {
				cl.typ = f.typeOf(c.List[0])
			}
			cl.name = f.temp()
			w.line("var %s %s", cl.name, f.typ(cl.typ))
		}
		clauses[i] = cl
		for _, e := range c.List {
			if t := f.typeOf(e); !isNil(t) && f.boxed(t) && id == "" {
				id = f.temp()
			}
		}
	}
	if id != "" {
		w.line("%s := %s", id, f.rt("TypeID", subject))
	}

	depth := 0
	unnest := func() {
		for range depth {
			w.close("}")
		}
		depth = 0
	}
	for i, cl := range clauses {
		for _, e := range cl.stmt.List {
			if depth == maxTests { // yaegi's parser limits the depth
				unnest()
				w.open("if %s < 0 {", found)
				depth++
			}
			t := f.typeOf(e)
			value := subject
			single := cl.v != nil && len(cl.stmt.List) == 1
			switch {
			case isNil(t):
				w.open("if %s == nil {", subject)
			case f.boxed(t) && !isEmptyStruct(t):
				w.open("if %s == %d {", id, f.Registry.ID(t))
				value = f.rt("Value", subject) + ".(" + f.typ(t) + ")"
			default:
				ok, v := f.temp(), f.temp()
				w.line("%s, %s := %s(%s)", v, ok, f.asHelper(t), subject)
				w.open("if %s {", ok)
				value = v
			}
			w.line("%s = %d", found, i)
			if single {
				w.line("%s = %s", cl.name, value)
			} else if cl.v != nil {
				w.line("%s = %s", cl.name, subject)
			}
			w.close("} else {")
			w.indent++
			depth++
		}
	}
	for _, cl := range clauses {
		if cl.v != nil && cl.stmt.List == nil {
			w.line("%s = %s", cl.name, subject)
		}
	}
	unnest()

	t := f.push(&target{label: label})
	defer f.pop()
	f.label(w, t)
	w.line("switch %s {", found)
	for i, cl := range clauses {
		if cl.stmt.List == nil {
			w.line("default:")
		} else {
			w.line("case %d:", i)
		}
		w.indent++
		if cl.v != nil {
			w.line("var %s %s = %s", f.declare(cl.v), f.typ(cl.typ), cl.name)
		}
		f.clauseStatements(w, cl.stmt.Body)
		w.indent--
	}
	w.line("}")
}

// maxTests is the maximum depth of nested tests in a type switch.
const maxTests = 100

func (f *functionTypes) uses(n ast.Node, o types.Object) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && f.Info.Uses[id] == o {
			found = true
		}
		return !found
	})
	return found
}
