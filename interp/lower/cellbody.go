package lower

// Package vm runs the statements of a cell as one function, for which yaegi only has the variables:
//
//	x := f(1)   ->  var xʹ1 int
//	g(x)            func() { xʹ1 = f(1); sessionʹ.Defined(0); sessionʹ.Result(g(xʹ1)) }
//
// A statement that package desugar has divided stays together in a block, so that the variables it has added do not take up
// registers until the end of the cell.

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"

	"github.com/quernlab/quern/interp/desugar"
	"github.com/quernlab/quern/interp/vm/compile"
)

// noParameters is the signature of the function that has the statements of a cell.
var noParameters = types.NewSignatureType(nil, nil, nil, nil, nil, false)

// bodyDeclaration returns the function that runs the initializers and the statements of the cell.
func (e *emitter) bodyDeclaration(name string) compile.Declaration {
	list := e.bodyStatements()
	block := &ast.BlockStmt{List: e.grouped(list)}
	if len(list) > 0 {
		block.Lbrace, block.Rbrace = list[0].Pos(), list[len(list)-1].End()
	}
	e.bodyKey = &ast.FuncDecl{Body: block}
	return compile.Declaration{Key: e.bodyKey, Name: name, Signature: noParameters, Body: block, Facts: e.bodyFacts, Cell: true}
}

// bodyStatements returns the initializers and statements of the cell, with the records that the session needs.
func (e *emitter) bodyStatements() (list []ast.Stmt) {
	add := func(s ...ast.Stmt) { list = append(list, s...) }
	zero := e.withoutInitializer()
	for _, init := range e.cell.Init {
		n := 0
		for n < len(zero) && zero[n].Pos() < init.Rhs.Pos() {
			n++
		}
		add(e.defined(init.Rhs.Pos(), zero[:n]...)...)
		zero = zero[n:]
		add(e.before[init]...)
		add(e.initializerAssignment(init))
		add(e.defined(init.Rhs.Pos(), init.Lhs...)...)
	}
	if len(e.cell.Body) == 0 {
		add(e.defined(token.NoPos, zero...)...)
		return list
	}
	add(e.defined(e.cell.Body[0].Pos(), zero...)...)
	for i, s := range e.cell.Body {
		add(e.errorRecords(s)...)
		last, ok := s.(*ast.ExprStmt)
		if ok && i == len(e.cell.Body)-1 && len(e.cell.Result) > 0 {
			add(e.sessionCall(last.Pos(), "Result", shows, last.X))
			continue
		}
		add(e.assignment(s))
		add(e.defined(s.Pos(), e.definedBy(s)...)...)
	}
	return list
}

// The signatures of functions of the session.
var (
	shows   = variadic(types.NewInterfaceType(nil, nil))
	defines = variadic(types.Typ[types.Int])
)

func variadic(t types.Type, first ...types.Type) *types.Signature {
	return types.NewSignatureType(nil, nil, nil, types.NewTuple(append(parametersOfTypes(first), types.NewParam(token.NoPos, nil, "", types.NewSlice(t)))...), nil, true)
}

func parametersOfTypes(list []types.Type) (parameters []*types.Var) {
	for _, t := range list {
		parameters = append(parameters, types.NewParam(token.NoPos, nil, "", t))
	}
	return parameters
}

// sessionPackage is the package of the functions of the session.
var sessionPackage = types.NewPackage("quern/session", "session")

// sessionCall returns a call of a function of the session.
func (e *emitter) sessionCall(pos token.Pos, name string, sig *types.Signature, arguments ...ast.Expr) ast.Stmt {
	id := &ast.Ident{NamePos: pos, Name: name}
	e.cell.AddUse(id, types.NewFunc(token.NoPos, sessionPackage, name, sig))
	end := pos
	if len(arguments) > 0 {
		end = arguments[len(arguments)-1].End()
	}
	call := &ast.CallExpr{Fun: id, Lparen: pos, Args: arguments, Rparen: end}
	e.cell.AddFact(call, types.TypeAndValue{Type: types.NewTuple()})
	return &ast.ExprStmt{X: call}
}

// literal returns an expression with a constant value.
func (e *emitter) literal(pos token.Pos, v constant.Value) ast.Expr {
	kind, t := token.INT, types.Typ[types.Int]
	if v.Kind() == constant.String {
		kind, t = token.STRING, types.Typ[types.String]
	}
	lit := &ast.BasicLit{ValuePos: pos, Kind: kind, Value: v.ExactString()}
	e.cell.AddFact(lit, types.TypeAndValue{Type: t, Value: v})
	return lit
}

func (e *emitter) literals(pos token.Pos, numbers ...int) (list []ast.Expr) {
	for _, n := range numbers {
		list = append(list, e.literal(pos, constant.MakeInt64(int64(n))))
	}
	return list
}

// defined returns the record that variables were defined.
func (e *emitter) defined(pos token.Pos, vars ...*types.Var) []ast.Stmt {
	indices := e.indices(vars)
	if len(indices) == 0 {
		return nil
	}
	return []ast.Stmt{e.sessionCall(pos, "Defined", defines, e.literals(pos, indices...)...)}
}

// errorRecords returns the checks of the errors that a statement overwrites, and the records of unread errors. They have no position:
// if one ends the cell, the statement has not begun.
func (e *emitter) errorRecords(s ast.Stmt) (list []ast.Stmt) {
	str, number, failure := types.Typ[types.String], types.Typ[types.Int], types.Universe.Lookup("error").Type()
	call := func(name string, parameters []types.Type, arguments ...ast.Expr) {
		sig := types.NewSignatureType(nil, nil, nil, types.NewTuple(parametersOfTypes(parameters)...), nil, false)
		list = append(list, e.sessionCall(token.NoPos, name, sig, arguments...))
	}
	text := func(s string) ast.Expr { return e.literal(token.NoPos, constant.MakeString(s)) }
	for _, unread := range e.cell.Overwrites[s] {
		v := unread.Var
		if unread.Tracked {
			call("ErrorCheck", []types.Type{str, failure, str}, text(e.names[v]), e.use(token.NoPos, v), text(v.Name()))
			continue
		}
		call("Unread", []types.Type{failure, str, number, number, number},
			append([]ast.Expr{e.use(token.NoPos, v), text(v.Name())}, e.literals(token.NoPos, e.cell.Number, unread.Set.Line, unread.Set.Column)...)...)
	}
	for _, begin := range e.cell.Begins[s] {
		call("ErrorBegin", []types.Type{str, number, number, number},
			append([]ast.Expr{text(e.names[begin.Var])}, e.literals(token.NoPos, e.cell.Number, begin.Set.Line, begin.Set.Column)...)...)
	}
	return list
}

// grouped returns the statements with each one that defines a variable in a block, together with those that use the variable.
func (e *emitter) grouped(list []ast.Stmt) (groups []ast.Stmt) {
	last := make([]int, len(list)) // the last statement that uses a variable that the statement defines
	defined := map[types.Object]int{}
	for i, s := range list {
		last[i] = i
		if len(defined) > 0 {
			ast.Inspect(s, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					if at, ok := defined[e.Info.Uses[id]]; ok {
						last[at] = i
					}
				}
				return true
			})
		}
		if assign, ok := s.(*ast.AssignStmt); ok && assign.Tok == token.DEFINE {
			for _, x := range assign.Lhs {
				if id, ok := x.(*ast.Ident); ok && e.Info.Defs[id] != nil {
					defined[e.Info.Defs[id]] = i
				}
			}
		}
	}
	for start := 0; start < len(list); {
		end := start + 1
		for until := last[start]; end <= until; end++ {
			until = max(until, last[end])
		}
		if end == start+1 {
			groups = append(groups, list[start])
		} else {
			groups = append(groups, &ast.BlockStmt{Lbrace: list[start].Pos(), List: list[start:end], Rbrace: list[end-1].End()})
		}
		start = end
	}
	return groups
}

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

// indices returns the indices in Cell.Vars of those of the variables that the cell adds to the session.
func (e *emitter) indices(vars []*types.Var) (indices []int) {
	for _, v := range vars {
		if i, ok := e.added[v]; ok && !e.cell.Part {
			indices = append(indices, i)
		}
	}
	return indices
}

// definedBy returns the variables that a statement defines.
func (e *emitter) definedBy(s ast.Stmt) (vars []*types.Var) {
	var names []*ast.Ident
	switch s := s.(type) {
	case *ast.LabeledStmt:
		return e.definedBy(s.Stmt)
	case *ast.AssignStmt:
		if s.Tok == token.DEFINE {
			for _, x := range s.Lhs {
				if id, ok := x.(*ast.Ident); ok {
					names = append(names, id)
				}
			}
		}
	case *ast.DeclStmt:
		for _, spec := range s.Decl.(*ast.GenDecl).Specs {
			if spec, ok := spec.(*ast.ValueSpec); ok {
				names = append(names, spec.Names...)
			}
		}
	}
	for _, id := range names {
		if v, ok := e.Info.Defs[id].(*types.Var); ok {
			vars = append(vars, v)
		}
	}
	return vars
}

// withoutInitializer returns the variables of the session that the cell declares before its statements without a value, in the
// order of the source.
func (e *emitter) withoutInitializer() (vars []*types.Var) {
	other := map[types.Object]bool{}
	for _, init := range e.cell.Init {
		for _, v := range init.Lhs {
			other[v] = true
		}
	}
	for _, s := range e.cell.Body {
		ast.Inspect(s, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				other[e.Info.Defs[id]] = true
			}
			return true
		})
	}
	for v := range e.added {
		if !other[v] {
			vars = append(vars, v.(*types.Var))
		}
	}
	slices.SortFunc(vars, func(a, b *types.Var) int { return int(a.Pos() - b.Pos()) })
	return vars
}
