package desugar

// Expressions whose operands are evaluated at different times: the second operand of && and ||, and the elements of maps,
// which are stored one after the other.
//
//	b := x && y+f() > 0          ->  t1 := x; if t1 { t2 := f(); t1 = y+t2 > 0 }; b := t1
//	b := x || y+f() > 0          ->  t1 := x; if !t1 { t2 := f(); t1 = y+t2 > 0 }; b := t1
//	map[K]V{1: 2, x: f(), g: 3}  ->  t1 := map[K]V{1: 2}; t2 := f(); t1[x] = t2; t1[g] = 3

import (
	"go/ast"
	"go/token"
	"go/types"
)

// inner is an order for statements that are executed within the current one.
func (o *order) inner() *order { return &order{Source: o.Source, facts: o.facts} }

// logical handles x && y and x || y.
func (o *order) logical(p *ast.Expr, e *ast.BinaryExpr) {
	acts := o.acts(e)
	o.within(func() { o.expr(&e.X) })
	inner := o.inner()
	if acts {
		inner.expr(&e.Y)
	}
	before := inner.definitions()
	if len(before) == 0 {
		o.take(p, acts)
		return
	}
	o.takePart(part{p, func(list []ast.Stmt) (*types.Var, []ast.Stmt) {
		id, v := o.variable(e)
		test := ast.Expr(o.use(e.OpPos, v))
		if e.Op == token.LOR {
			test = &ast.UnaryExpr{OpPos: e.OpPos, Op: token.NOT, X: test}
			o.Note(test, types.TypeAndValue{Type: v.Type()})
		}
		body := append(before, assign(o.use(e.Y.Pos(), v), e.Y))
		return v, append(list, define(id, e.X), &ast.IfStmt{If: e.OpPos, Cond: test, Body: block(e.OpPos, body)})
	}}, acts)
	o.needed = len(o.early)
}

// mapLiteral handles the literal e of a map, which is *p, or a pointer to one, with or without the &.
func (o *order) mapLiteral(p *ast.Expr, e *ast.CompositeLit) {
	m, ok := o.under(*p).(*types.Map)
	pointer, isPointer := o.under(*p).(*types.Pointer)
	if isPointer {
		m, ok = pointer.Elem().Underlying().(*types.Map)
	}
	if acts := o.acts(e); !acts || !ok {
		o.take(p, acts)
		return
	}
	whole := *p
	id, v := o.variable(whole)
	var constant []ast.Expr
	var stores []ast.Stmt
	ordered, read := false, false
	for _, x := range e.Elts {
		kv := x.(*ast.KeyValueExpr)
		if o.Info.Types[kv.Key].Value != nil && o.Info.Types[kv.Value].Value != nil {
			constant = append(constant, x)
			continue
		}
		to := ast.Expr(o.use(kv.Pos(), v))
		if isPointer {
			to = &ast.StarExpr{Star: kv.Pos(), X: to}
			o.Note(to, types.TypeAndValue{Type: pointer.Elem()})
		}
		store := assign(&ast.IndexExpr{X: to, Lbrack: kv.Pos(), Index: kv.Key, Rbrack: kv.Colon}, kv.Value)
		o.Note(store.Lhs[0], types.TypeAndValue{Type: m.Elem()})
		inner := o.inner()
		before := inner.statement(store)
		read = read || inner.pending
		ordered = ordered || len(before) > 0 || read && (o.acts(kv.Key) || o.acts(kv.Value))
		stores = append(append(stores, before...), store)
	}
	if !ordered {
		o.take(p, true)
		return
	}
	o.takePart(part{p, func(list []ast.Stmt) (*types.Var, []ast.Stmt) {
		e.Elts = constant
		return v, append(append(list, define(id, whole)), stores...)
	}}, true)
	o.needed = len(o.early)
}

func assign(to, value ast.Expr) *ast.AssignStmt {
	return &ast.AssignStmt{Lhs: []ast.Expr{to}, TokPos: to.Pos(), Tok: token.ASSIGN, Rhs: []ast.Expr{value}}
}

func block(pos token.Pos, list []ast.Stmt) *ast.BlockStmt {
	return &ast.BlockStmt{Lbrace: pos, List: list, Rbrace: list[len(list)-1].End()}
}
