package compile

import (
	"go/ast"
	"go/types"
	"reflect"
	"unsafe"

	"github.com/quernlab/quern/interp/desugar"
	"github.com/quernlab/quern/interp/rt"
	"github.com/quernlab/quern/interp/vm"
)

// callMethod compiles the call of a method.
func (c *compiler) callMethod(e *ast.CallExpr, x *ast.SelectorExpr, sel *types.Selection, sig *types.Signature) []operand {
	m, path := c.method(x, sel)
	return c.callMethodAt(e, x, m, path, sig)
}

// callMethodAt compiles the call of the method m. path leads from x.X to its receiver.
func (c *compiler) callMethodAt(e *ast.CallExpr, x *ast.SelectorExpr, m *types.Func, path []int, sig *types.Signature) []operand {
	if types.IsInterface(c.typeOf(x.X)) || types.IsInterface(m.Signature().Recv().Type()) {
		return c.callInterface(e, x, m, path, sig)
	}
	recv := m.Signature().Recv().Type()
	f := c.methodFunction(x, m)
	if f == nil {
		return c.callCompiledMethod(e, x, m, path, sig)
	}
	b := c.methodFrame(e, x, path, recv, !c.isDeferred(e))
	c.arguments(b, e, sig)
	return c.callDirect(b, f, sig, e)
}

// methodFrame begins the frame of a method of a receiver of type recv and compiles the receiver into it. borrows says whether the method
// borrows its arguments.
func (c *compiler) methodFrame(e *ast.CallExpr, x *ast.SelectorExpr, path []int, recv types.Type, borrows bool) *callFrame {
	last := borrows && !c.anyHasCalls(e.Args)
	begin := func() *callFrame {
		b := c.beginFrame()
		b.borrows = borrows
		return b
	}
	if _, chain := ast.Unparen(x.X).(*ast.CallExpr); chain {
		// Before the frame begins: the frames of a chain of calls would be inside of each other.
		v := c.receiver(x, path, recv, nil)
		b := begin()
		c.argument(b, e, recv, last, func(*operand) operand { return v })
		return b
	}
	b := begin()
	c.argument(b, e, recv, last, func(want *operand) operand { return c.receiver(x, path, recv, want) })
	return b
}

// receiver compiles x to the receiver of a method whose receiver has the type recv. path leads to it
// through embedded fields.
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
	var p location
	if len(path) > 0 {
		p = c.field(x, x.X, path)
	} else if isPointer {
		v := c.expr(x.X, nil)
		s := c.shape(x, at.Underlying().(*types.Pointer).Elem())
		return c.get(location{kind: inMemory, Shape: s, reg: v.reg}, want)
	} else {
		p = c.locate(x.X)
	}
	switch {
	case isPointer == byPointer:
		return c.get(p, want)
	case byPointer:
		receiver := operand{Shape: c.shape(x, recv)}
		switch p.kind {
		case inSliceElement:
			receiver.reg = c.elementAddress(p)
		case inMemory:
			receiver.reg = c.checkedAddress(p)
		default:
			c.fail(x, "the address of the receiver")
		}
		return receiver
	}
	v := c.get(p, nil)
	s := c.shape(x, at.Underlying().(*types.Pointer).Elem())
	return c.get(location{kind: inMemory, Shape: s, reg: v.reg}, want)
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

// methodValue compiles a method value x.m: a closure that captures the receiver.
func (c *compiler) methodValue(e *ast.SelectorExpr, sel *types.Selection, want *operand) operand {
	m, path := c.method(e, sel)
	recv := m.Signature().Recv().Type()
	if types.IsInterface(c.typeOf(e.X)) || types.IsInterface(recv) {
		return c.interfaceMethodValue(e, m, path, want)
	}
	x := c.receiver(e, path, recv, nil)
	captured := c.captureValue(operand{Shape: x.Shape, reg: c.addressIfMemory(x), owned: x.owned && x.offset == 0})
	w := c.methodWrapper(e, m)
	w.addParameters(w.signature)
	w.receiver = types.NewParam(e.Pos(), nil, "receiver", recv)
	w.variables[w.receiver] = &variable{Shape: x.Shape, reg: w.referenceRegister(), boxed: !isAddress(x)}
	w.fn.Captures = []uint16{w.variables[w.receiver].reg}
	w.fn.CapturesVariable(x.Type, isAddress(x) && x.File != vm.Memory)
	w.fn.Method = c.methodFunction(e, m)
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
		w.fn.Name = f.Name
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
func (c *compiler) methodFunction(x *ast.SelectorExpr, m *types.Func) *vm.Function {
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
	fn.Wrapper = true
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
		w.fn.Parameters = append(w.fn.Parameters, s)
		at[i] = w.register(s)
	}
	w.ownParameters(at, all)
	for i, v := range list {
		w.parameter(v, w.fn.Parameters[i], at[i], true)
	}
	for v := range sig.Results().Variables() {
		w.fn.Results = append(w.fn.Results, w.shape(w.selector, w.subst(v.Type())))
	}
	m := w.mark()
	w.release(mark{})
	for _, r := range w.fn.Results {
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
	w.native("check receiver", &vm.Native{Run: func(_ *vm.Thread, _, sb unsafe.Pointer) {
		if *vm.PointerAt(sb, at) == nil {
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
		w.move(operand{Shape: r.Shape, reg: vm.FrameRegisters(w.fn.Results)[i]}, r)
	}
	w.do(vm.OpRet, 0, 0, 0)
	w.emit(vm.OpInvalid, 0, 0, 0, 0, 0)
}

// declaredValue loads a function of the VM as a value of shape s.
func (c *code) declaredValue(f *vm.Function, s vm.Shape, want *operand) operand {
	dst := c.destination(s, want)
	at := dst.reg
	c.native("function "+f.Name, &vm.Native{Run: func(_ *vm.Thread, _, sb unsafe.Pointer) { *vm.PointerAt(sb, at) = f.Pointer() }})
	return dst
}

// compiledValue compiles the function o of a compiled package as a value of shape s.
func (c *compiler) compiledValue(e ast.Expr, o *types.Func, s vm.Shape, want *operand) operand {
	symbol, ok := c.unit.config.Packages[o.Pkg().Path()+"/"+o.Pkg().Name()][o.Name()]
	if !ok || symbol.Kind() != reflect.Func || symbol.Type() != s.Type {
		c.fail(e, "the function %s as a value", o.FullName())
	}
	dst := c.destination(s, want)
	at, f := dst.reg, vm.FunctionPointer(c.guarded(e, o, symbol))
	c.native("function "+o.FullName(), &vm.Native{Run: func(_ *vm.Thread, _, sb unsafe.Pointer) { *vm.PointerAt(sb, at) = f }})
	return dst
}

// functionInstance returns the instance of a generic function that e denotes, or a function of a generic source; nil if o is a
// function of a compiled package.
func (c *compiler) functionInstance(e ast.Expr, o *types.Func) *vm.Function {
	id := desugar.CalledIdent(e)
	if c.source.Function == nil || id == nil {
		return nil
	}
	var arguments []types.Type
	for t := range c.source.Info.Instances[id].TypeArgs.Types() {
		arguments = append(arguments, c.subst(t))
	}
	d, ok := c.source.Function(id, o, arguments)
	if !ok {
		return nil
	}
	return c.unit.instance(d)
}

// methodInstance returns m, a method of an instance of a generic type, a generic method with the type arguments own, or a method of a type
// that is declared beside generic ones of a compiled package; nil if it is something else.
func (c *compiler) methodInstance(m *types.Func, own []types.Type) *vm.Function {
	t := types.Unalias(m.Signature().Recv().Type())
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	named, ok := t.(*types.Named)
	if !ok || c.source.Method == nil {
		return nil
	}
	d, ok := c.source.Method(named, m, own)
	if !ok {
		return nil
	}
	return c.unit.instance(d)
}

// ownArguments returns the type arguments of a generic method that x selects.
func (c *compiler) ownArguments(x *ast.SelectorExpr) (list []types.Type) {
	for t := range c.source.Info.Instances[x.Sel].TypeArgs.Types() {
		list = append(list, c.subst(t))
	}
	return list
}

// method returns the method that a selector denotes, and the path to it through embedded fields. In a
// generic function it looks the method up again, because the checker saw the type parameter.
func (c *compiler) method(x *ast.SelectorExpr, sel *types.Selection) (*types.Func, []int) {
	m, path := sel.Obj().(*types.Func), sel.Index()
	if c.substitute != nil {
		o, index, _ := types.LookupFieldOrMethod(c.typeOf(x.X), true, m.Pkg(), m.Name())
		found, ok := o.(*types.Func)
		if !ok {
			c.fail(x, "the method %s", m.Name())
		}
		m, path = found, index
	}
	return m, path[:len(path)-1]
}

// genericFunction returns the generic function that e instantiates.
func (c *compiler) genericFunction(e ast.Expr) (*types.Func, bool) {
	id := desugar.CalledIdent(e)
	if id == nil {
		return nil, false
	}
	if _, ok := c.source.Info.Instances[id]; !ok {
		return nil, false
	}
	o, ok := c.source.Info.Uses[id].(*types.Func)
	return o, ok
}

// makeClosure emits code that makes a function value of fn. The registers in from hold the addresses of the
// captured variables.
func (c *code) makeClosure(fn *vm.Function, from []uint16, to operand) {
	c.native("closure "+fn.Name, c.vm.Closure(fn, to.Type, from, to.reg))
}
