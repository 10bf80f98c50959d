package lower

// yaegi does not get the source of functions that package vm runs. Lowered code declares variables for
// them, which [vm.Unit.Link] sets:
//
//	func fib(n int) int {...}       ->  var fibʹ1 func(int) int
//	func sum(xs ...int) int {...}   ->  var sumʹ1ʹm func([]int) int
//	                                    func sumʹ1(a0 ...int) int { return sumʹ1ʹm(a0) }
//
// The second form is needed because yaegi does not pass variadic arguments to a function variable.

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"github.com/quernlab/quern/interp/vm"
)

// compile makes package vm compile the functions, and statements of the cell, as far as it supports them.
func (e *emitter) compile(decls []*ast.FuncDecl, body string) {
	if e.fast == nil {
		return
	}
	e.machine = e.fast.Begin(&vm.Source{
		Info:             e.Info,
		Stop:             e.stop,
		HooksBefore:      e.tracks,
		HooksAfter:       e.losses,
		Cell:             e.cell.Number,
		Global:           func(v *types.Var) string { return e.names[v] },
		InterpretedName:  e.yaegiName,
		Table:            e.constantTable,
		IsInterface:      func(t types.Type) bool { return beginsWithInterface(t) || isHeader(t) },
		BecomesInterface: e.needMethods,
		Function: func(at *ast.Ident, o *types.Func, arguments []types.Type) (vm.Declaration, bool) {
			e.functionInstance(at, o, arguments)
			return e.instanceDeclaration(e.genericFunction(o), arguments)
		},
		Method: func(t *types.Named, m *types.Func) (vm.Declaration, bool) {
			e.methodInstance(t, m.Name(), nil)
			return e.instanceDeclaration(e.genericMethod(t, m.Name()), typeList(t.TypeArgs()))
		},
		Position: e.position,
	})
	e.compileLater(e.cell.Later)
	var list []vm.Declaration
	for _, decl := range decls {
		o, ok := e.Info.Defs[decl.Name].(*types.Func)
		if !ok || e.names[o] == "" || decl.Body == nil {
			continue
		}
		list = append(list, vm.Declaration{Key: o, Name: e.variable(o), Method: methodOf(o), Signature: o.Signature(), Body: decl.Body, Facts: e.factsOf(decl, nil)})
	}
	if body != "" {
		list = append(list, e.bodyDeclaration(body))
	}
	e.machine.Compile(list)
	if body != "" && !e.machine.Compiled(e.bodyKey) {
		for _, d := range e.cellStatements() {
			e.machine.AddInstance(d)
		}
		e.compileLiterals()
	}
}

// needMethods declares the instances of generic types in a type whose values become interface values: from there compiled packages reach
// their parts, and call their methods.
func (e *emitter) needMethods(t types.Type) {
	if e.reached[t] {
		return
	}
	if e.reached == nil {
		e.reached = map[types.Type]bool{}
	}
	e.reached[t] = true
	switch t := t.(type) {
	case *types.Alias:
		e.needMethods(types.Unalias(t))
	case *types.Named:
		if !Interpreted(t) || types.IsInterface(t) {
			return
		}
		if t.TypeArgs().Len() > 0 {
			e.typ(t)
		}
		e.needMethods(t.Underlying())
	case *types.Struct:
		for f := range t.Fields() {
			e.needMethods(f.Type())
		}
	case *types.Map:
		e.needMethods(t.Key())
		e.needMethods(t.Elem())
	case *types.Signature:
		for v := range t.Results().Variables() {
			e.needMethods(v.Type())
		}
	case interface{ Elem() types.Type }:
		e.needMethods(t.Elem())
	}
}

// onlyInBody returns the variables of the cell that no function of it uses.
func (e *emitter) onlyInBody() []*types.Var {
	if len(e.cell.Vars) == 0 {
		return nil
	}
	used := map[types.Object]bool{}
	for _, decl := range e.cell.Funcs {
		ast.Inspect(decl, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				if v, ok := e.Info.Uses[id].(*types.Var); ok {
					used[v] = true
				}
			}
			return true
		})
	}
	return slices.DeleteFunc(slices.Clone(e.cell.Vars), func(v *types.Var) bool { return used[v] })
}

func methodOf(o *types.Func) string {
	if o.Signature().Recv() == nil {
		return ""
	}
	return o.Name()
}

// instanceDeclaration returns the declaration of a named instance for package vm.
func (e *emitter) instanceDeclaration(decl *ast.FuncDecl, args []types.Type) (vm.Declaration, bool) {
	o := e.Info.Defs[decl.Name].(*types.Func)
	key := e.instanceOf(o, args)
	name, sig := e.instances[key], o.Signature()
	if sig.Variadic() {
		name += "ʹm" // see declareVariable
	}
	if sig.Recv() != nil && sig.TypeParams() != nil {
		return vm.Declaration{}, false
	}
	// For yaegi, an instance of an earlier cell is a function if package vm does not run
	// it.
	if e.machine == nil || !e.declares[key] && !e.fast.Runs(key) || decl.Body == nil {
		return vm.Declaration{}, false
	}
	var env *environment // made when it is needed: most calls are of an instance that is compiled already
	subst := func(t types.Type) types.Type {
		if env == nil {
			env = e.instanceEnvironment(decl, args)
		}
		return env.subst(t)
	}
	return vm.Declaration{Key: key, Name: name, Method: methodOf(o), Signature: sig, Body: decl.Body, Substitute: subst}, true
}

// instanceEnvironment returns the environment of an instance, with the types that the function declares.
func (e *emitter) instanceEnvironment(decl *ast.FuncDecl, args []types.Type) *environment {
	f := e.function(newEnvironment(parametersOf(e.Info.Defs[decl.Name].(*types.Func).Signature()), args))
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		if spec, ok := n.(*ast.TypeSpec); ok {
			f.localType(spec)
		}
		return true
	})
	return f.env
}

// parametersOf returns the type parameters of a function or, for a method, those of the receiver and its
// own.
func parametersOf(sig *types.Signature) []*types.TypeParam {
	return slices.AppendSeq(slices.Collect(sig.RecvTypeParams().TypeParams()), sig.TypeParams().TypeParams())
}

// declareInstance queues the declaration of an instance of a generic function or method. Package vm runs it
// if it can.
func (e *emitter) declareInstance(decl *ast.FuncDecl, key instance, name string, args []types.Type) {
	if e.declares == nil {
		e.declares = map[instance]bool{}
	}
	e.declares[key] = true
	e.queue = append(e.queue, func() {
		env := newEnvironment(parametersOf(e.Info.Defs[decl.Name].(*types.Func).Signature()), args)
		if d, ok := e.instanceDeclaration(decl, args); ok && (e.machine.Compiled(d.Key) || e.machine.AddInstance(d)) {
			e.declareVariable(e.Info.Defs[decl.Name], d.Signature, name, env)
			return
		}
		e.functionDeclaration(decl, name, env)
	})
}

// yaegiName returns the name of a function that yaegi runs, so that package vm can call it. It returns "" for
// a function that calls recover: yaegi must call it, because it counts the activations.
func (e *emitter) yaegiName(at *ast.Ident, o *types.Func, arguments []types.Type) string {
	switch {
	case e.recovering[o]:
		return ""
	case o.Signature().TypeParams() != nil:
		return e.functionInstance(at, o, arguments)
	}
	return e.names[o]
}

// compiled declares the function of decl as a variable, if package vm has compiled it.
func (e *emitter) compiled(decl *ast.FuncDecl, name string) bool {
	o, _ := e.Info.Defs[decl.Name].(*types.Func)
	if e.machine == nil || o == nil || !e.machine.Compiled(o) {
		return false
	}
	if !e.waited(o) { // else code that mentions it makes bind declare it
		e.declareVariable(o, o.Signature(), name, nil)
	}
	return true
}

// declareVariable declares the variable for the function o that package vm runs.
func (e *emitter) declareVariable(o types.Object, sig *types.Signature, name string, env *environment) {
	f := e.function(env)
	var parameters, results []string
	if recv := sig.Recv(); recv != nil {
		parameters = append(parameters, f.typ(f.subst(recv.Type())))
	}
	for v := range sig.Params().Variables() {
		parameters = append(parameters, f.typ(f.subst(v.Type())))
	}
	for v := range sig.Results().Variables() {
		results = append(results, f.typ(f.subst(v.Type())))
	}
	out := "(" + list(results) + ")"
	w := &e.out
	if !sig.Variadic() {
		w.line("var %s func(%s) %s", name, list(parameters), out)
		return
	}
	w.line("var %sʹm func(%s) %s", name, list(parameters), out)
	arguments := make([]string, len(parameters))
	for v := range sig.Params().Variables() {
		e.noteParameter(name, f.subst(v.Type()))
	}
	for i := range parameters {
		arguments[i] = fmt.Sprintf("a%d", i)
		if last := len(parameters) - 1; i == last {
			parameters[i] = "..." + f.typ(f.subst(sig.Params().At(sig.Params().Len()-1).Type()).Underlying().(*types.Slice).Elem())
		}
		parameters[i] = arguments[i] + " " + parameters[i]
	}
	w.open("func %s(%s) %s {", name, list(parameters), out)
	if e.recovering[o] {
		w.line("%s", e.rt("Forwards", "1"))
	}
	w.line("%s%sʹm(%s)", returning(sig), name, list(arguments))
	w.close("}")
}
