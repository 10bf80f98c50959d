package vm

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"unsafe"
	"weak"

	"github.com/quernlab/quern/interp/facts"
)

// A Unit is compiled as a whole: the functions of a cell.
type Unit struct {
	vm          *VM
	source      *Source
	functions   []*Function // all functions, including function literals
	declared    map[any]*Function
	order       []Declaration
	reasons     map[string]string // why a function was not compiled, by name
	globals     map[string]*global
	interpreted map[string]*global // functions that yaegi runs, by name
	labels      []unresolvedLabel
	methods     []Declaration // all methods, compiled or not
	instances   []Declaration // instances of generic functions and of methods of generic types
	failed      map[any]bool  // functions that cannot be compiled
	later       []*Function   // declared by Later
	at          token.Pos     // of what is being compiled
	dependencies
}

// Begin starts a unit.
func (vm *VM) Begin(source *Source) *Unit {
	return &Unit{vm: vm, source: source, declared: map[any]*Function{}, reasons: map[string]string{}, failed: map[any]bool{},
		globals: map[string]*global{}, interpreted: map[string]*global{}, dependencies: newDependencies()}
}

// Compile compiles the declarations that the VM supports. A function that calls one that is not compiled is
// not compiled either.
func (u *Unit) Compile(declarations []Declaration) {
	for _, d := range declarations {
		if d.Signature.Recv() != nil {
			u.methods = append(u.methods, d)
		}
	}
	for _, d := range declarations {
		u.declared[d.Key] = &Function{name: d.Name}
	}
	for queue := declarations; len(queue) > 0; queue = u.takeAffected() {
		for _, d := range queue {
			if u.declared[d.Key] == nil {
				continue // discarded since it was queued
			}
			if reason := u.compile(d); reason != "" {
				u.reasons[d.Name] = reason
				u.discard(d.Key)
			}
		}
	}
	u.order = slices.DeleteFunc(slices.Clone(declarations), func(d Declaration) bool { return u.declared[d.Key] == nil })
}

// discard removes a function that cannot be compiled.
func (u *Unit) discard(key any) {
	delete(u.declared, key)
	u.discarded = append(u.discarded, key)
	u.failed[key] = true
}

// compile compiles one declaration. If that is not possible, it returns the reason.
func (u *Unit) compile(d Declaration) (reason string) {
	functions, labels := len(u.functions), len(u.labels)
	defer func() {
		if r := recover(); r != nil {
			if _, stopped := r.(*Stopped); stopped {
				panic(r)
			}
			x, ok := r.(unsupported)
			if !ok {
				if u.vm.config.Fault == nil {
					panic(r)
				}
				// Code that the checker accepts and this package does not expect runs in yaegi.
				x = unsupported{nil, fmt.Sprint("internal error: ", r)}
				u.vm.config.Fault(u.source.Cell, u.at, fmt.Errorf("the VM cannot compile function %s: %v", d.Name, r))
			}
			reason = x.what
			u.functions, u.labels = u.functions[:functions], u.labels[:labels]
		}
	}()
	u.at = d.Body.Pos()
	u.begin(d)
	defer u.end()
	fn := u.declared[d.Key]
	*fn = Function{name: d.Name}
	u.functions = append(u.functions, fn)
	c := &compiler{
		code: code{vm: u.vm, unit: u, fn: fn}, source: u.source, substitute: d.Substitute,
		variables: map[types.Object]*variable{}, hoisted: map[types.Object]uint16{}, labels: map[string]*label{},
	}
	c.long = d.Body.End()-d.Body.Pos() > longBody
	_, c.isCellLoop = d.Key.(ast.Stmt)
	c.cellBody = d.Private
	if c.facts = d.Facts; c.facts == nil {
		c.facts = facts.Of(u.source.Info, d.Substitute, d.Signature, d.Body)
	}
	c.body(d.Body, d.Signature, d.Signature.Recv(), d.Body, nil)
	if d.Signature.Recv() != nil {
		fn.interfaceEntry = c.interfaceEntry(d)
	}
	for _, p := range u.labels[labels:] {
		p.resolve()
	}
	u.labels = u.labels[:labels]
	return ""
}

// newFunction adds a function without a declaration, such as a function literal.
func (u *Unit) newFunction(name string) *Function {
	f := &Function{name: name}
	u.functions = append(u.functions, f)
	return f
}

// callee returns the compiled function with this key, or nil.
func (u *Unit) callee(key any) *Function {
	if f, ok := u.declared[key]; ok {
		u.use(key)
		return f
	}
	return u.vm.functions[key]
}

func (u *Unit) global(name string) *global {
	u.useName(name)
	g, ok := u.globals[name]
	if !ok {
		g = &global{name: name}
		u.globals[name] = g
	}
	return g
}

// Compiled reports whether the VM runs the function with this key.
func (u *Unit) Compiled(key any) bool { return u.declared[key] != nil }

// Runs reports whether the VM runs the function with this key of a committed unit.
func (vm *VM) Runs(key any) bool { return vm.functions[key] != nil }

// Reason returns why the function with this name was not compiled.
func (u *Unit) Reason(name string) string { return u.reasons[name] }

// Reasons returns why functions were not compiled, by name.
func (u *Unit) Reasons() map[string]string { return u.reasons }

// Empty reports whether there is nothing to link.
func (u *Unit) Empty() bool { return len(u.declared) == 0 && len(u.methods) == 0 }

// Link resolves the addresses of the global variables that the functions use, and stores the compiled
// functions in the variables of yaegi that have their names. value returns the value of a function of
// lowered code, address the address of a variable.
func (u *Unit) Link(value, address func(name string) (reflect.Value, error)) error {
	u.dropUnused()
	for _, g := range u.globals {
		v, err := address(g.name)
		if err != nil {
			return err
		}
		g.address = v.UnsafePointer()
	}
	for name, g := range u.interpreted {
		v, err := value(name)
		if err != nil {
			return err
		}
		if v.Kind() != reflect.Func || v.Type() != g.typ {
			return fmt.Errorf("function %s of the interpreter has type %s, want %s", name, v.Type(), g.typ)
		}
		g.value = functionPointer(v)
		g.address = unsafe.Pointer(&g.value)
	}
	for _, d := range append(u.order[:len(u.order):len(u.order)], u.instances...) {
		f := u.declared[d.Key]
		if f == nil {
			continue // an instance that cannot be compiled
		}
		if stub := u.vm.functions[d.Key]; stub.waits() {
			f.value, f.pointer = stub.value, stub.pointer
			continue
		}
		if d.Private {
			f.value = u.vm.makeValue(&closure{function: f}, reflect.TypeFor[func()]())
			continue
		}
		v, err := address(f.name)
		if err != nil {
			return err
		}
		variable := v.Elem()
		if variable.Kind() != reflect.Func {
			return fmt.Errorf("variable %s has type %s, want a function type", f.name, variable.Type())
		}
		if err := f.checkType(variable.Type()); err != nil {
			return err
		}
		f.value = u.vm.makeValue(&closure{function: f}, variable.Type())
		f.pointer = functionPointer(f.value)
		variable.Set(f.value)
	}
	u.linkLater()
	return nil
}

// Function returns a private function without parameters and results, after Link; nil if the VM does not run it.
func (u *Unit) Function(key any) func() {
	f := u.declared[key]
	if f == nil {
		return nil
	}
	return f.value.Interface().(func())
}

// LinkMethods registers the methods for calls through interfaces and removes those that they replace. Lowered code must have
// registered its methods before.
func (u *Unit) LinkMethods() {
	registry := u.vm.config.Registry
	if registry == nil || len(u.methods) == 0 && len(u.instances) == 0 {
		return
	}
	for _, d := range u.instances {
		if f := u.declared[d.Key]; f != nil && f.interfaceEntry != nil {
			u.linkMethod(d.Substitute(d.Signature.Recv().Type()), d.Method, f.interfaceEntry)
		}
	}
	for _, d := range u.methods {
		if f := u.declared[d.Key]; f != nil && f.interfaceEntry != nil {
			u.linkMethod(d.Signature.Recv().Type(), d.Method, f.interfaceEntry)
		} else {
			u.vm.methods.Delete(methodKey{registry.ID(d.Signature.Recv().Type()), d.Method})
		}
	}
	u.vm.epoch.Add(1)
}

// linkMethod makes calls of a method through interfaces run entry. The function that lowered code has registered, which calls the
// method by way of yaegi, is no longer needed.
func (u *Unit) linkMethod(receiver types.Type, method string, entry *Function) {
	registry := u.vm.config.Registry
	id := registry.ID(receiver)
	u.vm.methods.Store(methodKey{id, method}, entry)
	registry.Register(id, method, u.vm.methodValue(entry))
	if _, pointer := types.Unalias(receiver).(*types.Pointer); !pointer {
		registry.Derive(registry.ID(types.NewPointer(receiver)), method)
	}
}

// methodValue returns a function that calls the entry of a method. Its first parameter is the receiver.
func (vm *VM) methodValue(entry *Function) any {
	in, out := []reflect.Type{reflect.TypeFor[any]()}, []reflect.Type{}
	for _, s := range entry.parameters[1:] {
		in = append(in, s.typ)
	}
	for _, s := range entry.results {
		out = append(out, s.typ)
	}
	parameters, results := frameRegisters(entry.parameters), frameRegisters(entry.results)
	return reflect.MakeFunc(reflect.FuncOf(in, out, false), func(arguments []reflect.Value) []reflect.Value {
		receiver := arguments[0].Interface()
		returned := make([]reflect.Value, len(results))
		vm.enter(entry, func(nb, sb unsafe.Pointer) {
			*pointerAt(sb, parameters[0]) = interfaceWords(&receiver)[1]
			for i, at := range parameters[1:] {
				entry.parameters[i+1].put(nb, sb, at, arguments[i+1])
			}
		}, func(nb, sb unsafe.Pointer) {
			for i, at := range results {
				returned[i] = entry.results[i].get(nb, sb, at)
			}
		}, nil)
		return returned
	}).Interface()
}

// checkType checks that yaegi and the compiled code agree on the type of a function.
func (f *Function) checkType(t reflect.Type) error {
	if t.NumIn() != len(f.parameters) || t.NumOut() != len(f.results) {
		return fmt.Errorf("function %s has type %s, want %d parameters and %d results", f.name, t, len(f.parameters), len(f.results))
	}
	for i, s := range f.parameters {
		if t.In(i) != s.typ {
			return fmt.Errorf("parameter %d of function %s has type %s, want %s", i, f.name, t.In(i), s.typ)
		}
	}
	for i, s := range f.results {
		if t.Out(i) != s.typ {
			return fmt.Errorf("result %d of function %s has type %s, want %s", i, f.name, t.Out(i), s.typ)
		}
	}
	return nil
}

// Commit makes the functions available to later units.
func (u *Unit) Commit() {
	for key, f := range u.declared {
		if stub := u.vm.functions[key]; stub.waits() {
			u.vm.fill(stub, f)
		} else if _, ok := key.(ast.Node); !ok {
			u.vm.functions[key] = f
		}
	}
	for name, g := range u.interpreted {
		u.vm.interpreted[name] = append(u.vm.interpreted[name], weak.Make(g))
	}
}

// body compiles the body of a function. captured, if not nil, is called when the parameters have their
// registers.
func (c *compiler) body(n ast.Node, sig *types.Signature, recv *types.Var, body *ast.BlockStmt, captured func()) {
	c.setPosition(n)
	c.signature, c.defers = sig, facts.Defers(body.List)
	var parameters []*types.Var
	if recv != nil {
		parameters = append(parameters, recv)
	}
	for v := range sig.Params().Variables() {
		parameters = append(parameters, v)
	}
	at := make([]uint16, len(parameters))
	for i, v := range parameters {
		s := c.shape(n, c.subst(v.Type()))
		c.fn.parameters = append(c.fn.parameters, s)
		at[i] = c.register(s)
	}
	for v := range sig.Results().Variables() {
		c.fn.results = append(c.fn.results, c.shape(n, c.subst(v.Type())))
	}
	// The results use the same registers as the parameters.
	m := c.mark()
	c.release(mark{})
	for _, s := range c.fn.results {
		c.register(s)
	}
	c.release(mark{max(m.scalars, c.scalarsInUse), max(m.slots, c.slotsInUse)})
	if captured != nil {
		captured()
	}
	for i, v := range parameters {
		c.parameter(v, c.fn.parameters[i], at[i])
	}
	named := false
	for i := range sig.Results().Len() {
		v := sig.Results().At(i)
		named = named || v.Name() != ""
		if v.Name() != "" || c.defers || c.facts.ReturnedInBody(sig.Results()) {
			c.results = append(c.results, c.declare(v, c.fn.results[i], nil))
		}
	}
	c.reserveAddresses(n)
	if c.cellBody {
		c.topLevel(body.List)
	} else {
		c.block(body.List)
	}
	c.setPosition(body)
	if c.defers {
		c.fn.epilogue = len(c.fn.code)
	}
	if sig.Results().Len() == 0 || named || c.defers {
		c.returnResults()
	}
	c.emit(opInvalid, 0, 0, 0, 0, 0)
}

// parameter declares the parameter v, whose value is in register at.
func (c *compiler) parameter(v *types.Var, s shape, at uint16) {
	if v.Name() == "" || v.Name() == "_" {
		return
	}
	if s.file == memory || !c.facts.Escapes(v) {
		c.variables[v] = &variable{shape: s, reg: at, owned: s.file == memory && !c.facts.Escapes(v)}
		return
	}
	cell := c.referenceRegister()
	c.emit(opNew, cell, 0, 0, c.memoryType(s.typ), 0)
	c.store(cell, 0, operand{shape: s, reg: at})
	c.variables[v] = &variable{shape: s, reg: cell, boxed: true}
}
