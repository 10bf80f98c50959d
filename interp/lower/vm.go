package lower

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/quernlab/quern/interp/typeparts"
	"github.com/quernlab/quern/interp/vm/compile"
)

// compile makes package compile compile the functions and the statements of the cell.
func (e *emitter) compile(decls []*ast.FuncDecl, body string) {
	e.machine = compile.Begin(e.Program.machine, &e.Compiler, &compile.Source{
		Info:             e.Info,
		Stop:             e.stop,
		HooksBefore:      e.tracks,
		HooksAfter:       e.losses,
		Cell:             e.cell.Number,
		Global:           func(v *types.Var) string { return e.names[v] },
		Private:          func(v *types.Var) bool { return !e.exposed[v] },
		Table:            e.constantTable,
		BecomesInterface: e.needMethods,
		Function:         e.declarationOf,
		Method:           e.methodOf,
		Position:         e.position,
	})
	e.compileLater(e.cell.Later)
	var list []compile.Declaration
	for _, decl := range decls {
		o, ok := e.Info.Defs[decl.Name].(*types.Func)
		switch {
		case !ok || e.names[o] == "":
		case decl.Body == nil:
			e.unsupported(decl, "a function without a body", "its opening brace must be on the line where its header ends")
		default:
			list = append(list, compile.Declaration{Key: o, Name: e.names[o], Method: methodName(o), Signature: o.Signature(), Body: decl.Body, Facts: e.factsOf(decl)})
		}
	}
	if body != "" {
		list = append(list, e.bodyDeclaration(body))
	}
	e.machine.Compile(list)
}

// declarationOf returns the declaration of an instance of a generic function, or of a function of a generic source; false for any other
// function.
func (e *emitter) declarationOf(at *ast.Ident, o *types.Func, arguments []types.Type) (d compile.Declaration, ok bool) {
	switch {
	case len(arguments) > 0:
		return e.functionInstance(at, o, arguments), true
	case o.Pkg() != nil && isSource(o.Pkg()) && o.Signature().Recv() == nil:
		return e.sourceFunction(o), true
	}
	return d, false
}

// methodOf does the same for methods.
func (e *emitter) methodOf(t *types.Named, m *types.Func, own []types.Type) (d compile.Declaration, ok bool) {
	if t.TypeArgs().Len() == 0 && len(own) == 0 && !isSource(t.Obj().Pkg()) {
		return d, false
	}
	return e.methodInstance(t, m.Name(), own), true
}

// needMethods declares the instances of generic types in a type whose values become interface values: from there compiled packages reach
// their parts, and call their methods.
func (e *emitter) needMethods(t types.Type) {
	if e.reached[t] {
		return
	}
	e.reached[t] = true
	switch t := t.(type) {
	case *types.Alias:
		e.needMethods(types.Unalias(t))
	case *types.Named:
		if !Interpreted(t) || types.IsInterface(t) {
			return
		}
		switch {
		case t.TypeArgs().Len() > 0:
			e.typeInstance(t)
		case isSource(t.Obj().Pkg()):
			e.queueMethods(t)
		}
		e.needMethods(t.Underlying())
	case *types.Signature:
		typeparts.All(t.Results(), e.needMethods)
	default:
		typeparts.All(t, e.needMethods)
	}
}

// onlyInBody returns the variables of the cell that no function of it uses.
func (e *emitter) onlyInBody() []*types.Var {
	return slices.DeleteFunc(slices.Clone(e.cell.Vars), func(v *types.Var) bool { return e.exposed[v] })
}

// expose records the variables of the session that functions use.
func (e *emitter) expose(functions []*ast.FuncDecl) {
	for _, decl := range functions {
		e.exposeIn(decl, func(*types.Var) bool { return true })
	}
}

// exposeIn records those of the variables of the session in n of which exposes says so.
func (e *emitter) exposeIn(n ast.Node, exposes func(*types.Var) bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if v, ok := e.Info.Uses[id].(*types.Var); ok && e.names[v] != "" && !e.exposed[v] && exposes(v) {
				set(e.Program, e.exposed, types.Object(v), true)
			}
		}
		return true
	})
}
