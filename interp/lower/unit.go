package lower

import (
	"context"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/quernlab/quern/interp/check"
	"github.com/quernlab/quern/interp/desugar"
	"github.com/quernlab/quern/interp/facts"
	"github.com/quernlab/quern/interp/origin"
	"github.com/quernlab/quern/interp/vm/compile"
)

// emitter builds one unit.
type emitter struct {
	*Program
	ctx           context.Context
	cell          *check.Cell
	Fset          *token.FileSet  // of the cell
	Info          *types.Info     // of the session; facts about generic sources are added
	out           strings.Builder // declarations of variables
	types         map[string]reflect.Value
	queue         []func() // instances to be compiled
	machine       *compile.Unit
	bodyKey       *ast.FuncDecl        // of the function with all statements
	added         map[types.Object]int // the variables that the cell adds to the session, with their indices in Cell.Vars
	reached       map[types.Type]bool  // see needMethods
	redeclared    []Redeclared
	copiedMethods map[*types.TypeName]bool // types whose methods were copied for this unit
	facts         map[*ast.FuncDecl]*facts.Function
	bodyFacts     *facts.Function                   // facts of the statements and initializers of the cell
	before        map[*types.Initializer][]ast.Stmt // statements before an initializer
}

// stop ends the lowering if ctx has ended. It is called for each statement.
func (e *emitter) stop() {
	if err := e.ctx.Err(); err != nil {
		panic(&compile.Stopped{Err: err})
	}
}

func (e *emitter) lower() *Unit {
	c := e.cell
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
			decl.Body.List = source.Run(e.factsOf(decl), decl.Body.List)
		}
	}
	e.expose(c.Funcs)
	e.expose(c.Later)
	whole := &ast.BlockStmt{List: slices.Clone(c.Body)}
	initializers := slices.DeleteFunc(slices.Clone(c.Init), func(init *types.Initializer) bool { return e.isTable(init.Rhs) })
	for _, init := range initializers {
		whole.List = append(whole.List, &ast.ExprStmt{X: init.Rhs})
	}
	e.bodyFacts = facts.Of(e.Info, nil, noParameters, whole, e.onlyInBody()...)
	if e.sharesLoopVariables(whole.List) && source.SharedLoopVariables(e.bodyFacts, whole) {
		e.bodyFacts = facts.Of(e.Info, nil, noParameters, whole, e.onlyInBody()...)
	}
	e.exposeIn(whole, func(v *types.Var) bool { return e.bodyFacts.Escapes(v) })
	for _, init := range initializers {
		list := source.Run(e.bodyFacts, []ast.Stmt{&ast.ReturnStmt{Results: []ast.Expr{init.Rhs}}})
		last := len(list) - 1
		e.before[init], init.Rhs = list[:last], list[last].(*ast.ReturnStmt).Results[0]
	}
	c.Body = source.Run(e.bodyFacts, c.Body)
	body := ""
	if !c.Part || len(c.Init)+len(c.Body) > 0 {
		body = e.freshOf("body")
	}
	e.compile(c.Funcs, body)

	for _, v := range vars {
		e.variable(v)
	}
	for _, named := range changed {
		for _, instance := range e.existing[named.Obj()] {
			e.queueMethods(instance)
		}
	}
	for len(e.queue) > 0 {
		next := e.queue[0]
		e.queue = e.queue[1:]
		next()
	}
	var names []string
	for _, v := range vars {
		names = append(names, v.Name()+" "+types.TypeString(v.Type(), (*types.Package).Name))
	}
	return &Unit{variables: names, Machine: e.machine, Types: e.types, Source: e.out.String(), Redeclared: e.redeclared, bodyKey: e.bodyKey}
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
