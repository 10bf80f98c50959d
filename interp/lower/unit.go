package lower

// A unit has this order:
//
//	types        type Tʹ1 struct{...}         every type, on demand its instances
//	variables    var xʹ1 int                  the variables that do not exist yet
//	functions    func fʹ1(...) {...}          methods too: func TʹMʹ1(r Tʹ1, ...)
//	body         func bodyʹ3ʹ1() {...}        package-level initializers, then the statements
//	on demand    instances, dispatchers, helpers, hoisted local types
//	tables       func registerʹ3ʹ1() {...}    the methods of each type, for dynamic calls

import (
	"context"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"reflect"
	"slices"

	"github.com/quernlab/quern/interp/check"
	"github.com/quernlab/quern/interp/desugar"
	"github.com/quernlab/quern/interp/facts"
	"github.com/quernlab/quern/interp/origin"
	"github.com/quernlab/quern/interp/vm"
)

// noParameters is the signature of the functions that have the statements of a cell.
var noParameters = types.NewSignatureType(nil, nil, nil, nil, nil, false)

// emitter builds one unit.
type emitter struct {
	*Program
	ctx       context.Context
	cell      *check.Cell
	Fset      *token.FileSet // of the cell
	Info      *types.Info    // of the session; facts about generic sources are added
	out       writer
	imports   []string
	types     map[string]reflect.Value
	queue     []func()       // declarations that are needed by the code so far
	registers []string       // statements
	parts     writer         // functions with statements of the cell
	once      []string       // see Unit.Once
	at        token.Position // position of the statement that is being lowered
	machine   *vm.Unit       // nil without package vm
	cellCode
	declares      map[instance]bool // instances of generics that the unit declares
	values        []string          // see Unit.Values
	redeclared    []Redeclared
	bindings      []Binding
	standIns      []StandIn
	scan          scanned
	copied        map[*ast.CallExpr]bool   // see noteCopies
	casts         map[*ast.CallExpr]bool   // conversions to unsafe.Pointer that are the operand of a cast
	middles       []string                 // of long expressions, see shorten
	copiedMethods map[*types.TypeName]bool // types whose methods were copied for this unit
	facts         map[*ast.FuncDecl]*facts.Function
	bodyFacts     *facts.Function                   // facts of the statements and initializers of the cell
	before        map[*types.Initializer][]ast.Stmt // statements before an initializer
}

// stop ends the lowering if ctx has ended. It is called for each statement.
func (e *emitter) stop() {
	if err := e.ctx.Err(); err != nil {
		panic(&vm.Stopped{Err: err})
	}
}

func (e *emitter) lower() *Unit {
	c := e.cell
	for _, spec := range c.Types {
		if named := e.definedType(spec); named != nil {
			set(e.Program, e.names, types.Object(named.Obj()), e.nameType(named, e.fresh(spec.Name.Name)))
		}
	}
	var vars []*types.Var
	e.added = map[types.Object]int{}
	for i, v := range c.Vars {
		if e.names[v] == "" {
			set(e.Program, e.names, types.Object(v), e.fresh(v.Name()))
			vars = append(vars, v)
			e.added[v] = i
		}
	}
	changed := e.declareFunctions(c.Funcs)
	e.declareLater(c.Later)
	source := e.desugared()
	for _, decl := range c.Funcs {
		if decl.Body != nil {
			e.shareLoopVariables(source, decl)
			decl.Body.List = source.Run(e.factsOf(decl, nil), decl.Body.List)
		}
	}
	whole := &ast.BlockStmt{List: slices.Clone(c.Body)}
	initializers := slices.DeleteFunc(slices.Clone(c.Init), func(init *types.Initializer) bool { return e.isTable(init.Rhs) })
	for _, init := range initializers {
		whole.List = append(whole.List, &ast.ExprStmt{X: init.Rhs})
	}
	e.bodyFacts = facts.Of(e.Info, nil, noParameters, whole, e.onlyInBody()...)
	if e.sharesLoopVariables(whole.List) && source.SharedLoopVariables(e.bodyFacts, whole) {
		e.bodyFacts = facts.Of(e.Info, nil, noParameters, whole, e.onlyInBody()...)
	}
	for _, init := range initializers {
		list := source.Run(e.bodyFacts, []ast.Stmt{&ast.ReturnStmt{Results: []ast.Expr{init.Rhs}}})
		last := len(list) - 1
		e.before[init], init.Rhs = list[:last], list[last].(*ast.ReturnStmt).Results[0]
	}
	c.Body = source.Run(e.bodyFacts, c.Body)
	body := ""
	if !c.Part || len(c.Init)+len(c.Body) > 0 {
		body = e.freshOf("body", "")
	}
	e.compile(c.Funcs, body)

	for _, spec := range c.Types {
		if named := e.definedType(spec); named != nil {
			e.typeDeclaration(named, e.names[named.Obj()])
			if !c.Part {
				e.queueTables(named)
			}
		}
	}
	for _, v := range vars {
		e.atDeclaration(v)
		e.out.line("var %s %s", e.names[v], e.typ(v.Type()))
	}
	for _, decl := range c.Funcs {
		o := e.Info.Defs[decl.Name]
		switch name := e.names[o]; {
		case name == "" || e.compiled(decl, name):
		case e.waited(o):
			e.standIn(decl, o.(*types.Func))
		default:
			e.functionDeclaration(decl, name, nil)
		}
	}
	start := e.out.text.Len()
	onMachine := body != "" && e.machine != nil && e.machine.Compiled(e.bodyKey)
	if body != "" && !onMachine {
		e.declareCellFunctions()
		start = e.out.text.Len()
		e.body(body)
	}
	end := e.out.text.Len()
	for _, named := range c.Dispatched {
		e.methodTables(named)
	}
	for _, m := range c.Methods {
		e.methodEntry(m)
	}
	for _, named := range changed {
		if named.TypeParams() == nil && !c.Part {
			e.methodTables(named)
		}
		for _, instance := range e.existing[named.Obj()] {
			e.methodTables(instance)
		}
	}
	for len(e.queue) > 0 || e.bindMentioned() {
		if len(e.queue) > 0 {
			next := e.queue[0]
			e.queue = e.queue[1:]
			next()
		}
	}

	e.out.add(&e.parts)
	unit := &Unit{Machine: e.machine, Bindings: e.bindings, StandIns: e.standIns}
	switch {
	case onMachine:
		unit.bodyKey = e.bodyKey
	case body != "":
		unit.Body = body
		e.once = append(e.once, body)
	}
	if register := e.register(); register != "" {
		unit.Register = register + "()"
	}
	unit.Once = e.once
	unit.Types, unit.Values, unit.Redeclared = e.types, e.values, e.redeclared
	around := []int{start, end}
	unit.Imports, unit.Source = e.imports, e.expand(e.out.text.String(), e.out.declarations, around)
	unit.declarations, start, end = e.out.declarations, around[0], around[1]
	e.noteMentions(unit.Source[:start]+unit.Source[end:], unit.Source[start:end])
	return unit
}

// desugared returns the cell as package desugar needs it.
func (e *emitter) desugared() *desugar.Source {
	c := e.cell
	return &desugar.Source{
		Info: e.Info, Note: c.AddFact, Use: func(id *ast.Ident, v *types.Var) { c.AddUse(id, v) }, Define: c.AddDefinition,
		Interpreted: func(p *types.Package) bool { return origin.Interpreted(p) || isSource(p) },
		Records:     func(s ast.Stmt) bool { return len(c.Overwrites[s])+len(c.Begins[s])+len(c.Tracks[s]) > 0 },
	}
}

// definedType returns the type that spec declares. It returns nil for an alias, which lowered code does not have, and for a
// generic type, which is instantiated on demand.
func (e *emitter) definedType(spec *ast.TypeSpec) *types.Named {
	if spec.Assign.IsValid() || spec.TypeParams != nil || spec.Name.Name == "_" {
		return nil
	}
	named, _ := e.Info.Defs[spec.Name].Type().(*types.Named)
	return named
}

// declareFunctions gives functions their names and adds methods to their types. It returns the types of earlier cells that have
// new methods.
func (e *emitter) declareFunctions(decls []*ast.FuncDecl) (changed []*types.Named) {
	seen := map[types.Object]bool{} // types of the cell, and those in changed
	for _, s := range e.cell.Types {
		seen[e.Info.Defs[s.Name]] = true
	}
	for _, decl := range decls {
		o := e.Info.Defs[decl.Name].(*types.Func)
		sig := o.Type().(*types.Signature)
		switch {
		case decl.Name.Name == "_":
			continue
		case sig.Recv() != nil:
			named := receiver(sig)
			e.addMethod(named.Obj(), decl)
			if named.TypeParams() == nil && sig.TypeParams() == nil {
				e.declareFunction(o)
			}
			if !seen[named.Obj()] {
				seen[named.Obj()] = true
				changed = append(changed, named)
			}
		case sig.TypeParams() != nil:
			set(e.Program, e.generics, types.Object(o), decl)
		default:
			e.declareFunction(o)
		}
		set(e.Program, e.recovering, types.Object(o), decl.Body != nil && facts.Recovers(decl.Body.List))
	}
	return changed
}

// declareFunction names a function or method that is not generic. One that is compiled at its first call has a name.
func (e *emitter) declareFunction(o *types.Func) {
	if e.later[o] {
		remove(e.Program, e.later, types.Object(o))
		return
	}
	e.nameFunction(o)
	e.redeclare(o)
}

func (e *emitter) addMethod(typ *types.TypeName, decl *ast.FuncDecl) {
	m := e.methods[typ]
	if !e.copiedMethods[typ] { // the unit may be discarded
		old := m
		m = &methods{byName: map[string]*ast.FuncDecl{}}
		if old != nil {
			m.order = slices.Clone(old.order)
			maps.Copy(m.byName, old.byName)
		}
		set(e.Program, e.methods, typ, m)
		e.copiedMethods[typ] = true
	}
	m.add(decl)
}

// receiver returns the type that has the method with signature sig.
func receiver(sig *types.Signature) *types.Named {
	t := types.Unalias(sig.Recv().Type())
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	named, _ := t.(*types.Named)
	return named.Origin()
}

// result emits the call that shows the value of the last expression:
//
//	x    ->  sessionʹ.Result(x as interface{})
//	g()  ->  tʹ1, tʹ2 := g(); sessionʹ.Result(tʹ1 as interface{}, tʹ2 as interface{})
func (f *function) result(w *writer, x ast.Expr) {
	f.store(w, x, true)
	show, call := f.session("Result"), f.cellCall(f.shown)
	if tuple, ok := f.typeOf(x).(*types.Tuple); ok {
		if call == "" {
			call = f.multi(x)
		}
		temps := f.tupleOf(w, call, tuple)
		for i := range temps {
			temps[i] = f.convert(temps[i], tuple.At(i).Type(), anyType)
		}
		w.line("%s(%s)", show, list(temps))
		return
	}
	if isNil(f.typeOf(x)) {
		w.line("%s(nil)", show)
		return
	}
	t, value := f.temp(), ""
	if call == "" {
		value = f.exprTo(x, anyType)
	} else {
		value = f.convert(call, types.Default(f.typeOf(x)), anyType)
	}
	w.line("var %s interface{} = %s", t, value)
	w.line("%s(%s)", show, t)
}

// initializer emits the assignment of package-level variables.
func (f *function) initializer(w *writer, init *types.Initializer) {
	f.store(w, init.Rhs, true)
	if len(init.Lhs) == 1 {
		v := init.Lhs[0]
		value := f.exprTo(init.Rhs, v.Type())
		if v.Name() == "_" {
			w.line("_ = %s", value)
		} else {
			f.put(w, f.names[v], v.Type(), init.Rhs, value)
		}
		return
	}
	tuple := f.typeOf(init.Rhs).(*types.Tuple)
	temps := f.tuple(w, init.Rhs, tuple)
	for i, v := range init.Lhs {
		if v.Name() != "_" {
			w.line("%s = %s", f.names[v], f.convert(temps[i], tuple.At(i).Type(), v.Type()))
		}
	}
}
