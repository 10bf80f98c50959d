package lower

// Switches over expressions:
//
//	switch init; x { case a: }            ->  { init; switch x { case a: } }
//	switch i { case v: }, one an interface ->  { var t1 = i; switch { case rtʹ.Equal(t1, v): } }
//	switch i { case f(), a[1]: }          ->  { var t1 = i; switch { case (t1 == f()) || (t1 == a[1]): } }
//	switch p { case nil, q: }             ->  { var t1 = p; switch { case (t1 == nil) || (t1 == q): } }
//	switch { case i: }, i an interface    ->  switch { case rtʹ.Equal(true, i): }
//	switch f() {}                         ->  var t1 = f()
//	switch x { case 1: L: for {} }        ->  switch x { case 1: { L: for {} } }
//	switch x { default: a; case 1: b }    ->  switch x { case 1: b; default: a }
//	switch x { default: a; fallthrough; case 1: b } -> { t1 := 0; switch x { case 1: t1 = 1 }; switch t1 { case 0: a; fallthrough; case 1: b } }
//
// yaegi only compares values of basic types, and moves a default to the position of the last clause.

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
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
		f.cases(w, t, "switch", s.Body, true, func(x ast.Expr) string {
			if text, ok := f.compare("true", f.expr(x), types.Typ[types.Bool], f.typeOf(x)); ok {
				return text
			}
			return f.expr(x)
		})
		return
	}
	if len(s.Body.List) == 0 {
		f.discard(w, s.Tag) // yaegi would not evaluate it
		return
	}
	tag := f.typeOf(s.Tag)
	_, basic := tag.Underlying().(*types.Basic)
	for _, c := range s.Body.List {
		for _, x := range c.(*ast.CaseClause).List {
			basic = basic && !types.IsInterface(f.typeOf(x)) && (len(c.(*ast.CaseClause).List) == 1 || f.isSettled(x))
		}
	}
	if basic {
		f.cases(w, t, "switch "+f.expr(s.Tag), s.Body, false, f.expr)
		return
	}
	tag = types.Default(tag)
	tmp := f.temp()
	w.line("var %s %s = %s", tmp, f.typ(tag), f.exprTo(s.Tag, tag))
	f.cases(w, t, "switch", s.Body, true, func(x ast.Expr) string {
		if text, ok := f.compare(tmp, f.expr(x), tag, f.typeOf(x)); ok {
			return text
		}
		a, b := f.sameType(tmp, f.expr(x), tag, f.typeOf(x))
		return "(" + a + " == " + b + ")"
	})
}

// isSettled reports whether the value of x is known without executing an instruction. Of several values that are not,
// yaegi only looks at the first.
func (f *function) isSettled(x ast.Expr) bool {
	if f.Info.Types[x].Value != nil {
		return true
	}
	id, ok := ast.Unparen(x).(*ast.Ident)
	return ok && !f.globals[f.Info.Uses[id]]
}

// cases emits a switch with the given head. conditions reports whether value renders the expressions of the cases as
// conditions.
func (f *function) cases(w *writer, t *target, head string, body *ast.BlockStmt, conditions bool, value func(ast.Expr) string) {
	if fallsAroundDefault(body) {
		f.numberedCases(w, t, head, body, conditions, value)
		return
	}
	f.label(w, t)
	w.line("%s {", head)
	var last *ast.CaseClause
	for _, c := range body.List {
		c := c.(*ast.CaseClause)
		if c.List == nil {
			last = c
			continue
		}
		w.line("case %s:", f.caseValues(c, conditions, value))
		f.clauseBody(w, c)
	}
	if last != nil {
		w.line("default:")
		f.clauseBody(w, last)
	}
	w.line("}")
}

// numberedCases emits a switch that determines the number of the case, and a switch over that number.
func (f *function) numberedCases(w *writer, t *target, head string, body *ast.BlockStmt, conditions bool, value func(ast.Expr) string) {
	found := f.temp()
	for i, c := range body.List {
		if c.(*ast.CaseClause).List == nil {
			w.line("var %s int = %d", found, i)
		}
	}
	w.line("%s {", head)
	for i, c := range body.List {
		if c := c.(*ast.CaseClause); c.List != nil {
			w.line("case %s:", f.caseValues(c, conditions, value))
			w.line("\t%s = %d", found, i)
		}
	}
	w.line("}")
	f.label(w, t)
	w.line("switch %s {", found)
	for i, c := range body.List {
		w.line("case %d:", i)
		f.clauseBody(w, c.(*ast.CaseClause))
	}
	w.line("}")
}

func (f *function) clauseBody(w *writer, c *ast.CaseClause) {
	w.indent++
	f.clauseStatements(w, c.Body)
	w.indent--
}

// clauseStatements emits the statements of a clause. yaegi does not see a label that is directly in a clause.
func (f *function) clauseStatements(w *writer, list []ast.Stmt) {
	if !slices.ContainsFunc(list, func(s ast.Stmt) bool { _, ok := s.(*ast.LabeledStmt); return ok }) {
		f.statements(w, list)
		return
	}
	labels, falls := fallthroughOf(list)
	if falls != nil {
		list = append(slices.Clone(list[:len(list)-1]), labels...)
	}
	w.open("{")
	f.statements(w, list)
	w.close("}")
	if falls != nil {
		f.statement(w, falls)
	}
}

// fallthroughOf returns the fallthrough at the end of a clause, or nil, and its labels on an empty statement.
func fallthroughOf(list []ast.Stmt) (labels []ast.Stmt, falls *ast.BranchStmt) {
	if len(list) == 0 {
		return nil, nil
	}
	last := list[len(list)-1]
	for {
		l, ok := last.(*ast.LabeledStmt)
		if !ok {
			break
		}
		labels = append(labels, &ast.LabeledStmt{Label: l.Label, Colon: l.Colon, Stmt: &ast.EmptyStmt{Semicolon: l.Stmt.Pos(), Implicit: true}})
		last = l.Stmt
	}
	if b, ok := last.(*ast.BranchStmt); ok && b.Tok == token.FALLTHROUGH {
		return labels, b
	}
	return nil, nil
}

func (f *function) caseValues(c *ast.CaseClause, conditions bool, value func(ast.Expr) string) string {
	values := make([]string, len(c.List))
	for i, x := range c.List {
		values[i] = value(x)
	}
	if conditions {
		if len(values) > 1 {
			values[0] = f.condition(c.List[0], values[0])
		}
		return strings.Join(values, " || ") // yaegi confuses several values
	}
	return strings.Join(values, ", ")
}

// fallsAroundDefault reports whether a switch has a fallthrough, and a default that is not its last clause.
func fallsAroundDefault(body *ast.BlockStmt) bool {
	early, falls := false, false
	for i, c := range body.List {
		c := c.(*ast.CaseClause)
		early = early || c.List == nil && i < len(body.List)-1
		_, b := fallthroughOf(c.Body)
		falls = falls || b != nil
	}
	return early && falls
}
