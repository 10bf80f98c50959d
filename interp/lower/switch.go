package lower

// Switches over conditions; see package desugar for those over values:
//
//	switch init; { case a: }              ->  { init; switch { case a: } }
//	switch { case a, b: }                 ->  switch { case a || b: }
//	switch { case a: L: for {} }          ->  switch { case a: { L: for {} } }
//	switch { default: x; case a: y }      ->  switch { case a: y; default: x }
//	switch { default: x; fallthrough; case a: y } -> { t1 := 0; switch { case a: t1 = 1 }; switch t1 { case 0: x; fallthrough; case 1: y } }
//
// yaegi moves a default to the position of the last clause.

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

func (f *function) switchStatement(w *writer, s *ast.SwitchStmt, label string) {
	if s.Init != nil {
		w.open("{")
		defer func() { w.close("}") }()
		f.initial(w, s.Init)
	}
	t := f.push(&target{label: label})
	defer f.pop()
	f.cases(w, t, s.Body)
}

// cases emits a switch over conditions.
func (f *function) cases(w *writer, t *target, body *ast.BlockStmt) {
	if fallsAroundDefault(body) {
		f.numberedCases(w, t, body)
		return
	}
	f.label(w, t)
	w.line("switch {")
	var last *ast.CaseClause
	for _, c := range body.List {
		c := c.(*ast.CaseClause)
		if c.List == nil {
			last = c
			continue
		}
		w.line("case %s:", f.caseValues(c))
		f.clauseBody(w, c)
	}
	if last != nil {
		w.line("default:")
		f.clauseBody(w, last)
	}
	w.line("}")
}

// numberedCases emits a switch that determines the number of the case, and a switch over that number.
func (f *function) numberedCases(w *writer, t *target, body *ast.BlockStmt) {
	found := f.temp()
	for i, c := range body.List {
		if c.(*ast.CaseClause).List == nil {
			w.line("var %s int = %d", found, i)
		}
	}
	w.line("switch {")
	for i, c := range body.List {
		if c := c.(*ast.CaseClause); c.List != nil {
			w.line("case %s:", f.caseValues(c))
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

// caseValues returns the condition of a clause. yaegi confuses several values.
func (f *function) caseValues(c *ast.CaseClause) string {
	values := make([]string, len(c.List))
	for i, x := range c.List {
		values[i] = f.expr(x)
	}
	if len(values) > 1 {
		values[0] = f.condition(c.List[0], values[0])
	}
	return strings.Join(values, " || ")
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
