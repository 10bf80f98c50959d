package lower

// Functions of packages that are compiled when they are called for the first time. Until then package vm has a function of the
// same type in their place. yaegi gets a variable for it with the first code that mentions its name:
//
//	func f(n int) int {...}   ->  var fʹ1 func(int) int
//
// If package vm cannot compile the function, yaegi gets it under another name, and the function of package vm calls it.

import (
	"go/ast"
	"go/types"
	"reflect"
	"strings"

	"github.com/quernlab/quern/interp/vm"
)

// A Binding is a variable of lowered code for a function that package vm compiles at its first call.
type Binding struct {
	Variable string
	Key      types.Object
}

// A StandIn is a function of lowered code that runs in place of one that package vm cannot compile at its first call.
type StandIn struct {
	Function string
	Key      types.Object
}

// declareLater declares functions whose bodies are compiled later.
func (e *emitter) declareLater(decls []*ast.FuncDecl) {
	for _, decl := range decls {
		o := e.Info.Defs[decl.Name].(*types.Func)
		e.nameFunction(o)
		set(e.Program, e.later, types.Object(o), true)
		set(e.Program, e.unbound, e.names[o], o)
		e.redeclare(o)
	}
}

// nameFunction gives a function or method a name in lowered code.
func (e *emitter) nameFunction(o *types.Func) {
	name := o.Name()
	if sig := o.Signature(); sig.Recv() != nil {
		name = receiver(sig).Obj().Name() + "ʹ" + name
	}
	set(e.Program, e.names, types.Object(o), e.fresh(name))
}

// compileLater makes package vm declare these functions.
func (e *emitter) compileLater(decls []*ast.FuncDecl) {
	for _, decl := range decls {
		o := e.Info.Defs[decl.Name].(*types.Func)
		if err := e.machine.Later(vm.Declaration{Key: o, Name: e.variable(o), Method: methodOf(o), Signature: o.Signature()}); err != nil {
			e.unsupported(decl, "a function with "+err.Error(), "")
		}
	}
}

// variable returns the name of the variable for a function of package vm.
func (e *emitter) variable(o *types.Func) string {
	if o.Signature().Variadic() {
		return e.names[o] + "ʹm"
	}
	return e.names[o]
}

// bindMentioned declares the variables for functions that the code since the last call mentions. It reports whether there
// are any.
func (e *emitter) bindMentioned() (found bool) {
	if len(e.unbound) == 0 {
		return false
	}
	for _, text := range e.scan.next(e) {
		for _, word := range words(text) {
			if e.bind(word) {
				found = true
			}
		}
	}
	return found
}

// bind declares the variable for a function with this name in lowered code, if it has none.
func (e *emitter) bind(name string) bool {
	o := e.unbound[name]
	if o == nil {
		return false
	}
	remove(e.Program, e.unbound, name)
	e.bindings = append(e.bindings, Binding{e.variable(o), o})
	e.declareVariable(o, o.Signature(), name, nil)
	return true
}

// scanned is how much of the code of an emitter bindMentioned has seen.
type scanned struct{ out, parts, registers int }

func (s *scanned) next(e *emitter) []string {
	out, parts := e.out.text.String(), e.parts.text.String()
	texts := []string{e.expand(out[s.out:]), e.expand(parts[s.parts:]), e.expand(strings.Join(e.registers[s.registers:], "\n"))}
	*s = scanned{len(out), len(parts), len(e.registers)}
	return texts
}

// waited reports whether package vm has had a function since an earlier unit that is compiled at its first call.
func (e *emitter) waited(o types.Object) bool {
	return e.Program.compiled != nil && e.Program.compiled.CompilesLater(o)
}

// standIn makes yaegi run a function that package vm cannot compile at its first call.
func (e *emitter) standIn(decl *ast.FuncDecl, o *types.Func) {
	e.nameFunction(o)
	e.standIns = append(e.standIns, StandIn{e.names[o], o})
	e.functionDeclaration(decl, e.names[o], nil)
}

// Bind sets the variable at address to a function; see Unit.Bindings.
func (p *Program) Bind(unit *Unit, b Binding, address reflect.Value) error {
	return p.compiled.Bind(unit.Machine, b.Key, address)
}

// StandIn makes a function call v; see Unit.StandIns.
func (p *Program) StandIn(s StandIn, v reflect.Value) error { return p.compiled.StandIn(s.Key, v) }

// Publish makes functions that wait for their first call, and that units since the last call of Publish have compiled,
// available to callers. The variables that they use must have their values.
func (p *Program) Publish() {
	if p.compiled != nil {
		p.compiled.Publish()
	}
}

// CompilesLater reports whether a function can be compiled at its first call.
func (p *Program) CompilesLater(*types.Func) bool { return p.fast != nil }
