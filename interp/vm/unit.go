package vm

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"slices"

	"github.com/quernlab/quern/interp/facts"
)

// A Unit is compiled as a whole: the functions of a cell, and its statements.
type Unit struct {
	vm        *VM
	source    *Source
	functions []*Function // all functions, including function literals
	declared  map[any]*Function
	order     []Declaration
	globals   map[string]*global
	labels    []unresolvedLabel
	methods   []Declaration // all methods that are not generic
	instances []Declaration // instances of generic functions and of methods of generic types
	later     []*Function   // declared by Later
	at        token.Pos     // of what is being compiled
	body      ast.Node      // the same
}

// Begin starts a unit.
func (vm *VM) Begin(source *Source) *Unit {
	return &Unit{vm: vm, source: source, declared: map[any]*Function{}, globals: map[string]*global{}}
}

// Compile compiles declarations. It panics with an *UnsupportedError if one has a construct that the VM does not support, and with
// what Source.Stop has.
func (u *Unit) Compile(declarations []Declaration) {
	for _, d := range declarations {
		if d.Signature.Recv() != nil {
			u.methods = append(u.methods, d)
		}
		u.declared[d.Key] = &Function{name: d.Name}
	}
	for _, d := range declarations {
		u.compile(d)
	}
	u.order = declarations
}

// At returns the position of the function that has been compiled last, for the report of a bug of this package.
func (u *Unit) At() token.Pos { return u.at }

// compile compiles one declaration.
func (u *Unit) compile(d Declaration) {
	u.at, u.body = d.Body.Pos(), d.Body
	labels := len(u.labels)
	fn := u.declared[d.Key]
	u.functions = append(u.functions, fn)
	c := &compiler{
		code: code{vm: u.vm, unit: u, fn: fn}, source: u.source, substitute: d.Substitute, cellBody: d.Cell,
		variables: map[types.Object]*variable{}, hoisted: map[types.Object]uint16{}, labels: map[string]*label{},
	}
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
		return f
	}
	return u.vm.functions[key]
}

func (u *Unit) global(name string, typ reflect.Type) *global {
	g, ok := u.globals[name]
	if !ok {
		g = &global{name: name, typ: typ}
		u.globals[name] = g
	}
	return g
}

// Link resolves the addresses of the variables of the session that the functions use, and makes the function values.
func (u *Unit) Link(address func(name string) (reflect.Value, error)) error {
	for _, g := range u.globals {
		v, err := address(g.name)
		if err != nil {
			return err
		}
		if v.Type().Elem() != g.typ {
			return fmt.Errorf("variable %s has type %s, want %s", g.name, v.Type().Elem(), g.typ)
		}
		g.address = v.UnsafePointer()
	}
	for _, d := range append(u.order[:len(u.order):len(u.order)], u.instances...) {
		f := u.declared[d.Key]
		if stub := u.vm.functions[d.Key]; stub.waits() {
			f.value, f.pointer = stub.value, stub.pointer
			continue
		}
		u.vm.link(f)
	}
	for _, f := range u.later {
		u.vm.link(f)
	}
	return nil
}

// link makes the function value of f.
func (vm *VM) link(f *Function) {
	f.value = vm.makeValue(&closure{function: f}, f.signature())
	f.pointer = functionPointer(f.value)
}

// Value returns the function with this key, after Link. A variadic parameter is a slice.
func (u *Unit) Value(key any) reflect.Value { return u.declared[key].value }

// Function returns a function without parameters and results, after Link.
func (u *Unit) Function(key any) func() {
	return u.declared[key].value.Interface().(func())
}

// LinkMethods registers the methods for calls through interfaces, and removes those that they replace.
func (u *Unit) LinkMethods() {
	registry := u.vm.config.Registry
	if registry == nil || len(u.methods) == 0 && len(u.instances) == 0 {
		return
	}
	for _, d := range u.instances {
		f := u.declared[d.Key]
		if f.interfaceEntry == nil {
			continue
		}
		receiver := d.Signature.Recv().Type()
		if d.Substitute != nil {
			receiver = d.Substitute(receiver)
		}
		u.linkMethod(receiver, d.Method, f)
		if d.Public != nil {
			var public types.Type = d.Public
			if _, pointer := types.Unalias(receiver).(*types.Pointer); pointer {
				public = types.NewPointer(public)
			}
			u.linkMethod(public, d.Method, f)
		}
	}
	for _, d := range u.methods {
		u.linkMethod(d.Signature.Recv().Type(), d.Method, u.declared[d.Key])
	}
	u.vm.epoch.Add(1)
}

// linkMethod makes calls of a method through interfaces run the interface entry of f.
func (u *Unit) linkMethod(receiver types.Type, name string, f *Function) {
	registry := u.vm.config.Registry
	registry.Register(registry.ID(receiver), name, u.vm.method(f))
	if _, pointer := types.Unalias(receiver).(*types.Pointer); !pointer {
		registry.Derive(registry.ID(types.NewPointer(receiver)), name)
	}
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
	reads := !c.defers && slices.ContainsFunc(c.fn.parameters, func(s shape) bool { return s.file == memory }) && c.onlyReads(body)
	lent := func(i int) bool { return reads && !c.facts.Escapes(parameters[i]) && !c.facts.Assigned(parameters[i]) }
	c.ownParameters(at, func(i int) bool { return !lent(i) && used(parameters[i]) })
	for i, v := range parameters {
		c.parameter(v, c.fn.parameters[i], at[i], !lent(i))
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

// used reports whether the function can use its parameter v.
func used(v *types.Var) bool { return v.Name() != "" && v.Name() != "_" }

// parameter declares the parameter v, whose value is in register at. owned says that nothing else refers to a value in memory.
func (c *compiler) parameter(v *types.Var, s shape, at uint16, owned bool) {
	if !used(v) {
		return
	}
	if s.file == memory || !c.facts.Escapes(v) {
		c.variables[v] = &variable{shape: s, reg: at, owned: owned && s.file == memory && !c.facts.Escapes(v)}
		return
	}
	cell := c.referenceRegister()
	c.emit(opNew, cell, 0, 0, c.memoryType(s.typ), 0)
	c.store(cell, 0, operand{shape: s, reg: at})
	c.variables[v] = &variable{shape: s, reg: cell, boxed: true}
}
