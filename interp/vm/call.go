package vm

import (
	"go/ast"
	"go/types"
	"reflect"
	"unsafe"
)

// callExpr compiles a call, a conversion, or a call of a builtin function, to
// one value.
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
	return c.settle(results[0], want)
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
	defer c.within(e)()
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
		if id := calleeIdent(fun); id != nil {
			if o, ok := c.source.Info.Uses[id].(*types.Func); ok {
				return c.callFunction(e, o, sig)
			}
		}
	}
	return c.callValue(e, sig)
}

// callFunction calls a declared or a compiled function.
func (c *compiler) callFunction(e *ast.CallExpr, o *types.Func, sig *types.Signature) []operand {
	if o.Signature().Recv() != nil {
		c.fail(e, "the generic method %s", o.Name())
	}
	if f := c.unit.callee(o); f != nil {
		b := c.beginBlock()
		c.arguments(b, e, sig)
		return c.callDirect(b, f, sig, e)
	}
	if f := c.functionInstance(e.Fun, o); f != nil {
		b := c.beginBlock()
		c.arguments(b, e, sig)
		return c.callDirect(b, f, sig, e)
	}
	if o.Pkg() == nil || c.isInterpreted(o) {
		return c.callEngine(e, o, sig)
	}
	return c.callCompiled(e, o, sig)
}

// callEngine calls a function that yaegi runs. Such a call costs more than
// one from yaegi, so that functions that make many of them stay there.
func (c *compiler) callEngine(e *ast.CallExpr, o *types.Func, sig *types.Signature) []operand {
	id := calleeIdent(e.Fun)
	var arguments []types.Type
	if in, ok := c.source.Info.Instances[id]; ok {
		for t := range in.TypeArgs.Types() {
			arguments = append(arguments, c.subst(t))
		}
	}
	standard := o.Pkg() != nil && o.Pkg().Path() != "main"
	if c.loops > 0 && !standard || c.source.Engine == nil || sig.Variadic() {
		c.fail(e, "a call of %s, which is not compiled", o.Name())
	}
	name := c.source.Engine(id, o, arguments)
	if name == "" {
		c.fail(e, "a call of %s, which is not compiled", o.Name())
	}
	typ := c.shape(e, sig).typ
	c.unit.useName(name)
	g, ok := c.unit.engine[name]
	if !ok {
		g = &global{name: name, typ: typ}
		c.unit.engine[name] = g
	}
	at := c.referenceRegister()
	c.fn.globals = append(c.fn.globals, g)
	c.emit(opGlobal, at, 0, 0, int32(len(c.fn.globals)-1), 0)
	f := c.load(shape{file: reference, width: "P", typ: typ}, at, 0, nil)
	return c.callPointer(e, f, sig)
}

func calleeIdent(e ast.Expr) *ast.Ident {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		return e.Sel
	case *ast.IndexExpr:
		return calleeIdent(e.X)
	case *ast.IndexListExpr:
		return calleeIdent(e.X)
	}
	return nil
}

func (c *compiler) isInterpreted(o *types.Func) bool {
	return o.Pkg().Path() == "main" || o.Signature().TypeParams() != nil
}

// block is where the arguments of a call lie: the first registers of the frame
// of the called function.
type block struct {
	n, s       uint16 // offsets of the frame
	begin      mark
	parameters []operand
}

func (c *compiler) beginBlock() *block {
	return &block{n: uint16(c.topN * 8), s: uint16(c.topS * int(slotSize)), begin: c.mark()}
}

// argument compiles the next argument of a call, of type t.
func (c *compiler) argument(b *block, n ast.Node, t types.Type, compile func(want *operand) operand) {
	s := c.shape(n, t)
	to := c.temporary(s)
	m := c.mark()
	x := compile(&to)
	if s.file == memory {
		c.own(x, &to)
	} else {
		c.settle(x, &to)
	}
	c.release(m)
	b.parameters = append(b.parameters, to)
}

// arguments compiles the arguments of a call.
func (c *compiler) arguments(b *block, e *ast.CallExpr, sig *types.Signature) {
	params := sig.Params()
	n := params.Len()
	if len(e.Args) == 1 && n != 0 {
		if tuple, ok := c.source.Info.Types[e.Args[0]].Type.(*types.Tuple); ok {
			c.spread(b, e, sig, tuple)
			return
		}
	}
	variadic := sig.Variadic() && !e.Ellipsis.IsValid()
	for i := range n {
		t := c.subst(params.At(i).Type())
		if variadic && i == n-1 {
			c.argument(b, e, t, func(want *operand) operand {
				return c.variadicSlice(e, e.Args[n-1:], t, want)
			})
			continue
		}
		x := e.Args[i]
		c.argument(b, x, t, func(want *operand) operand { return c.exprTo(x, t, want) })
	}
}

// variadicSlice makes the slice of the last arguments.
func (c *compiler) variadicSlice(e *ast.CallExpr, list []ast.Expr, t types.Type, want *operand) operand {
	s := c.shape(e, t)
	if len(list) == 0 {
		dst := c.destination(s, want)
		c.do(opNil, dst.at, 0, 0)
		return dst
	}
	dst := c.temporary(s)
	at, typ, length := dst.at, s.typ, len(list)
	c.native("make "+typ.String(), &native{run: func(_ *thread, _, sb unsafe.Pointer) {
		*slice(sb, at) = header{reflect.MakeSlice(typ, length, length).UnsafePointer(), length, length}
	}})
	elem := t.Underlying().(*types.Slice).Elem()
	for i, x := range list {
		m := c.mark()
		c.store(at, int32(i)*int32(typ.Elem().Size()), c.exprTo(x, elem, nil))
		c.release(m)
	}
	return c.settle(dst, want)
}

// spread compiles f(g()) where g has several results.
func (c *compiler) spread(b *block, e *ast.CallExpr, sig *types.Signature, tuple *types.Tuple) {
	inner, ok := ast.Unparen(e.Args[0]).(*ast.CallExpr)
	if !ok {
		c.fail(e, "several values as arguments")
	}
	// They are where the arguments begin; out of the way.
	results := c.compileCall(inner)
	moved := make([]operand, len(results))
	for i, r := range results {
		moved[i] = c.temporary(r.shape)
		moved[i].owned = r.owned
		c.move(moved[i], r)
	}
	*b = block{n: uint16(c.topN * 8), s: uint16(c.topS * int(slotSize)), begin: b.begin, parameters: nil}
	for i := range sig.Params().Len() {
		t := c.subst(sig.Params().At(i).Type())
		if sig.Variadic() && i == sig.Params().Len()-1 {
			c.argument(b, e, t, func(want *operand) operand { return c.spreadRest(e, moved, tuple, i, t, want) })
			break
		}
		from := c.subst(tuple.At(i).Type())
		c.argument(b, e, t, func(want *operand) operand { return c.converted(e, moved[i], from, t, want) })
	}
}

// spreadRest makes the slice of the results from first on.
func (c *compiler) spreadRest(e *ast.CallExpr, results []operand, tuple *types.Tuple, first int, t types.Type, want *operand) operand {
	s := c.shape(e, t)
	dst := c.temporary(s)
	if first >= len(results) {
		c.do(opNil, dst.at, 0, 0)
		return c.settle(dst, want)
	}
	at, typ, length := dst.at, s.typ, len(results)-first
	c.native("make "+typ.String(), &native{run: func(_ *thread, _, sb unsafe.Pointer) {
		*slice(sb, at) = header{reflect.MakeSlice(typ, length, length).UnsafePointer(), length, length}
	}})
	elem := t.Underlying().(*types.Slice).Elem()
	for i, x := range results[first:] {
		m := c.mark()
		v := c.converted(e, x, c.subst(tuple.At(first+i).Type()), elem, nil)
		c.store(at, int32(i)*int32(typ.Elem().Size()), v)
		c.release(m)
	}
	return c.settle(dst, want)
}

// converted converts a value as an assignment does.
func (c *compiler) converted(n ast.Node, x operand, from, to types.Type, want *operand) operand {
	if types.IsInterface(to) {
		if types.IsInterface(from) {
			return c.betweenInterfaces(n, x, from, to, want)
		}
		return c.toInterface(n, x, from, to, want)
	}
	return c.settle(x, want)
}

// callDirect calls a function of the VM.
func (c *compiler) callDirect(b *block, f *Function, sig *types.Signature, n ast.Node) []operand {
	if c.postponed(n, b, nil, func(a *compiler, b *block, _ []operand) { a.callDirect(b, f, sig, n) }) {
		return nil
	}
	k := int32(-1)
	for i, have := range c.fn.calls {
		if have == f {
			k = int32(i)
		}
	}
	if k < 0 {
		k = int32(len(c.fn.calls))
		c.fn.calls = append(c.fn.calls, f)
	}
	c.emit(opCall, b.n, b.s, 0, k, 0)
	return c.resultsOf(b, sig, n)
}

// resultsOf returns the results of a call that has just been made.
func (c *compiler) resultsOf(b *block, sig *types.Signature, n ast.Node) []operand {
	c.release(mark{int(b.n) / 8, int(b.s) / int(slotSize)})
	var list []operand
	for v := range sig.Results().Variables() {
		r := c.temporary(c.shape(n, c.subst(v.Type())))
		r.owned = r.file == memory
		list = append(list, r)
	}
	return list
}

// callMethod calls a method.
func (c *compiler) callMethod(e *ast.CallExpr, x *ast.SelectorExpr, sel *types.Selection, sig *types.Signature) []operand {
	m, path := c.method(x, sel)
	if types.IsInterface(c.typeOf(x.X)) || types.IsInterface(m.Signature().Recv().Type()) {
		return c.callInterface(e, x, m, path, sig)
	}
	recv := m.Signature().Recv().Type()
	f := c.unit.callee(m.Origin())
	if f == nil {
		f = c.methodInstance(m)
	}
	if f == nil && (m.Pkg() == nil || c.isInterpreted(m)) {
		c.fail(e, "a call of the method %s, which is not compiled", m.Name())
	}
	if f == nil {
		return c.callCompiledMethod(e, x, m, path, sig)
	}
	b := c.beginBlock()
	c.argument(b, e, recv, func(want *operand) operand { return c.receiver(x, path, recv, want) })
	c.arguments(b, e, sig)
	return c.callDirect(b, f, sig, e)
}

// receiver returns what a method with a receiver of type recv is called with.
func (c *compiler) receiver(x *ast.SelectorExpr, path []int, recv types.Type, want *operand) operand {
	t := c.typeOf(x.X)
	_, byPointer := types.Unalias(recv).(*types.Pointer)
	var at types.Type = t
	if len(path) > 0 {
		at = c.pathType(t, path)
	}
	_, isPointer := at.Underlying().(*types.Pointer)
	if len(path) == 0 && isPointer == byPointer {
		return c.expr(x.X, want)
	}
	var p place
	if len(path) > 0 {
		p = c.field(x, x.X, path)
	} else if isPointer {
		v := c.expr(x.X, nil)
		s := c.shape(x, at.Underlying().(*types.Pointer).Elem())
		return c.get(place{kind: inMemory, shape: s, at: v.at}, want)
	} else {
		p = c.locate(x.X)
	}
	switch {
	case isPointer == byPointer:
		return c.get(p, want)
	case byPointer:
		receiver := operand{shape: c.shape(x, recv)}
		switch p.kind {
		case inElement:
			receiver.at = c.elementAddress(p)
		case inMemory:
			receiver.at = c.check(p)
		default:
			c.fail(x, "the address of the receiver")
		}
		return receiver
	}
	v := c.get(p, nil)
	s := c.shape(x, at.Underlying().(*types.Pointer).Elem())
	return c.get(place{kind: inMemory, shape: s, at: v.at}, want)
}

// pathType returns the type at the end of a path of fields.
func (c *compiler) pathType(t types.Type, path []int) types.Type {
	for _, f := range path {
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t = p.Elem()
		}
		t = c.subst(t.Underlying().(*types.Struct).Field(f).Type())
	}
	return t
}

// callValue calls a function value.
func (c *compiler) callValue(e *ast.CallExpr, sig *types.Signature) []operand {
	f := c.expr(e.Fun, nil)
	if f.width != "P" || f.typ.Kind() != reflect.Func {
		c.fail(e, "a call of %s", f.typ)
	}
	return c.callPointer(e, f, sig)
}

// callPointer calls the function value f.
func (c *compiler) callPointer(e *ast.CallExpr, f operand, sig *types.Signature) []operand {
	if c.deferred != nil && c.deferred.call == e {
		f = c.fresh(f)
	}
	b := c.beginBlock()
	c.arguments(b, e, sig)
	return c.callPointerWith(b, e, f, sig)
}

// callPointerWith calls f with the arguments of a block.
func (c *compiler) callPointerWith(b *block, e *ast.CallExpr, f operand, sig *types.Signature) []operand {
	if c.postponed(e, b, []operand{f}, func(a *compiler, b *block, more []operand) { a.callPointerWith(b, e, more[0], sig) }) {
		return nil
	}
	x := &foreign{typ: f.typ}
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
	x.direct = adapterFor(x.parameters, places(x.parameters), x.results, places(x.results))
	// The results of a call of Go need room, too.
	c.roomFor(b, x.results)
	c.fn.foreign = append(c.fn.foreign, x)
	c.emit(opCallValue, b.n, b.s, f.at, int32(len(c.fn.foreign)-1), 0)
	return c.resultsOf(b, sig, e)
}
