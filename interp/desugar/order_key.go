package desugar

import (
	"go/ast"
	"go/token"
	"go/types"
	"runtime"
)

// Keys of map accesses. Compiled Go passes some keys to the map by address, and so copies them before the calls that
// follow: see mapKeyTemp in order.go of cmd/compile/internal/walk. It reads the others when it accesses the map:
//
//	m[g+0.5] = f()         ->  t1 := g + 0.5; t2 := f(); m[t1] = t2
//	map[any]int{g: f()}    ->  t1 := map[any]int{}; t2 := g; t3 := f(); t1[t2] = t3
//	map[int]int{g: f()}    ->  t1 := map[int]int{}; t2 := f(); t1[g] = t2

// elementOfMap returns e and the type of the map if e is an element of one. Otherwise the type is nil.
func (o *order) elementOfMap(e ast.Expr) (*ast.IndexExpr, *types.Map) {
	x, ok := ast.Unparen(e).(*ast.IndexExpr)
	if !ok {
		return nil, nil
	}
	m, _ := o.under(x.X).(*types.Map)
	return x, m
}

// key handles a key of a map.
func (o *order) key(m *types.Map, p *ast.Expr) {
	if !o.copiesKey(m, *p) {
		o.expr(p)
		return
	}
	o.within(func() { o.expr(p) })
	o.take(p, false)
	o.pending = true
}

// copiesKey reports whether compiled Go copies a key at once.
func (o *order) copiesKey(m *types.Map, e ast.Expr) bool {
	tv := o.Info.Types[e]
	if tv.Value != nil || tv.IsNil() {
		return false
	}
	if call, ok := ast.Unparen(e).(*ast.CallExpr); ok && !o.Info.Types[call.Fun].IsType() {
		return false // expr makes it an early part
	}
	converted := types.IsInterface(m.Key()) && !types.IsInterface(tv.Type)
	switch passed := passedAs(m); {
	case passed == byValue:
		return false
	case passed == asInteger:
		return true
	default:
		return converted || !tv.Addressable()
	}
}

// How compiled Go passes a key to the functions of maps.
const (
	byAddress = iota
	byValue
	asInteger // or as a string: an array or a struct that is reinterpreted
)

// elementLimit is the size of elements above which keys are always passed by address (MapMaxElemBytes in internal/abi).
const elementLimit = 128

var sizes = types.SizesFor("gc", runtime.GOARCH)

// passedAs follows mapfast in walk.go of cmd/compile/internal/walk.
func passedAs(m *types.Map) int {
	if !isSized(m.Key()) || !isSized(m.Elem()) {
		return byValue // depends on type arguments
	}
	if sizes.Sizeof(m.Elem()) > elementLimit {
		return byAddress
	}
	switch key := m.Key().Underlying().(type) {
	case *types.Pointer, *types.Chan:
		return byValue
	case *types.Basic:
		size := sizes.Sizeof(key)
		if key.Kind() == types.String || key.Kind() == types.UnsafePointer || key.Info()&types.IsInteger != 0 && (size == 4 || size == 8) {
			return byValue
		}
	case *types.Struct, *types.Array:
		one := onlyPart(key)
		if b, ok := one.(*types.Basic); ok && b.Kind() == types.String {
			return asInteger
		}
		if size := sizes.Sizeof(key); (size == 4 || size == 8) && isMemory(key) {
			return asInteger
		}
	}
	return byAddress
}

// isSized reports whether the size of values is known without type arguments.
func isSized(t types.Type) bool {
	if _, ok := types.Unalias(t).(*types.TypeParam); ok {
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Array:
		return isSized(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			if !isSized(f.Type()) {
				return false
			}
		}
	}
	return true
}

// onlyPart returns the only part of structs with one field and of arrays with one element.
func onlyPart(t types.Type) types.Type {
	for {
		switch u := t.Underlying().(type) {
		case *types.Struct:
			if u.NumFields() != 1 || u.Field(0).Name() == "_" {
				return u
			}
			t = u.Field(0).Type()
		case *types.Array:
			if u.Len() != 1 {
				return u
			}
			t = u.Elem()
		default:
			return u
		}
	}
}

// isMemory reports whether values are equal if their bytes are: AlgType in cmd/compile/internal/types.
func isMemory(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&(types.IsInteger|types.IsBoolean) != 0 || u.Kind() == types.UnsafePointer
	case *types.Pointer, *types.Chan:
		return true
	case *types.Array:
		return isMemory(u.Elem())
	case *types.Struct:
		end := int64(0)
		for f := range u.Fields() {
			if f.Name() == "_" || !isMemory(f.Type()) {
				return false
			}
			end += sizes.Sizeof(f.Type())
		}
		return end == sizes.Sizeof(u)
	}
	return false
}

// Expressions whose operands are evaluated at different times: the second operand of && and ||, and the elements of maps,
// which are stored one after the other.
//
//	b := x && y+f() > 0          ->  t1 := x; if t1 { t2 := f(); t1 = y+t2 > 0 }; b := t1
//	b := x || y+f() > 0          ->  t1 := x; if !t1 { t2 := f(); t1 = y+t2 > 0 }; b := t1
//	map[K]V{1: 2, x: f(), g: 3}  ->  t1 := map[K]V{1: 2}; t2 := f(); t1[x] = t2; t1[g] = 3

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
