package lower

// Statements of a cell that package vm runs. Each becomes a function of its own, which yaegi calls:
//
//	for i := range n {...}              ->  var bodyʹ3ʹvm1 func();  bodyʹ3ʹvm1()
//	x, err := f(func() {...})           ->  the same: x and err are variables of the session
//	slices.IndexFunc(xs, func(...) ...) ->  var bodyʹ3ʹvm1 func() int;  sessionʹ.Result(bodyʹ3ʹvm1())
//
// If package vm does not support the whole statement, it may support function literals in it:
//
//	http.HandleFunc("/", func(...) {...})  ->  var bodyʹ3ʹvm1 func() func(...);  http.HandleFunc("/", bodyʹ3ʹvm1())
//
// A statement without loops and functions is left to yaegi, which runs it once.

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/quernlab/quern/interp/desugar"
	"github.com/quernlab/quern/interp/facts"
	"github.com/quernlab/quern/interp/vm"
)

// cellCode is the part of an emitter that knows what package vm runs of the statements of a cell.
type cellCode struct {
	// functions has the names of functions for statements and function literals of the cell, compiled or not.
	functions map[ast.Node]string
	// assignments are initializers as statements, which functions has.
	assignments map[*types.Initializer]ast.Stmt
	bodyKey     *ast.FuncDecl       // of the function with all statements
	reached     map[types.Type]bool // see needMethods
	shown       ast.Stmt            // the last statement, if the cell shows its value
	// added maps the variables that the cell adds to the session to their indices in Cell.Vars.
	added map[types.Object]int
}

// cellStatements returns the declarations of functions for statements of the cell.
func (e *emitter) cellStatements() (list []vm.Declaration) {
	e.functions, e.assignments = map[ast.Node]string{}, map[*types.Initializer]ast.Stmt{}
	for _, init := range e.cell.Init {
		if (len(init.Lhs) > 1 || init.Lhs[0].Name() != "_") && e.forMachine(init.Rhs) && !e.isTable(init.Rhs) {
			s := e.initializerAssignment(init)
			e.assignments[init] = s
			list = append(list, e.cellFunction(s, nil, []ast.Stmt{s}))
		}
	}
	for i, s := range e.cell.Body {
		if define, ok := s.(*ast.AssignStmt); !e.forMachine(s) || ok && slices.ContainsFunc(define.Lhs, e.isAdded) {
			continue
		}
		if x, ok := s.(*ast.ExprStmt); ok && i == len(e.cell.Body)-1 && len(e.cell.Result) > 0 {
			if e.shown = s; e.hasPlainType(x.X) {
				list = append(list, e.cellFunction(s, e.Info.TypeOf(x.X), []ast.Stmt{&ast.ReturnStmt{Return: s.Pos(), Results: []ast.Expr{x.X}}}))
			}
			continue
		}
		list = append(list, e.cellFunction(s, nil, []ast.Stmt{e.assignment(s)}))
	}
	return list
}

// compileLiterals makes package vm compile the function literals of statements that it does not run as a whole.
func (e *emitter) compileLiterals() {
	recovering := map[*ast.FuncLit]bool{} // deferred literals that call recover, which counts the activations of yaegi
	add := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.DeferStmt:
				if lit, ok := ast.Unparen(n.Call.Fun).(*ast.FuncLit); ok {
					recovering[lit] = facts.Recovers(lit.Body.List)
				}
			case *ast.FuncLit:
				if !recovering[n] && e.hasPlainType(n) {
					d := e.cellFunction(n, e.Info.TypeOf(n), []ast.Stmt{&ast.ReturnStmt{Return: n.Pos(), Results: []ast.Expr{n}}})
					if !e.machine.AddInstance(d) {
						delete(e.functions, n)
					}
				}
				return false
			}
			return true
		})
	}
	for _, init := range e.cell.Init {
		if s := e.assignments[init]; s == nil || !e.machine.Compiled(s) {
			add(init.Rhs)
		}
	}
	for _, s := range e.cell.Body {
		if !e.machine.Compiled(s) {
			add(s)
		}
	}
}

// cellFunction returns the declaration of a function for a node of the cell. result is the type of its result, a tuple if it has
// several, and nil if it has none.
func (e *emitter) cellFunction(n ast.Node, result types.Type, body []ast.Stmt) vm.Declaration {
	e.functions[n] = e.freshOf("body", "ʹvm")
	return vm.Declaration{
		Key: n, Name: e.functions[n], Signature: resultSignature(result), Facts: e.bodyFacts,
		Body: &ast.BlockStmt{Lbrace: n.Pos(), List: body, Rbrace: n.End()},
	}
}

// resultSignature returns the signature of a function without parameters.
func resultSignature(result types.Type) *types.Signature {
	tuple, several := result.(*types.Tuple)
	switch {
	case result == nil:
		return noParameters
	case !several:
		tuple = types.NewTuple(types.NewVar(token.NoPos, nil, "", types.Default(result)))
	}
	results := make([]*types.Var, tuple.Len()) // without names
	for i := range results {
		results[i] = types.NewVar(token.NoPos, nil, "", tuple.At(i).Type())
	}
	return types.NewSignatureType(nil, nil, nil, nil, types.NewTuple(results...), false)
}

// hasPlainType reports whether a function of lowered code can return the value of x to yaegi.
func (e *emitter) hasPlainType(x ast.Expr) bool {
	t := e.Info.TypeOf(x)
	tuple, several := t.(*types.Tuple)
	if !several {
		tuple = types.NewTuple(types.NewVar(token.NoPos, nil, "", t))
	}
	for v := range tuple.Variables() {
		if hidden(v.Type()) || isNil(v.Type()) {
			return false
		}
	}
	return true
}

// forMachine reports whether a statement or an initializer may run for so long that package vm should run it, or creates a
// function, which may be called often.
func (e *emitter) forMachine(n ast.Node) (found bool) {
	if s, ok := n.(*ast.LabeledStmt); ok && e.bodyFacts.JumpLabels[s.Label.Name] {
		return false // yaegi needs the label
	}
	var called ast.Expr
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ForStmt, *ast.RangeStmt, *ast.FuncLit:
			found = true
		case *ast.CallExpr:
			called = ast.Unparen(n.Fun)
			found = e.passesMethods(n)
		case *ast.CompositeLit:
			found = found || len(n.Elts) >= manyElements
		case *ast.SelectorExpr:
			// SetFinalizer and AddCleanup of package runtime: see runtimeFunctions of package vm
			found = found || n.Sel.Name == "SetFinalizer" || n.Sel.Name == "AddCleanup"
			if sel := e.Info.Selections[n]; sel != nil && sel.Kind() == types.MethodVal && n != called {
				found = true // a method value
			}
		}
		return !found
	})
	return found
}

// passesMethods reports whether a call passes a value of a cell's type as an interface whose methods the called function may call
// often, as sort.Sort does.
func (e *emitter) passesMethods(call *ast.CallExpr) bool {
	sig, ok := types.Unalias(e.Info.TypeOf(call.Fun)).Underlying().(*types.Signature)
	if !ok || e.Info.Types[call.Fun].IsType() {
		return false
	}
	for i, x := range call.Args {
		if i >= sig.Params().Len() {
			break
		}
		t := e.Info.TypeOf(x)
		if p, ok := types.Unalias(t).(*types.Pointer); ok {
			t = p.Elem()
		}
		named, ok := types.Unalias(t).(*types.Named)
		if ok && !types.IsInterface(t) && Interpreted(named) && types.IsInterface(sig.Params().At(i).Type()) && !isEmptyInterface(sig.Params().At(i).Type()) {
			return true
		}
	}
	return false
}

// manyElements is the length from which on a literal is left to the VM. yaegi needs 13 kB for each struct in a literal, the VM
// less than 1 kB.
const manyElements = 100

// assignment returns s or, if it defines variables of the session, an assignment to them.
func (e *emitter) assignment(s ast.Stmt) ast.Stmt {
	switch s := s.(type) {
	case *ast.LabeledStmt:
		return &ast.LabeledStmt{Label: s.Label, Colon: s.Colon, Stmt: e.assignment(s.Stmt)}
	case *ast.DeclStmt:
		return e.declaredAssignments(s)
	case *ast.AssignStmt:
		if s.Tok != token.DEFINE || slices.ContainsFunc(s.Lhs, e.isAdded) {
			return s
		}
		assign := &ast.AssignStmt{TokPos: s.TokPos, Tok: token.ASSIGN, Rhs: s.Rhs}
		for _, x := range s.Lhs {
			id := x.(*ast.Ident)
			v, ok := e.Info.Defs[id].(*types.Var)
			if !ok {
				assign.Lhs = append(assign.Lhs, id)
				continue
			}
			assign.Lhs = append(assign.Lhs, e.use(id.NamePos, v))
		}
		return assign
	}
	return s
}

// isAdded reports whether x defines a variable that package desugar has added.
func (e *emitter) isAdded(x ast.Expr) bool {
	id, ok := x.(*ast.Ident)
	if !ok {
		return false
	}
	v, ok := e.Info.Defs[id].(*types.Var)
	return ok && desugar.IsAdded(v)
}

// declaredAssignments returns a declaration of variables of the session as assignments. Those without a value keep the one that they have.
func (e *emitter) declaredAssignments(s *ast.DeclStmt) ast.Stmt {
	d := s.Decl.(*ast.GenDecl)
	if d.Tok != token.VAR {
		return s
	}
	block := &ast.BlockStmt{Lbrace: s.Pos(), Rbrace: s.End()}
	for _, spec := range d.Specs {
		spec := spec.(*ast.ValueSpec)
		if len(spec.Values) == 0 {
			continue
		}
		assign := &ast.AssignStmt{TokPos: spec.Pos(), Tok: token.ASSIGN, Rhs: spec.Values}
		for _, id := range spec.Names {
			v, ok := e.Info.Defs[id].(*types.Var)
			if !ok {
				assign.Lhs = append(assign.Lhs, id)
				continue
			}
			assign.Lhs = append(assign.Lhs, e.use(id.NamePos, v))
		}
		block.List = append(block.List, assign)
	}
	return block
}

// initializerAssignment returns the assignment for an initializer.
func (e *emitter) initializerAssignment(init *types.Initializer) ast.Stmt {
	assign := &ast.AssignStmt{TokPos: init.Rhs.Pos(), Tok: token.ASSIGN, Rhs: []ast.Expr{init.Rhs}}
	for _, v := range init.Lhs {
		assign.Lhs = append(assign.Lhs, e.use(init.Rhs.Pos(), v))
	}
	return assign
}

// use returns an identifier that denotes v.
func (e *emitter) use(pos token.Pos, v *types.Var) *ast.Ident {
	id := &ast.Ident{NamePos: pos, Name: v.Name()}
	if v.Name() != "_" {
		e.cell.AddUse(id, v)
	}
	return id
}

// declareCellFunctions declares the variables for functions of statements and function literals.
func (e *emitter) declareCellFunctions() {
	f := e.function(nil)
	declare := func(n ast.Node, result types.Type) {
		if name := e.functions[n]; name != "" && e.machine.Compiled(n) {
			e.out.line("var %s func()%s", name, f.resultList(resultSignature(result)))
		}
	}
	literals := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			if lit, ok := n.(*ast.FuncLit); ok {
				declare(lit, e.Info.TypeOf(lit))
				return false
			}
			return true
		})
	}
	for _, init := range e.cell.Init {
		declare(e.assignments[init], nil)
		literals(init.Rhs)
	}
	for _, s := range e.cell.Body {
		if s == e.shown {
			declare(s, e.Info.TypeOf(s.(*ast.ExprStmt).X))
		} else {
			declare(s, nil)
		}
		literals(s)
	}
}

// runsOnMachine emits the call of the function of a statement, if package vm has compiled it.
func (f *function) runsOnMachine(w *writer, s ast.Stmt) bool {
	call := f.cellCall(s)
	if call == "" || !f.top {
		return false
	}
	f.store(w, s, true)
	w.line("%s", call)
	return true
}

// cellCall returns the call of the function for a statement or a function literal of the cell, or "" if package vm does not run it.
func (f *functionTypes) cellCall(n ast.Node) string {
	name := f.functions[n]
	if name == "" || !f.machine.Compiled(n) {
		return ""
	}
	return name + "()"
}
