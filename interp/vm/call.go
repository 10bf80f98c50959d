package vm

import (
	"go/ast"
	"go/types"
	"reflect"

	"github.com/quernlab/quern/interp/desugar"
)

// callExpr compiles a call, a conversion, or a call of a builtin function with at most one result.
func (c *compiler) callExpr(e *ast.CallExpr, want *operand) operand {
	switch tv := c.source.Info.Types[e.Fun]; {
	case tv.IsType():
		return c.conversion(e, want)
	case tv.IsBuiltin():
		return c.builtin(e, calleeName(e.Fun), want)
	}
	results := c.compileCall(e)
	if len(results) != 1 {
		return operand{}
	}
	return c.moveInto(results[0], want)
}

// calledFunction returns the function or method that a call names, or nil.
func (c *compiler) calledFunction(e *ast.CallExpr) *types.Func {
	id := desugar.CalledIdent(e.Fun)
	if id == nil {
		return nil
	}
	f, _ := c.source.Info.Uses[id].(*types.Func)
	return f
}

func calleeName(e ast.Expr) string {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

// compileCall compiles a call and returns its results.
func (c *compiler) compileCall(e *ast.CallExpr) []operand {
	defer c.withPosition(e)()
	defer c.beforeCall(e)()
	sig, ok := c.typeOf(e.Fun).Underlying().(*types.Signature)
	if !ok {
		c.fail(e, "a call of %s", c.typeOf(e.Fun))
	}
	fun := ast.Unparen(e.Fun)
	switch x := fun.(type) {
	case *ast.Ident:
		if o, ok := c.source.Info.Uses[x].(*types.Func); ok {
			return c.callFunction(e, o, sig)
		}
	case *ast.SelectorExpr:
		if sel := c.source.Info.Selections[x]; sel != nil {
			if sel.Kind() == types.MethodVal {
				return c.callMethod(e, x, sel, sig)
			}
		} else if o, ok := c.source.Info.Uses[x.Sel].(*types.Func); ok {
			return c.callFunction(e, o, sig)
		}
	case *ast.IndexExpr, *ast.IndexListExpr:
		if x := instantiatedMethod(fun); x != nil {
			if sel := c.source.Info.Selections[x]; sel != nil && sel.Kind() == types.MethodVal {
				return c.callMethod(e, x, sel, sig)
			}
		}
		if id := desugar.CalledIdent(fun); id != nil {
			if o, ok := c.source.Info.Uses[id].(*types.Func); ok {
				return c.callFunction(e, o, sig)
			}
		}
	}
	return c.callValue(e, sig)
}

// callFunction compiles the call of a declared function of a cell or of a compiled package.
func (c *compiler) callFunction(e *ast.CallExpr, o *types.Func, sig *types.Signature) []operand {
	if o.FullName() == "reflect.TypeFor" {
		return c.typeFor(e, c.subst(c.source.Info.Instances[desugar.CalledIdent(e.Fun)].TypeArgs.At(0)))
	}
	if f := c.unit.callee(o); f != nil {
		b := c.beginCall(e)
		c.arguments(b, e, sig)
		return c.callDirect(b, f, sig, e)
	}
	if results := c.callCmp(e, o, sig); results != nil {
		return results
	}
	if f := c.functionInstance(e.Fun, o); f != nil {
		b := c.beginCall(e)
		c.arguments(b, e, sig)
		return c.callDirect(b, f, sig, e)
	}
	return c.callCompiled(e, o, sig)
}

// instantiatedMethod returns the selector of the method that an index expression instantiates, or nil if it is something else.
func instantiatedMethod(e ast.Expr) *ast.SelectorExpr {
	switch x := e.(type) {
	case *ast.IndexExpr:
		e = x.X
	case *ast.IndexListExpr:
		e = x.X
	}
	method, _ := ast.Unparen(e).(*ast.SelectorExpr)
	return method
}

// callDirect compiles the call of a function of the VM.
func (c *compiler) callDirect(b *callFrame, f *Function, sig *types.Signature, n ast.Node) []operand {
	if c.deferCall(n, b, nil, func(a *compiler, b *callFrame, _ []operand) { a.callDirect(b, f, sig, n) }) {
		return nil
	}
	k := int32(-1)
	for i, have := range c.fn.callees {
		if have == f {
			k = int32(i)
		}
	}
	if k < 0 {
		k = int32(len(c.fn.callees))
		c.fn.callees = append(c.fn.callees, f)
	}
	c.emit(opCall, b.scalarOffset, b.slotOffset, 0, k, b.lending())
	return c.resultsOf(b, sig, n)
}

// resultsOf returns the results of the call that was just emitted.
func (c *compiler) resultsOf(b *callFrame, sig *types.Signature, n ast.Node) []operand {
	c.release(mark{int(b.scalarOffset) / 8, int(b.slotOffset) / int(slotSize)})
	var list []operand
	for v := range sig.Results().Variables() {
		r := c.temporary(c.shape(n, c.subst(v.Type())))
		r.owned = r.file == memory
		list = append(list, r)
	}
	return list
}

// callValue compiles the call of a function value.
func (c *compiler) callValue(e *ast.CallExpr, sig *types.Signature) []operand {
	f := c.expr(e.Fun, nil)
	if f.width != "P" || f.typ.Kind() != reflect.Func {
		c.fail(e, "a call of %s", f.typ)
	}
	return c.callPointer(e, f, sig)
}

// callPointer compiles the call of the function value f.
func (c *compiler) callPointer(e *ast.CallExpr, f operand, sig *types.Signature) []operand {
	if c.isDeferred(e) {
		f = c.snapshot(f)
	}
	b := c.beginCall(e)
	c.arguments(b, e, sig)
	return c.callPointerWith(b, e, f, sig)
}

// callPointerWith compiles the call of f with the arguments in b.
func (c *compiler) callPointerWith(b *callFrame, e *ast.CallExpr, f operand, sig *types.Signature) []operand {
	if c.deferCall(e, b, []operand{f}, func(a *compiler, b *callFrame, more []operand) { a.callPointerWith(b, e, more[0], sig) }) {
		return nil
	}
	x := &foreignCall{typ: f.typ}
	for i := range f.typ.NumIn() {
		s, err := shapeOf(f.typ.In(i))
		if err != nil {
			c.fail(e, "%v", err)
		}
		x.parameters = append(x.parameters, s)
	}
	for i := range f.typ.NumOut() {
		s, err := shapeOf(f.typ.Out(i))
		if err != nil {
			c.fail(e, "%v", err)
		}
		x.results = append(x.results, s)
	}
	x.direct = adapterFor(x.parameters, frameRegisters(x.parameters), x.results, frameRegisters(x.results))
	// The results of a foreign function need registers, too.
	c.reserveResults(b, x.results)
	c.fn.foreignCalls = append(c.fn.foreignCalls, x)
	c.emit(opCallValue, b.scalarOffset, b.slotOffset, f.reg, int32(len(c.fn.foreignCalls)-1), b.lending())
	return c.resultsOf(b, sig, e)
}
