package compile

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"strings"

	"github.com/quernlab/quern/interp/facts"
	"github.com/quernlab/quern/interp/vm"
)

// Config connects the compiler to its session.
type Config struct {
	// Packages is the table of compiled symbols, with keys "path/name", and under rt.Methods the methods that code of cells calls
	// instead of compiled ones.
	Packages map[string]map[string]reflect.Value
	// Interpreted reports whether a named type has no compiled counterpart.
	Interpreted func(*types.Named) bool
	// Type returns the reflect.Type that represents a checked type.
	Type func(types.Type) (reflect.Type, error)
	// Guard returns what calls f on a goroutine that belongs to a cell. Nil: go statements are not compiled.
	Guard func(cell int, f func()) func()
}

// checkedShape returns the shape of a checked type, or an error if the VM does not support it.
func (c *Config) checkedShape(t types.Type) (vm.Shape, error) {
	r, err := c.Type(t)
	if err != nil {
		return vm.Shape{}, err
	}
	return vm.ShapeOf(r)
}

func (c *Config) shapesOf(list []*types.Var) ([]vm.Shape, error) {
	shapes := make([]vm.Shape, len(list))
	for i, v := range list {
		var err error
		if shapes[i], err = c.checkedShape(v.Type()); err != nil {
			return nil, err
		}
	}
	return shapes, nil
}

// A Declaration is a function to be compiled.
type Declaration struct {
	// Key identifies the function: its *types.Func, an instance, or the statement of a loop.
	Key any
	// Name is its name in lowered code.
	Name      string
	Signature *types.Signature
	Body      *ast.BlockStmt
	// Method is the name of a method; "" for a function.
	Method string
	// Substitute replaces type parameters by type arguments; nil if there are none.
	Substitute func(types.Type) types.Type
	// Facts are the facts about Body; if nil, they are computed.
	Facts *facts.Function
	// Cell says that the function has the statements of a cell.
	Cell bool
	// Public is the type of a compiled package for the receiver of a method of a generic source; nil for other functions.
	Public *types.Named
}

// Source gives the compiler access to the checked cell.
type Source struct {
	Info *types.Info
	// Global returns the name in lowered code of a variable that outlives a function; "" for any other
	// variable.
	Global func(*types.Var) string
	// Function returns the declaration of an instance of a generic function or, without type arguments, of a function that is
	// declared beside generic ones of a compiled package; false for any other function. Method returns that of a method of an instance of a generic type, or of
	// an instance of a generic method, whose own type arguments are own.
	Function func(at *ast.Ident, o *types.Func, arguments []types.Type) (Declaration, bool)
	Method   func(t *types.Named, m *types.Func, own []types.Type) (Declaration, bool)
	// Private reports whether only statements of cells can reach a variable of the session. It may be nil.
	Private func(*types.Var) bool
	// Table returns a function that makes the value of a large literal of constants and returns its address; false for other
	// literals. It may be nil.
	Table func(*ast.CompositeLit) (func() reflect.Value, bool)
	// BecomesInterface declares what values of a type of a cell need to become interface values: the methods of instances of
	// generic types. It may be nil.
	BecomesInterface func(t types.Type)
	// Cell is the number of the cell that owns the goroutines that its functions start.
	Cell int
	// Position returns the index of the source position of a node.
	Position func(ast.Node) int
	// HooksBefore returns the hooks to run before a statement. It may be nil.
	HooksBefore func(ast.Stmt) []Hook
	// HooksAfter returns the hooks to run after a statement; for a range statement or a select clause, at
	// the beginning of its body. It may be nil.
	HooksAfter func(ast.Stmt) []Hook
	// Stop is called for each statement and panics with a *Stopped to end the compilation. It may be nil.
	Stop func()
}

// Stopped is the panic value that ends a compilation.
type Stopped struct{ Err error }

// An UnsupportedError is the panic value that ends the compilation of a unit with a construct that the VM does not support.
type UnsupportedError struct {
	Node      ast.Node // may be nil
	Construct string
	Hint      string // what to write instead; may be empty
}

func (e *UnsupportedError) Error() string { return e.Construct + " is not supported" }

// A Unit is compiled as a whole: the functions of a cell, and its statements.
type Unit struct {
	vm        *vm.VM
	config    *Config
	source    *Source
	functions []*vm.Function // all functions, including function literals
	declared  map[any]*vm.Function
	order     []Declaration
	globals   map[string]*vm.Global
	labels    []unresolvedLabel
	methods   []Declaration  // all methods that are not generic
	instances []Declaration  // instances of generic functions and of methods of generic types
	later     []*vm.Function // declared by Later
	at        token.Pos      // of what is being compiled
	body      ast.Node       // the same
}

// Begin starts a unit of the functions of a VM.
func Begin(machine *vm.VM, config *Config, source *Source) *Unit {
	return &Unit{vm: machine, config: config, source: source, declared: map[any]*vm.Function{}, globals: map[string]*vm.Global{}}
}

// Compile compiles declarations. It panics with an *UnsupportedError if one has a construct that the VM does not support, and with
// what Source.Stop has.
func (u *Unit) Compile(declarations []Declaration) {
	for _, d := range declarations {
		if d.Signature.Recv() != nil {
			u.methods = append(u.methods, d)
		}
		u.declared[d.Key] = &vm.Function{Name: d.Name}
	}
	for _, d := range declarations {
		u.compile(d)
	}
	for _, f := range u.functions {
		f.Trim()
	}
	u.order = declarations
}

// Later declares a function without its body, which a later unit compiles at the first call. It returns an error if the VM does
// not support its parameters or results.
func (u *Unit) Later(d Declaration) error {
	f := vm.FirstCalled(d.Key, d.Name)
	parameters := slices.Collect(d.Signature.Params().Variables())
	if recv := d.Signature.Recv(); recv != nil {
		parameters = slices.Insert(parameters, 0, recv)
	}
	var err error
	if f.Parameters, err = u.config.shapesOf(parameters); err != nil {
		return err
	}
	if f.Results, err = u.config.shapesOf(slices.Collect(d.Signature.Results().Variables())); err != nil {
		return err
	}
	c := code{vm: u.vm, unit: u, fn: f}
	for _, list := range [][]vm.Shape{f.Parameters, f.Results} {
		for _, s := range list {
			c.register(s)
		}
		c.release(mark{})
	}
	u.later = append(u.later, f)
	u.declared[d.Key] = f
	return nil
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
		fn.InterfaceEntry = c.interfaceEntry(d)
	}
	for _, p := range u.labels[labels:] {
		p.resolve()
	}
	for _, p := range u.labels[labels:] {
		p.shorten()
	}
	u.labels = u.labels[:labels]
}

// instance returns the compiled instance, compiling it on first use.
func (u *Unit) instance(d Declaration) *vm.Function {
	if f := u.callee(d.Key); f != nil {
		return f
	}
	at, body := u.at, u.body
	f := &vm.Function{Name: d.Name}
	u.declared[d.Key] = f
	u.instances = append(u.instances, d)
	u.compile(d)
	u.at, u.body = at, body
	return f
}

// AddInstance compiles an instance, even if no function of the unit refers to it.
func (u *Unit) AddInstance(d Declaration) { u.instance(d) }

// newFunction adds a function without a declaration, such as a function literal.
func (u *Unit) newFunction(name string) *vm.Function {
	f := &vm.Function{Name: name}
	u.functions = append(u.functions, f)
	return f
}

// callee returns the compiled function with this key, or nil.
func (u *Unit) callee(key any) *vm.Function {
	if f, ok := u.declared[key]; ok {
		return f
	}
	return u.vm.Function(key)
}

func (u *Unit) global(name string, typ reflect.Type) *vm.Global {
	g, ok := u.globals[name]
	if !ok {
		g = &vm.Global{Name: name, Type: typ}
		u.globals[name] = g
	}
	return g
}

// Link resolves the addresses of the variables of the session that the functions use, and makes the function values.
func (u *Unit) Link(address func(name string) (reflect.Value, error)) error {
	for _, g := range u.globals {
		v, err := address(g.Name)
		if err != nil {
			return err
		}
		if v.Type().Elem() != g.Type {
			return fmt.Errorf("variable %s has type %s, want %s", g.Name, v.Type().Elem(), g.Type)
		}
		g.Address = v.UnsafePointer()
	}
	for _, d := range append(u.order[:len(u.order):len(u.order)], u.instances...) {
		f := u.declared[d.Key]
		u.vm.Link(f, u.vm.Function(d.Key))
	}
	for _, f := range u.later {
		u.vm.Link(f, nil)
	}
	return nil
}

// Value returns the function with this key, after Link. A variadic parameter is a slice.
func (u *Unit) Value(key any) reflect.Value { return u.declared[key].Value() }

// Function returns a function without parameters and results, after Link.
func (u *Unit) Function(key any) func() {
	return u.declared[key].Value().Interface().(func())
}

// LinkMethods registers the methods for calls through interfaces, and removes those that they replace.
func (u *Unit) LinkMethods() {
	registry := u.vm.Registry()
	if registry == nil || len(u.methods) == 0 && len(u.instances) == 0 {
		return
	}
	for _, d := range u.instances {
		f := u.declared[d.Key]
		if f.InterfaceEntry == nil {
			continue
		}
		receiver := d.Signature.Recv().Type()
		if d.Substitute != nil {
			receiver = d.Substitute(receiver)
		}
		u.linkMethod(receiver, d.Method, f, nil)
		if d.Public != nil {
			var public types.Type = d.Public
			if _, pointer := types.Unalias(receiver).(*types.Pointer); pointer {
				public = types.NewPointer(public)
			}
			u.linkMethod(public, d.Method, f, nil)
		}
	}
	for _, d := range u.methods {
		u.linkMethod(d.Signature.Recv().Type(), d.Method, u.declared[d.Key], d.Signature)
	}
	u.vm.ChangeMethods()
}

// linkMethod makes calls of a method through interfaces run the interface entry of f.
func (u *Unit) linkMethod(receiver types.Type, name string, f *vm.Function, signature *types.Signature) {
	registry := u.vm.Registry()
	id := registry.ID(receiver)
	registry.Register(id, name, u.vm.Method(f), signature)
	if _, pointer := types.Unalias(receiver).(*types.Pointer); !pointer {
		registry.Derive(id, name)
	}
}

// Commit makes the functions available to later units.
func (u *Unit) Commit() {
	for key, f := range u.declared {
		if _, ok := key.(ast.Node); !ok {
			u.vm.Define(key, f)
		}
	}
}

// Listing lists the functions of the unit.
func (u *Unit) Listing() (list []vm.Listed) {
	for _, f := range u.functions {
		list = append(list, f.Listing())
	}
	return list
}

// Disassemble lists the instructions of all functions of the unit, each after its name.
func (u *Unit) Disassemble() string {
	var b strings.Builder
	for _, f := range u.functions {
		fmt.Fprintf(&b, "%s:\n%s", f.Name, f.Disassemble())
	}
	return b.String()
}
