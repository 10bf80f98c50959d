package desugar

// Expressions in order.go: which parts of an expression are evaluated early.

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/quernlab/quern/interp/facts"
)

// expr handles an expression that is evaluated for its value.
func (o *order) expr(p *ast.Expr) {
	if tv := o.Info.Types[*p]; tv.IsType() || tv.Value != nil {
		return
	}
	switch e := (*p).(type) {
	case *ast.Ident:
		if v, ok := o.Info.Uses[e].(*types.Var); ok && (!o.facts.Declared(v) && !v.IsField() && !IsAdded(v) || o.facts.Exposed(v)) {
			o.pending = true
		}
	case *ast.ParenExpr:
		o.expr(&e.X)
	case *ast.CompositeLit:
		o.composite(p, e)
	case *ast.SelectorExpr:
		o.selector(e)
	case *ast.IndexExpr:
		if o.Info.Types[e.Index].IsType() {
			return
		}
		if _, isMap := o.under(e.X).(*types.Map); isMap && o.convertsBytes(e.Index) {
			o.within(func() { o.expr(&e.X); o.expr(&e.Index) })
			o.take(p, false)
			return
		}
		o.expr(&e.X)
		switch x := o.under(e.X).(type) {
		case *types.Map:
			o.key(x, &e.Index)
			o.pending = true
		case *types.Array, *types.Basic:
			o.expr(&e.Index)
		default:
			o.expr(&e.Index)
			o.pending = true
		}
	case *ast.SliceExpr:
		o.within(func() {
			o.expr(&e.X)
			for _, bound := range []*ast.Expr{&e.Low, &e.High, &e.Max} {
				if *bound != nil {
					o.bound(bound)
				}
			}
		})
		o.take(p, false)
	case *ast.StarExpr:
		o.expr(&e.X)
		o.pending = true
	case *ast.TypeAssertExpr:
		o.within(func() { o.expr(&e.X) })
		if e.Type != nil {
			o.take(p, false)
		}
	case *ast.UnaryExpr:
		switch e.Op {
		case token.ARROW:
			o.within(func() { o.expr(&e.X) })
			o.take(p, true)
		case token.AND:
			if lit, ok := ast.Unparen(e.X).(*ast.CompositeLit); ok && o.isMap(lit) {
				o.mapLiteral(p, lit)
				return
			}
			o.address(&e.X)
		default:
			o.expr(&e.X)
		}
	case *ast.BinaryExpr:
		if e.Op == token.LAND || e.Op == token.LOR {
			o.logical(p, e)
			return
		}
		o.expr(&e.X)
		o.expr(&e.Y)
	case *ast.CallExpr:
		o.call(p, e)
	}
}

// bound handles a bound of a slice expression. Compiled Go copies it at once unless it is a variable, see cheapExpr in order.go:
//
//	l.text[l.offset-1 : l.next()]  ->  t1 := l.offset - 1; t2 := l.next(); l.text[t1:t2]
func (o *order) bound(p *ast.Expr) {
	o.expr(p)
	if o.Info.Types[*p].Value != nil {
		return
	}
	switch e := ast.Unparen(*p).(type) {
	case *ast.Ident:
		return
	case *ast.CallExpr:
		if !o.Info.Types[e.Fun].IsType() {
			return // expr has made it an early part
		}
	}
	o.take(p, false)
}

// address handles the operand of &, which is not read.
func (o *order) address(p *ast.Expr) {
	switch e := (*p).(type) {
	case *ast.Ident:
	case *ast.ParenExpr:
		o.address(&e.X)
	case *ast.CompositeLit:
		for i := range e.Elts {
			o.element(&e.Elts[i], nil)
		}
	default:
		o.expr(p)
	}
}

// isMap reports whether e is the literal of a map.
func (o *order) isMap(e *ast.CompositeLit) bool {
	_, ok := o.under(e).(*types.Map)
	return ok
}

func (o *order) composite(p *ast.Expr, e *ast.CompositeLit) {
	switch u := o.under(e).(type) {
	case *types.Struct, *types.Array, *types.Slice, *types.Pointer:
		if pointer, ok := u.(*types.Pointer); ok {
			if _, isMap := pointer.Elem().Underlying().(*types.Map); isMap {
				break
			}
		}
		for i := range e.Elts {
			o.element(&e.Elts[i], elementOf(u))
		}
		return
	}
	o.mapLiteral(p, e)
}

// element handles an element of a composite literal. t is the type of the element, or nil if it is unknown.
func (o *order) element(p *ast.Expr, t types.Type) {
	if kv, ok := (*p).(*ast.KeyValueExpr); ok {
		p = &kv.Value
	}
	o.exprTo(p, t)
}

// elementOf returns the element type of u, or nil if elements can have several types.
func elementOf(u types.Type) types.Type {
	switch u := u.(type) {
	case *types.Slice:
		return u.Elem()
	case *types.Array:
		return u.Elem()
	}
	return nil
}

// exprTo handles an expression that is converted to t, or to an unknown type if t is nil. For a conversion to an
// interface, a value that is not in memory yet is stored in memory.
func (o *order) exprTo(p *ast.Expr, t types.Type) {
	from := o.Info.Types[*p]
	if _, parameter := types.Unalias(t).(*types.TypeParam); parameter {
		t = nil
	}
	if t == nil || !types.IsInterface(t) || from.Value != nil || from.Addressable() || !o.convertsByAddress(from.Type) {
		o.expr(p)
		return
	}
	if call, ok := ast.Unparen(*p).(*ast.CallExpr); ok && !o.Info.Types[call.Fun].IsType() {
		o.expr(p) // evaluated early anyway
		return
	}
	o.within(func() { o.expr(p) })
	o.take(p, false)
}

// convertsByAddress reports whether a value of type t is converted to an interface by a function that takes its
// address, see dataWordFuncName of cmd/compile.
func (o *order) convertsByAddress(t types.Type) bool {
	if t == nil || t == types.Typ[types.UntypedNil] {
		return false
	}
	switch u := soleComponent(t).(type) {
	case *types.Pointer, *types.Map, *types.Chan, *types.Signature:
		return true
	case *types.Basic:
		switch u.Kind() {
		case types.Bool, types.UntypedBool, types.Int8, types.Uint8, types.Complex64, types.Complex128, types.UnsafePointer:
			return true
		}
	case *types.Struct, *types.Array:
		return true
	}
	return false
}

// soleComponent returns the underlying type of the only component of a struct with one field or an array with one
// element.
func soleComponent(t types.Type) types.Type {
	switch u := t.Underlying().(type) {
	case *types.Struct:
		if u.NumFields() == 1 {
			return soleComponent(u.Field(0).Type())
		}
	case *types.Array:
		if u.Len() == 1 {
			return soleComponent(u.Elem())
		}
	}
	return t.Underlying()
}

// convertsBytes reports whether a key is the conversion of bytes to a string. Such a map access does not copy the bytes.
func (o *order) convertsBytes(key ast.Expr) bool {
	call, ok := ast.Unparen(key).(*ast.CallExpr)
	if !ok || !o.Info.Types[call.Fun].IsType() {
		return false
	}
	_, fromSlice := o.under(call.Args[0]).(*types.Slice)
	return fromSlice
}

func (o *order) selector(e *ast.SelectorExpr) {
	sel := o.Info.Selections[e]
	switch {
	case sel == nil: // a member of a package
		_, variable := o.Info.Uses[e.Sel].(*types.Var)
		o.pending = o.pending || variable
	case sel.Kind() == types.MethodExpr:
	default:
		o.expr(&e.X)
		if _, pointer := o.under(e.X).(*types.Pointer); pointer || sel.Indirect() {
			o.pending = true
		}
	}
}

func (o *order) call(p *ast.Expr, e *ast.CallExpr) {
	tv := o.Info.Types[e.Fun]
	if tv.IsType() {
		_, toSlice := tv.Type.Underlying().(*types.Slice)
		if b, ok := o.under(e.Args[0]).(*types.Basic); ok && toSlice && b.Info()&types.IsString != 0 {
			o.within(func() { o.expr(&e.Args[0]) })
			o.take(p, false)
			return
		}
		o.exprTo(&e.Args[0], tv.Type)
		if _, fromSlice := o.under(e.Args[0]).(*types.Slice); fromSlice && !toSlice {
			o.pending = true // the conversion reads the elements
		}
		return
	}
	if tv.IsBuiltin() && o.Info.Types[*p].Type == types.Typ[types.UnsafePointer] {
		o.parts(e)
		return
	}
	o.within(func() { o.parts(e) })
	o.take(p, o.isEffectful(e))
}

// parts handles the function and the arguments of a call.
func (o *order) parts(e *ast.CallExpr) {
	switch fun := ast.Unparen(e.Fun).(type) {
	case *ast.Ident:
		o.expr(&e.Fun)
	case *ast.SelectorExpr:
		sel := o.Info.Selections[fun]
		if sel == nil || sel.Kind() != types.MethodVal {
			o.expr(&e.Fun)
			break
		}
		if o.Info.Types[fun.X].Addressable() {
			if m, ok := sel.Obj().(*types.Func); ok {
				if _, byPointer := types.Unalias(m.Signature().Recv().Type()).(*types.Pointer); byPointer {
					if _, isPointer := o.under(fun.X).(*types.Pointer); !isPointer {
						o.address(&fun.X)
						break
					}
				}
			}
		}
		o.selector(fun)
	case *ast.FuncLit:
	default:
		o.expr(&e.Fun)
	}
	if len(e.Args) == 1 {
		if inner, ok := ast.Unparen(e.Args[0]).(*ast.CallExpr); ok {
			if _, several := o.Info.TypeOf(inner).(*types.Tuple); several {
				o.within(func() { o.parts(inner) })
				return
			}
		}
	}
	sig, _ := o.under(e.Fun).(*types.Signature)
	for i := range e.Args {
		o.exprTo(&e.Args[i], facts.ParameterAt(sig, i, e.Ellipsis.IsValid()))
	}
}

// isEffectful reports whether a call may change variables, or wait for a goroutine that does. Functions of compiled
// packages do not if all their parameters are of basic types.
func (o *order) isEffectful(e *ast.CallExpr) bool {
	if o.Info.Types[e.Fun].IsType() {
		return false
	}
	switch callee := typeutil.Callee(o.Info, e).(type) {
	case *types.Builtin:
		return callee.Name() == "copy" || callee.Name() == "recover"
	case *types.Func:
		if callee.Pkg() == nil || o.Interpreted(callee.Pkg()) || callee.Signature().Recv() != nil {
			return true
		}
		for v := range callee.Signature().Params().Variables() {
			if _, basic := v.Type().Underlying().(*types.Basic); !basic {
				return true
			}
		}
		return false
	}
	return true
}

// acts reports whether e contains an effectful call or a receive.
func (o *order) acts(e ast.Expr) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			found = found || o.isEffectful(n)
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW
		}
		return !found
	})
	return found
}

// HasCalls reports whether the evaluation of n may call functions, which may have side effects.
func HasCalls(info *types.Info, n ast.Node) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			tv := info.Types[n.Fun]
			found = found || !tv.IsType() && !tv.IsBuiltin()
		}
		return !found
	})
	return found
}
