package desugar

// Evaluation order. Compiled Go makes the calls of a statement first, one after the other, and reads variables and
// memory after all calls:
//
//	return v, json.Unmarshal(b, &v)  ->  t1 := json.Unmarshal(b, &v); return v, t1
//	x += f(), f changes x            ->  t1 := f(); x += t1
//	a, b = xs[0], <-c                ->  t1 := <-c; a, b = xs[0], t1
//	xs[i], err = f()                 ->  t1, t2 := f(); xs[i], err = t1, t2
//	if x+f() > 0 {}                  ->  { t1 := f(); if x+t1 > 0 {} }
//	go f(g()), several results       ->  t1, t2 := g(); go f(t1, t2)
//	select { case c <- x+f(): }      ->  t1 := f(); select { case c <- x+t1: }
//
// The specification leaves the order open, but programs rely on it. Slice expressions, len, append, &&, assertions
// and some others are evaluated among the calls: this file follows order.go in cmd/compile/internal/walk.
// Statements with the same meaning in both orders do not change.
//
import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/quernlab/quern/interp/facts"
)

// order changes one function.
type order struct {
	*Source
	facts *facts.Function

	// State of the current statement.
	early   []part // parts to be evaluated before the rest, in order
	needed  int    // how many of these must be evaluated before a pending read
	acting  int    // the index after the last of these that is effectful
	pending bool   // the statement has read something that a call may change
}

// part is a part of a statement to be evaluated before the rest.
type part struct {
	expr *ast.Expr
	// defined appends the statements that define a variable for the value. If it is nil, this is the definition by expr.
	defined func(list []ast.Stmt) (*types.Var, []ast.Stmt)
}

func inOrder(s *Source, known *facts.Function, body []ast.Stmt) []ast.Stmt {
	o := &order{Source: s, facts: known}
	body = o.list(body)
	for _, s := range body {
		o.nested(s)
	}
	return body
}

// nested changes the blocks in a statement.
func (o *order) nested(s ast.Stmt) {
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt:
			n.List = o.list(n.List)
		case *ast.CaseClause:
			n.Body = o.list(n.Body)
		case *ast.CommClause:
			n.Body = o.list(n.Body)
		case *ast.IfStmt:
			if _, ok := n.Else.(*ast.IfStmt); ok {
				o.single(&n.Else)
			}
		case *ast.ForStmt:
			o.condition(n)
		}
		return true
	})
}

// single changes a statement that is not in a list. It becomes a block if there are definitions before it.
func (o *order) single(s *ast.Stmt) {
	if list := o.list([]ast.Stmt{*s}); len(list) > 1 || list[0] != *s {
		*s = &ast.BlockStmt{Lbrace: (*s).Pos(), List: list, Rbrace: (*s).End()}
	}
}

// under returns the underlying type of an expression, or nil for a package name.
func (o *order) under(e ast.Expr) types.Type {
	if t := o.Info.TypeOf(e); t != nil {
		return t.Underlying()
	}
	return nil
}

// list returns the statements of a block, each preceded by the definitions of its early parts.
func (o *order) list(list []ast.Stmt) []ast.Stmt {
	var out []ast.Stmt
	for i, s := range list {
		l, isLabeled := s.(*ast.LabeledStmt)
		if s, ok := s.(*ast.SwitchStmt); ok && o.actsInCase(s) {
			o.conditions(s)
		}
		var before []ast.Stmt
		if isLabeled {
			before = o.labeled(l)
		} else {
			before = o.statement(s)
		}
		var first []ast.Stmt // before the init statement
		if init := initOf(s); init != nil {
			first = o.statement(*init)
		}
		if loop, ok := s.(*ast.ForStmt); ok {
			first = append(first, o.post(loop)...)
		}
		if len(before)+len(first) > 0 && out == nil {
			out = append(make([]ast.Stmt, 0, len(list)+len(before)+len(first)), list[:i]...)
		}
		out = append(out, first...)
		switch {
		case len(before) == 0:
			if out != nil {
				out = append(out, s)
			}
		case isLabeled:
			out = append(out, before...)
		case initOf(s) != nil:
			init := initOf(s)
			before = append([]ast.Stmt{*init}, before...)
			*init = nil
			out = append(out, &ast.BlockStmt{Lbrace: s.Pos(), List: append(before, s), Rbrace: s.End()})
		default:
			out = append(append(out, before...), s)
		}
	}
	if out == nil {
		return list
	}
	return out
}

// initOf returns the init statement of s, or nil if it has none.
func initOf(s ast.Stmt) *ast.Stmt {
	var init *ast.Stmt
	switch s := s.(type) {
	case *ast.IfStmt:
		init = &s.Init
	case *ast.SwitchStmt:
		init = &s.Init
	case *ast.TypeSwitchStmt:
		init = &s.Init
	case *ast.ForStmt:
		init = &s.Init
	}
	if init == nil || *init == nil {
		return nil
	}
	return init
}

// statement removes the early parts from a statement and returns the statements that define them.
func (o *order) statement(s ast.Stmt) []ast.Stmt {
	o.early, o.needed, o.acting, o.pending = nil, 0, 0, false
	var after []ast.Stmt
	switch s := s.(type) {
	case *ast.ExprStmt:
		o.last(&s.X)
	case *ast.SendStmt:
		o.expr(&s.Chan)
		o.expr(&s.Value)
	case *ast.AssignStmt:
		after = o.assign(s)
	case *ast.IncDecStmt:
		o.updated(&s.X)
	case *ast.DeclStmt:
		if d := s.Decl.(*ast.GenDecl); d.Tok == token.VAR && len(d.Specs) == 1 {
			o.values(d.Specs[0].(*ast.ValueSpec).Values)
		}
	case *ast.ReturnStmt:
		o.values(s.Results)
	case *ast.IfStmt:
		o.expr(&s.Cond)
	case *ast.SwitchStmt:
		if s.Tag == nil {
			return o.cases(s)
		}
		o.expr(&s.Tag)
	case *ast.TypeSwitchStmt:
		o.expr(&subject(s).X)
	case *ast.RangeStmt:
		o.last(&s.X)
	case *ast.SelectStmt:
		o.operands(s)
	case *ast.GoStmt:
		after = o.later(s.Call)
	case *ast.DeferStmt:
		after = o.later(s.Call)
	}
	before := append(o.definitions(), after...)
	if s, ok := s.(*ast.AssignStmt); ok && o.splits(s) {
		before = append(before, o.split(s)...)
	}
	return before
}

// definitions returns the statements that define the early parts, and replaces these by variables.
func (o *order) definitions() (list []ast.Stmt) {
	for _, p := range o.early[:o.needed] {
		if p.defined == nil {
			id, v := o.variable(*p.expr)
			list = append(list, define(id, *p.expr))
			*p.expr = o.use(id.NamePos, v)
			continue
		}
		var v *types.Var
		v, list = p.defined(list)
		*p.expr = o.use(v.Pos(), v)
	}
	return list
}

// subject returns the x.(type) of a type switch.
func subject(s *ast.TypeSwitchStmt) *ast.TypeAssertExpr {
	if a, ok := s.Assign.(*ast.AssignStmt); ok {
		return ast.Unparen(a.Rhs[0]).(*ast.TypeAssertExpr)
	}
	return ast.Unparen(s.Assign.(*ast.ExprStmt).X).(*ast.TypeAssertExpr)
}

// assign handles assignments and definitions. It returns the definition of the results of a call if they must be
// evaluated before the targets.
func (o *order) assign(s *ast.AssignStmt) []ast.Stmt {
	switch {
	case s.Tok != token.ASSIGN && s.Tok != token.DEFINE:
		o.updated(&s.Lhs[0])
		o.bothCall(s)
		o.expr(&s.Rhs[0])
		return nil
	case len(s.Lhs) == 1 && o.appendToElement(s):
		return nil
	case len(s.Lhs) == 1:
		o.target(&s.Lhs[0])
		if _, m := o.elementOfMap(s.Lhs[0]); m != nil && o.pending && o.acts(s.Rhs[0]) {
			o.expr(&s.Rhs[0])
			return nil
		}
		o.bothCall(s)
		acting, read := o.acting, false
		o.within(func() { o.values(s.Rhs); read = o.pending })
		if read {
			o.needed = max(o.needed, acting) // the back ends evaluate the operands of the target after the value
		}
		o.pending = o.pending || read
		return nil
	}
	for i := range s.Lhs {
		o.target(&s.Lhs[i])
	}
	call, isCall := ast.Unparen(s.Rhs[0]).(*ast.CallExpr)
	splits := o.splits(s)
	late := (o.pending || splits) && s.Tok == token.ASSIGN
	if len(s.Rhs) > 1 || !isCall {
		late = len(s.Rhs) == 1 && (splits || late && isReceive(s.Rhs[0]))
		o.values(s.Rhs)
	} else {
		o.parts(call)
	}
	if late || splits {
		o.needed = len(o.early)
	}
	if !late {
		return nil
	}
	return o.results(&s.Rhs)
}

// bothCall makes the calls in a target early if the value has calls, too, so that a back end need not evaluate calls on both sides.
func (o *order) bothCall(s *ast.AssignStmt) {
	if HasCalls(o.Info, s.Lhs[0]) && HasCalls(o.Info, s.Rhs[0]) || o.acting > 0 && o.acts(s.Rhs[0]) {
		o.needed = max(o.needed, len(o.early))
	}
}

func isReceive(e ast.Expr) bool {
	x, ok := ast.Unparen(e).(*ast.UnaryExpr)
	return ok && x.Op == token.ARROW
}

// later handles the call of a go or defer statement. It returns the definition of its arguments if they are the results
// of a call.
func (o *order) later(e *ast.CallExpr) (after []ast.Stmt) {
	o.parts(e)
	if len(e.Args) == 1 {
		after = o.results(&e.Args)
	}
	if after != nil {
		o.needed = len(o.early)
	}
	return after
}

// results replaces a call with several results, the first of list, by variables. It returns their definition, or nil if
// there is no such call.
func (o *order) results(list *[]ast.Expr) []ast.Stmt {
	tuple, ok := o.Info.TypeOf((*list)[0]).(*types.Tuple)
	if !ok {
		return nil
	}
	define := &ast.AssignStmt{TokPos: (*list)[0].Pos(), Tok: token.DEFINE, Rhs: *list}
	*list = nil
	for v := range tuple.Variables() {
		id, v := o.variableOf(define.Rhs[0].Pos(), v.Type())
		define.Lhs = append(define.Lhs, id)
		*list = append(*list, o.use(id.NamePos, v))
	}
	return []ast.Stmt{define}
}

// target handles the target of an assignment, whose operands are read.
func (o *order) target(e *ast.Expr) {
	if x, m := o.elementOfMap(*e); m != nil {
		o.expr(&x.X)
		o.key(m, &x.Index)
		return
	}
	switch x := (*e).(type) {
	case *ast.Ident:
	case *ast.ParenExpr:
		o.target(&x.X)
	default:
		o.expr(e)
	}
}

// updated handles the target of an assignment that is read as well. The element of a map remains in its place.
func (o *order) updated(e *ast.Expr) {
	if _, m := o.elementOfMap(*e); m != nil {
		o.target(e)
		o.pending = true
		return
	}
	o.expr(e)
}

// values handles the values of a statement.
func (o *order) values(list []ast.Expr) {
	if len(list) == 1 {
		o.last(&list[0])
		return
	}
	for i := range list {
		o.expr(&list[i])
	}
}

// last handles the only value of a statement. If it is a call, nothing is read after it.
func (o *order) last(e *ast.Expr) {
	switch x := ast.Unparen(*e).(type) {
	case *ast.CallExpr:
		if tv := o.Info.Types[x.Fun]; !tv.IsType() && tv.Value == nil {
			o.parts(x)
			return
		}
	case *ast.UnaryExpr:
		if x.Op == token.ARROW {
			o.expr(&x.X)
			return
		}
	case *ast.TypeAssertExpr:
		o.expr(&x.X)
		return
	case *ast.IndexExpr: // may have two values
		if _, isMap := o.under(x.X).(*types.Map); isMap {
			o.expr(&x.X)
			o.expr(&x.Index)
			return
		}
	}
	o.expr(e)
}

// take makes e an early part. If it is effectful, it may change what has been read.
func (o *order) take(e *ast.Expr, effectful bool) {
	o.takePart(part{expr: e}, effectful)
}

func (o *order) takePart(p part, effectful bool) {
	o.early = append(o.early, p)
	if effectful {
		o.acting = len(o.early)
		if o.pending {
			o.needed = len(o.early)
		}
	}
}

// within handles the operands of an early part, which are read at that point.
func (o *order) within(operands func()) {
	pending, before := o.pending, len(o.early)
	o.pending = false
	operands()
	o.pending = pending
	if pending && o.acting > before {
		o.needed = max(o.needed, o.acting) // an operand may change what has been read
	}
}
