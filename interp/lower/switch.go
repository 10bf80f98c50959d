package lower

// Switches over expressions:
//
//	switch init; x { case a: }            ->  { init; switch x { case a: } }
//	switch i { case v: }, one an interface ->  { var t1 = i; switch { case rtʹ.Equal(t1, v): } }
//	switch p { case nil, q: }             ->  { var t1 = p; switch { case (t1 == nil) || (t1 == q): } }

import (
	"go/ast"
	"go/types"
	"strings"
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
		f.cases(w, s.Body, true, f.expr)
		return
	}
	tag := f.typeOf(s.Tag)
	// The engine compares values of basic types only.
	_, basic := tag.Underlying().(*types.Basic)
	for _, c := range s.Body.List {
		for _, x := range c.(*ast.CaseClause).List {
			basic = basic && !types.IsInterface(f.typeOf(x))
		}
	}
	if basic {
		text := f.expr(s.Tag)
		f.label(w, t)
		w.line("switch %s {", text)
		f.cases(w, s.Body, false, f.expr)
		return
	}
	tag = types.Default(tag)
	tmp := f.temp()
	w.line("var %s %s = %s", tmp, f.typ(tag), f.exprTo(s.Tag, tag))
	f.label(w, t)
	w.line("switch {")
	f.cases(w, s.Body, true, func(x ast.Expr) string {
		if text, ok := f.compare(tmp, f.expr(x), tag, f.typeOf(x)); ok {
			return text
		}
		a, b := f.sameType(tmp, f.expr(x), tag, f.typeOf(x))
		return "(" + a + " == " + b + ")"
	})
}

func (f *function) cases(w *writer, body *ast.BlockStmt, conditions bool, value func(ast.Expr) string) {
	for _, c := range body.List {
		c := c.(*ast.CaseClause)
		if c.List == nil {
			w.line("default:")
		} else {
			values := make([]string, len(c.List))
			for i, x := range c.List {
				values[i] = value(x)
			}
			separator := ", "
			if conditions {
				// The engine mixes up several conditions.
				separator = " || "
			}
			w.line("case %s:", strings.Join(values, separator))
		}
		w.indent++
		f.statements(w, c.Body)
		w.indent--
	}
	w.line("}")
}
