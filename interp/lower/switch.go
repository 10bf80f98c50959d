package lower

// Switches over expressions:
//
//	switch init; x { case a: }            ->  { init; switch x { case a: } }
//	switch i { case v: }, one an interface ->  { var t1 = i; switch { case rtʹ.Equal(t1, v): } }

import (
	"go/ast"
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
