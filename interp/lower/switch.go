package lower

// Switches over expressions:
//
//	switch init; x { case a: }            ->  { init; switch x { case a: } }
//	switch i { case v: }, one an interface ->  { var t1 = i; switch { case rtʹ.Equal(t1, v): } }
//	select { case x = <-c: }              ->  select { case t1 := <-c: x = t1 }

import (
	"go/ast"
	"go/token"
	"go/types"
)

func (f *function) switchStatement(w *writer, s *ast.SwitchStmt, label string) {
	if s.Init != nil {
		w.open("{")
		defer func() { w.close("}") }()
		f.statement(w, s.Init)
	}
	t := f.push(&target{label: label})
	defer f.pop()
	f.store(w, s, false)
	if s.Tag == nil {
		f.label(w, t)
		w.line("switch {")
		f.cases(w, s.Body, func(x ast.Expr) string { return f.expr(x) })
		return
	}
	tag := f.typeOf(s.Tag)
	interfaces := types.IsInterface(tag)
	for _, c := range s.Body.List {
		for _, x := range c.(*ast.CaseClause).List {
			interfaces = interfaces || types.IsInterface(f.typeOf(x))
		}
	}
	if !interfaces {
		text := f.expr(s.Tag)
		f.label(w, t)
		w.line("switch %s {", text)
		f.cases(w, s.Body, func(x ast.Expr) string { return f.expr(x) })
		return
	}
	tag = types.Default(tag)
	tmp := f.temp()
	w.line("var %s %s = %s", tmp, f.typ(tag), f.exprTo(s.Tag, tag))
	f.label(w, t)
	w.line("switch {")
	f.cases(w, s.Body, func(x ast.Expr) string {
		if text, ok := f.compare(tmp, f.expr(x), tag, f.typeOf(x)); ok {
			return text
		}
		return tmp + " == " + f.expr(x)
	})
}

func (f *function) cases(w *writer, body *ast.BlockStmt, value func(ast.Expr) string) {
	for _, c := range body.List {
		c := c.(*ast.CaseClause)
		if c.List == nil {
			w.line("default:")
		} else {
			values := make([]string, len(c.List))
			for i, x := range c.List {
				values[i] = value(x)
			}
			w.line("case %s:", list(values))
		}
		w.indent++
		f.statements(w, c.Body)
		w.indent--
	}
	w.line("}")
}

func (f *function) selectStatement(w *writer, s *ast.SelectStmt, label string) {
	t := f.push(&target{label: label})
	defer f.pop()
	w.line("positionʹ = %d", f.position(s))
	f.label(w, t)
	w.line("select {")
	for _, c := range s.Body.List {
		c := c.(*ast.CommClause)
		var set func()
		switch comm := c.Comm.(type) {
		case nil:
			w.line("default:")
		case *ast.SendStmt:
			w.line("case %s <- %s:", f.expr(comm.Chan), f.exprTo(comm.Value, f.coreOf(comm.Chan).(*types.Chan).Elem()))
		case *ast.ExprStmt:
			w.line("case <-%s:", f.expr(ast.Unparen(comm.X).(*ast.UnaryExpr).X))
		case *ast.AssignStmt:
			set = f.received(w, comm)
		}
		w.indent++
		if set != nil {
			set()
		}
		f.statements(w, c.Body)
		w.indent--
	}
	w.line("}")
}

// received writes the case of a receive statement and returns what sets its
// variables.
func (f *function) received(w *writer, s *ast.AssignStmt) func() {
	from := ast.Unparen(s.Rhs[0]).(*ast.UnaryExpr).X
	elem := f.coreOf(from).(*types.Chan).Elem()
	temps := make([]string, len(s.Lhs))
	for i := range temps {
		temps[i] = f.temp()
	}
	w.line("case %s := <-%s:", list(temps), f.expr(from))
	return func() {
		for i, e := range s.Lhs {
			if isBlank(e) {
				continue
			}
			t, source := f.targetType(e), []types.Type{elem, types.Typ[types.Bool]}[i]
			value := f.convert(temps[i], source, t)
			if v := f.defined(e); v != nil && s.Tok == token.DEFINE {
				f.defineFrom(w, v, t, value)
			} else {
				w.line("%s = %s", f.expr(e), value)
			}
		}
	}
}
