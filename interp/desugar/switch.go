package desugar

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strconv"

	"github.com/quernlab/quern/interp/facts"
)

// A switch over values becomes a switch over conditions:
//
//	switch x { case a, b: }           ->  switch t := x; { case t == a, t == b: }
//	switch init; x { case a: }        ->  switch init; { default: switch t := x; { case t == a: } }
//	switch f() {}                     ->  switch _ = f(); {}
//	switch { case i: }, an interface  ->  switch { case i == true: }

func switches(s *Source, _ *facts.Function, body []ast.Stmt) []ast.Stmt {
	for _, x := range body {
		ast.Inspect(x, func(n ast.Node) bool {
			if n, ok := n.(*ast.SwitchStmt); ok {
				s.conditions(n)
			}
			return true
		})
	}
	return body
}

// conditions changes one switch. It leaves an inner one to the next call.
func (s *Source) conditions(n *ast.SwitchStmt) {
	if n.Tag != nil && n.Init != nil {
		inner := &ast.SwitchStmt{Switch: n.Switch, Tag: n.Tag, Body: n.Body}
		clause := &ast.CaseClause{Case: n.Body.Lbrace, Colon: n.Body.Lbrace, Body: []ast.Stmt{inner}}
		n.Tag, n.Body = nil, &ast.BlockStmt{Lbrace: n.Body.Lbrace, List: []ast.Stmt{clause}, Rbrace: n.Body.Rbrace}
		return
	}
	var tag *types.Var
	for _, clause := range n.Body.List {
		list := clause.(*ast.CaseClause).List
		for i, e := range list {
			switch {
			case n.Tag != nil && tag == nil:
				id, v := s.variable(n.Tag)
				tag, n.Init = v, define(id, n.Tag)
				fallthrough
			case tag != nil:
				list[i] = s.equal(s.use(e.Pos(), tag), e)
			case types.IsInterface(s.Info.TypeOf(e)):
				list[i] = s.equal(e, s.boolean(e.Pos(), true))
			}
		}
	}
	if n.Tag != nil && tag == nil {
		n.Init = &ast.AssignStmt{Lhs: []ast.Expr{&ast.Ident{NamePos: n.Tag.Pos(), Name: "_"}}, TokPos: n.Tag.Pos(), Tok: token.ASSIGN, Rhs: []ast.Expr{n.Tag}}
	}
	n.Tag = nil
}

func (s *Source) equal(x, y ast.Expr) ast.Expr {
	e := &ast.BinaryExpr{X: x, OpPos: x.Pos(), Op: token.EQL, Y: y}
	s.Note(e, types.TypeAndValue{Type: types.Typ[types.Bool]})
	return e
}

// Conditions of a switch, which are evaluated one after the other:
//
//	switch { case x+f() > 0: A; case y: B; default: C }  ->
//	t1 := 0; t2 := f(); if x+t2 > 0 { t1 = 1 } else if y { t1 = 2 }; switch { case t1 == 1: A; case t1 == 2: B; default: C }

// actsInCase reports whether a case of a switch contains an effectful call.
func (o *order) actsInCase(s *ast.SwitchStmt) bool {
	return slices.ContainsFunc(s.Body.List, func(clause ast.Stmt) bool {
		return slices.ContainsFunc(clause.(*ast.CaseClause).List, o.acts)
	})
}

// cases returns the statements that find the clause of a switch over conditions, which then becomes a switch over its
// number. It returns nothing if no condition has early parts.
func (o *order) cases(s *ast.SwitchStmt) []ast.Stmt {
	if !o.actsInCase(s) {
		return nil
	}
	type condition struct {
		before []ast.Stmt
		test   ast.Expr
		number int
	}
	var conditions []condition
	early := false
	for i, clause := range s.Body.List {
		for _, e := range clause.(*ast.CaseClause).List {
			inner := o.inner()
			inner.expr(&e)
			before := inner.definitions()
			conditions = append(conditions, condition{before, e, i + 1})
			early = early || len(before) > 0
		}
	}
	if !early {
		return nil
	}
	id, v := o.variableOf(s.Pos(), types.Typ[types.Int])
	var chain []ast.Stmt
	for _, c := range slices.Backward(conditions) {
		pos := c.test.Pos()
		test := &ast.IfStmt{If: pos, Cond: c.test, Body: block(pos, []ast.Stmt{assign(o.use(pos, v), o.integer(pos, c.number))})}
		if len(chain) > 0 {
			test.Else = block(pos, chain)
		}
		chain = append(c.before, test)
	}
	for i, clause := range s.Body.List {
		if clause := clause.(*ast.CaseClause); clause.List != nil {
			clause.List = []ast.Expr{o.equal(o.use(clause.Case, v), o.integer(clause.Case, i+1))}
		}
	}
	return append([]ast.Stmt{define(id, o.integer(s.Pos(), 0))}, chain...)
}

func (o *order) integer(pos token.Pos, n int) ast.Expr {
	e := &ast.BasicLit{ValuePos: pos, Kind: token.INT, Value: strconv.Itoa(n)}
	o.Note(e, types.TypeAndValue{Type: types.Typ[types.Int], Value: constant.MakeInt64(int64(n))})
	return e
}

// operands handles the channels and the values of a select statement, which are evaluated once, in this order.
func (o *order) operands(s *ast.SelectStmt) {
	for _, clause := range s.Body.List {
		clause := clause.(*ast.CommClause)
		var operands []*ast.Expr
		switch s := clause.Comm.(type) {
		case *ast.SendStmt:
			operands = []*ast.Expr{&s.Chan, &s.Value}
		case *ast.ExprStmt:
			operands = []*ast.Expr{&ast.Unparen(s.X).(*ast.UnaryExpr).X}
		case *ast.AssignStmt:
			operands = []*ast.Expr{&ast.Unparen(s.Rhs[0]).(*ast.UnaryExpr).X}
			if o.splits(s) {
				o.received(clause, s)
			}
		}
		for _, e := range operands {
			if tv := o.Info.Types[*e]; tv.Value == nil && !tv.IsNil() {
				o.within(func() { o.expr(e) })
				o.take(e, false)
			}
		}
	}
}

// received makes a clause assign what it receives in a statement of its own, in the order of other assignments:
//
//	case i, a[i] = <-c:  ->  case t1, t2 := <-c: i, a[i] = t1, t2
func (o *order) received(clause *ast.CommClause, s *ast.AssignStmt) {
	comm := &ast.AssignStmt{TokPos: s.TokPos, Tok: token.DEFINE, Rhs: s.Rhs}
	var values []ast.Expr
	for v := range o.Info.TypeOf(s.Rhs[0]).(*types.Tuple).Variables() {
		id, value := o.variableOf(s.Pos(), v.Type())
		comm.Lhs, values = append(comm.Lhs, id), append(values, o.use(s.Pos(), value))
	}
	s.Rhs = values
	clause.Comm, clause.Body = comm, append([]ast.Stmt{s}, clause.Body...)
}
