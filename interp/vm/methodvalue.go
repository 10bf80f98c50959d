package vm

import (
	"go/ast"
	"go/types"
	"reflect"
	"unsafe"

	"github.com/quernlab/quern/interp/rt"
)

// methodValue compiles a method value x.m: a closure that captures the receiver.
func (c *compiler) methodValue(e *ast.SelectorExpr, sel *types.Selection, want *operand) operand {
	m, path := c.method(e, sel)
	recv := m.Signature().Recv().Type()
	if types.IsInterface(c.typeOf(e.X)) || types.IsInterface(recv) {
		return c.interfaceMethodValue(e, m, path, want)
	}
	x := c.receiver(e, path, recv, nil)
	captured := c.captureValue(operand{shape: x.shape, reg: c.addressIfMemory(x), owned: x.owned && x.offset == 0})
	w := c.methodWrapper(e, m)
	w.addParameters(w.signature)
	w.receiver = types.NewParam(e.Pos(), nil, "receiver", recv)
	w.variables[w.receiver] = &variable{shape: x.shape, reg: w.referenceRegister(), boxed: !isAddress(x)}
	w.fn.captures = []uint16{w.variables[w.receiver].reg}
	w.fn.method = c.methodFunction(e, m)
	w.finish(nil)
	dst := c.destination(c.shapeOf(e), want)
	c.makeClosure(w.fn, []uint16{captured}, dst)
	return dst
}

// methodExpression compiles a method expression T.m: a function whose first parameter is the receiver.
func (c *compiler) methodExpression(e *ast.SelectorExpr, sel *types.Selection, want *operand) operand {
	m, path := c.method(e, sel)
	f := c.methodFunction(e, m)
	if f != nil && len(path) == 0 && types.Identical(c.typeOf(e.X), m.Signature().Recv().Type()) {
		return c.declaredValue(f, c.shapeOf(e), want)
	}
	w := c.methodWrapper(e, m)
	w.receiver = types.NewParam(e.Pos(), nil, "receiver", c.typeOf(e.X))
	w.addParameters(w.signature, w.receiver)
	if f != nil {
		w.fn.name = f.name
	}
	if p, ok := types.Unalias(w.receiver.Type()).(*types.Pointer); ok && types.Identical(p.Elem(), m.Signature().Recv().Type()) {
		w.checkReceiver()
	}
	w.finish(path)
	dst := c.destination(c.shapeOf(e), want)
	c.makeClosure(w.fn, nil, dst)
	return dst
}

// methodFunction returns the function of the VM for the method m, which x selects; nil if it is compiled or one of an interface.
func (c *compiler) methodFunction(x *ast.SelectorExpr, m *types.Func) *Function {
	if types.IsInterface(m.Signature().Recv().Type()) {
		return nil
	}
	if f := c.unit.callee(m.Origin()); f != nil {
		return f
	}
	return c.methodInstance(m, c.ownArguments(x))
}

// methodWrapper compiles the function of a method value or a method expression, which calls the method.
type methodWrapper struct {
	*compiler
	selector   *ast.SelectorExpr
	method     *types.Func
	receiver   *types.Var
	parameters []*types.Var // of the method
}

// methodWrapper begins the function for e, which denotes the method m.
func (c *compiler) methodWrapper(e *ast.SelectorExpr, m *types.Func) *methodWrapper {
	fn := c.unit.newFunction("")
	fn.wrapper = true
	w := &methodWrapper{selector: e, method: m, compiler: &compiler{
		code: c.of(fn), source: c.source, substitute: c.substitute, facts: c.facts, signature: c.methodSignature(e, m),
		variables: map[types.Object]*variable{}, hoisted: map[types.Object]uint16{},
	}}
	w.setPosition(e)
	return w
}

// methodSignature returns the signature of the method m, which x selects, with its type arguments.
func (c *compiler) methodSignature(x *ast.SelectorExpr, m *types.Func) *types.Signature {
	if in, ok := c.source.Info.Instances[x.Sel]; ok {
		return c.subst(in.Type).(*types.Signature)
	}
	return m.Signature()
}

// addParameters declares the parameters and results of the function: before, and those of sig.
func (w *methodWrapper) addParameters(sig *types.Signature, before ...*types.Var) {
	for v := range sig.Params().Variables() {
		w.parameters = append(w.parameters, types.NewParam(v.Pos(), nil, "parameter", w.subst(v.Type())))
	}
	list := append(before, w.parameters...)
	at := make([]uint16, len(list))
	for i, v := range list {
		s := w.shape(w.selector, v.Type())
		w.fn.parameters = append(w.fn.parameters, s)
		at[i] = w.register(s)
	}
	w.ownParameters(at, all)
	for i, v := range list {
		w.parameter(v, w.fn.parameters[i], at[i], true)
	}
	for v := range sig.Results().Variables() {
		w.fn.results = append(w.fn.results, w.shape(w.selector, w.subst(v.Type())))
	}
	m := w.mark()
	w.release(mark{})
	for _, r := range w.fn.results {
		w.register(r) // so that the call does not overwrite them
	}
	w.release(mark{max(m.scalars, w.scalarsInUse), max(m.slots, w.slotsInUse)})
}

// checkReceiver makes the function (*T).m of a method with a value receiver panic as Go does if the pointer is nil.
func (w *methodWrapper) checkReceiver() {
	recv := types.Unalias(w.method.Signature().Recv().Type()).(*types.Named)
	name := recv.Obj().Pkg().Path() + "." + recv.Obj().Name()
	if recv.TypeArgs().Len() > 0 {
		name += "[...]"
	}
	name += "." + w.method.Name()
	at := w.variables[w.receiver].reg
	w.native("check receiver", &native{run: func(_ *thread, _, sb unsafe.Pointer) {
		if *pointerAt(sb, at) == nil {
			panic(rt.NilReceiver(name))
		}
	}})
}

// finish compiles the call of the method. path leads from the receiver to that of the method.
func (w *methodWrapper) finish(path []int) {
	var names []*ast.Ident
	use := func(v *types.Var) *ast.Ident {
		id := &ast.Ident{NamePos: w.selector.Pos(), Name: v.Name()}
		w.source.Info.Uses[id] = v
		names = append(names, id)
		return id
	}
	defer func() {
		for _, id := range names {
			delete(w.source.Info.Uses, id)
		}
	}()
	x := &ast.SelectorExpr{X: use(w.receiver), Sel: w.selector.Sel}
	call := &ast.CallExpr{Fun: x}
	for _, v := range w.parameters {
		call.Args = append(call.Args, use(v))
	}
	if w.signature.Variadic() {
		call.Ellipsis = w.selector.Pos()
	}
	for i, r := range w.callMethodAt(call, x, w.method, path, w.signature) {
		w.move(operand{shape: r.shape, reg: frameRegisters(w.fn.results)[i]}, r)
	}
	w.do(opRet, 0, 0, 0)
	w.emit(opInvalid, 0, 0, 0, 0, 0)
}

// declaredValue loads a function of the VM as a value of shape s.
func (c *code) declaredValue(f *Function, s shape, want *operand) operand {
	dst := c.destination(s, want)
	at := dst.reg
	c.native("function "+f.name, &native{run: func(_ *thread, _, sb unsafe.Pointer) { *pointerAt(sb, at) = f.pointer }})
	return dst
}

// compiledValue compiles the function o of a compiled package as a value of shape s.
func (c *compiler) compiledValue(e ast.Expr, o *types.Func, s shape, want *operand) operand {
	symbol, ok := c.vm.config.Packages[o.Pkg().Path()+"/"+o.Pkg().Name()][o.Name()]
	if !ok || symbol.Kind() != reflect.Func || symbol.Type() != s.typ {
		c.fail(e, "the function %s as a value", o.FullName())
	}
	dst := c.destination(s, want)
	at, f := dst.reg, functionPointer(c.guarded(e, o, symbol))
	c.native("function "+o.FullName(), &native{run: func(_ *thread, _, sb unsafe.Pointer) { *pointerAt(sb, at) = f }})
	return dst
}
