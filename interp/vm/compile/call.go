package compile

import (
	"go/ast"
	"go/types"
	"reflect"

	"github.com/quernlab/quern/interp/desugar"
	"github.com/quernlab/quern/interp/vm"
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
func (c *compiler) callDirect(b *callFrame, f *vm.Function, sig *types.Signature, n ast.Node) []operand {
	if c.deferCall(n, b, nil, func(a *compiler, b *callFrame, _ []operand) { a.callDirect(b, f, sig, n) }) {
		return nil
	}
	k := int32(-1)
	for i, have := range c.fn.Callees {
		if have == f {
			k = int32(i)
		}
	}
	if k < 0 {
		k = int32(len(c.fn.Callees))
		c.fn.Callees = append(c.fn.Callees, f)
	}
	c.emit(vm.OpCall, b.scalarOffset, b.slotOffset, 0, k, b.lending())
	return c.resultsOf(b, sig, n)
}

// resultsOf returns the results of the call that was just emitted.
func (c *compiler) resultsOf(b *callFrame, sig *types.Signature, n ast.Node) []operand {
	c.release(mark{int(b.scalarOffset) / 8, int(b.slotOffset) / int(vm.SlotSize)})
	var list []operand
	for v := range sig.Results().Variables() {
		r := c.temporary(c.shape(n, c.subst(v.Type())))
		r.owned = r.File == vm.Memory
		list = append(list, r)
	}
	return list
}

// callValue compiles the call of a function value.
func (c *compiler) callValue(e *ast.CallExpr, sig *types.Signature) []operand {
	f := c.expr(e.Fun, nil)
	if f.Width != "P" || f.Type.Kind() != reflect.Func {
		c.fail(e, "a call of %s", f.Type)
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
	x, err := vm.NewForeignCall(f.Type)
	if err != nil {
		c.fail(e, "%v", err)
	}
	// The results of a foreign function need registers, too.
	c.reserveResults(b, x.Results)
	c.fn.ForeignCalls = append(c.fn.ForeignCalls, x)
	c.emit(vm.OpCallValue, b.scalarOffset, b.slotOffset, f.reg, int32(len(c.fn.ForeignCalls)-1), b.lending())
	return c.resultsOf(b, sig, e)
}

// callFrame is the frame of a function to be called. Its first registers hold the arguments.
type callFrame struct {
	scalarOffset, slotOffset uint16 // of the frame in the register files, in bytes
	mark                     mark
	parameters               []operand
	borrows                  bool // the called function copies the variables that are lent to it; see ownParameters
	lent                     bool // there is such a variable
}

func (c *code) beginFrame() *callFrame {
	return &callFrame{scalarOffset: uint16(c.scalarsInUse * 8), slotOffset: uint16(c.slotsInUse * int(vm.SlotSize)), mark: c.mark()}
}

// beginCall begins the frame of a call of a function that borrows its arguments.
func (c *compiler) beginCall(e ast.Node) *callFrame {
	b := c.beginFrame()
	b.borrows = !c.isDeferred(e)
	return b
}

// argument compiles the next argument of a call, of type t. If it is not the last one with a call, its variable may change before the call.
func (c *code) argument(b *callFrame, n ast.Node, t types.Type, last bool, compile func(want *operand) operand) {
	s := c.shape(n, t)
	to := c.temporary(s)
	m := c.mark()
	x := compile(&to)
	if s.File == vm.Memory && b.borrows && last && !x.owned {
		c.move(to, x)
		b.lent = true
	} else if s.File == vm.Memory {
		c.own(x, &to)
	} else {
		c.moveInto(x, &to)
	}
	c.release(m)
	b.parameters = append(b.parameters, to)
}

// arguments compiles the arguments of a call.
func (c *compiler) arguments(b *callFrame, e *ast.CallExpr, sig *types.Signature) {
	params := sig.Params()
	n := params.Len()
	if len(e.Args) == 1 && n != 0 {
		if tuple, ok := c.source.Info.Types[e.Args[0]].Type.(*types.Tuple); ok {
			c.spreadCall(b, e, sig, tuple)
			return
		}
	}
	variadic := sig.Variadic() && !e.Ellipsis.IsValid()
	for i := range n {
		t := c.subst(params.At(i).Type())
		if variadic && i == n-1 {
			c.argument(b, e, t, true, func(want *operand) operand {
				return c.variadicSlice(e, e.Args[n-1:], t, want)
			})
			continue
		}
		x := e.Args[i]
		c.argument(b, x, t, b.borrows && !c.anyHasCalls(e.Args[i+1:]), func(want *operand) operand { return c.exprTo(x, t, want) })
	}
}

// variadicSlice makes the slice of the variadic arguments.
func (c *compiler) variadicSlice(e *ast.CallExpr, list []ast.Expr, t types.Type, want *operand) operand {
	s := c.shape(e, t)
	if len(list) == 0 {
		dst := c.destination(s, want)
		c.do(vm.OpNil, dst.reg, 0, 0)
		return dst
	}
	dst := c.temporary(s)
	at, typ := dst.reg, s.Type
	c.makeElements(typ, at, len(list))
	elem := t.Underlying().(*types.Slice).Elem()
	for i, x := range list {
		m := c.mark()
		c.store(at, int32(i)*int32(typ.Elem().Size()), c.exprTo(x, elem, nil))
		c.release(m)
	}
	return c.moveInto(dst, want)
}

// spreadCall compiles the arguments of f(g()), where g has several results.
func (c *compiler) spreadCall(b *callFrame, e *ast.CallExpr, sig *types.Signature, tuple *types.Tuple) {
	inner, ok := ast.Unparen(e.Args[0]).(*ast.CallExpr)
	if !ok {
		c.fail(e, "several values as arguments")
	}
	// The results of g are where the arguments begin: move them away.
	results := c.compileCall(inner)
	moved := make([]operand, len(results))
	for i, r := range results {
		moved[i] = c.temporary(r.Shape)
		moved[i].owned = r.owned
		c.move(moved[i], r)
	}
	receivers := b.parameters
	*b = callFrame{scalarOffset: uint16(c.scalarsInUse * 8), slotOffset: uint16(c.slotsInUse * int(vm.SlotSize)), mark: b.mark}
	for _, r := range receivers {
		to := c.temporary(r.Shape)
		c.move(to, r)
		b.parameters = append(b.parameters, to)
	}
	for i := range sig.Params().Len() {
		t := c.subst(sig.Params().At(i).Type())
		if sig.Variadic() && i == sig.Params().Len()-1 {
			c.argument(b, e, t, false, func(want *operand) operand { return c.spreadVariadic(e, moved, tuple, i, t, want) })
			break
		}
		from := c.subst(tuple.At(i).Type())
		c.argument(b, e, t, false, func(want *operand) operand { return c.converted(e, moved[i], from, t, want) })
	}
}

// spreadVariadic makes the slice of the variadic arguments from the results, beginning with index first.
func (c *compiler) spreadVariadic(e *ast.CallExpr, results []operand, tuple *types.Tuple, first int, t types.Type, want *operand) operand {
	s := c.shape(e, t)
	dst := c.temporary(s)
	if first >= len(results) {
		c.do(vm.OpNil, dst.reg, 0, 0)
		return c.moveInto(dst, want)
	}
	at, typ := dst.reg, s.Type
	c.makeElements(typ, at, len(results)-first)
	elem := t.Underlying().(*types.Slice).Elem()
	for i, x := range results[first:] {
		m := c.mark()
		v := c.converted(e, x, c.subst(tuple.At(first+i).Type()), elem, nil)
		c.store(at, int32(i)*int32(typ.Elem().Size()), v)
		c.release(m)
	}
	return c.moveInto(dst, want)
}

// converted converts a value as an assignment does.
func (c *code) converted(n ast.Node, x operand, from, to types.Type, want *operand) operand {
	if types.IsInterface(to) {
		if types.IsInterface(from) {
			return c.betweenInterfaces(n, x, from, to, want)
		}
		return c.toInterface(n, x, from, to, want)
	}
	return c.moveInto(x, want)
}

// reserveResults makes the frame large enough for results at b.
func (c *code) reserveResults(b *callFrame, results []vm.Shape) {
	m := c.mark()
	c.release(mark{int(b.scalarOffset) / 8, int(b.slotOffset) / int(vm.SlotSize)})
	for _, s := range results {
		c.register(s)
	}
	c.release(m)
}
