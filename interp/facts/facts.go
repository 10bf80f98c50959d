package facts

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
)

// Function has the facts of one function and its function literals.
type Function struct {
	// Capacities says what determines the capacity of the slices that these calls return.
	Capacities map[*ast.CallExpr]Capacity
	// JumpLabels are the labels of goto statements. With one of them, any statement may run more than once.
	JumpLabels map[string]bool
	// Addresses numbers the conversions from unsafe.Pointer to uintptr.
	Addresses map[*ast.CallExpr]int

	variables map[types.Object]property
	counters  map[types.Object]bool
	returned  map[*types.Tuple]bool
}

// property is a set of properties of a variable.
type property uint8

const (
	declared          property = 1 << iota // the function declares it
	addressed                              // its address is taken: by &, by slicing an array, or for the receiver of a method
	captured                               // a function literal that does not declare it uses it
	inBody                                 // the body of a range over a function that does not declare it uses it
	assigned                               // it is assigned to after its declaration
	assignedByLiteral                      // a function literal that does not declare it assigns to it
)

// Declared reports whether the function declares v, perhaps as a parameter.
func (f *Function) Declared(v types.Object) bool { return f.has(v, declared) }

// Captured reports whether a function literal uses v but does not declare it.
func (f *Function) Captured(v types.Object) bool { return f.has(v, captured) }

// Shared reports whether a pointer or a function literal may refer to v, so that each execution of its declaration must
// create a new variable.
func (f *Function) Shared(v types.Object) bool { return f.has(v, addressed|captured) }

// Escapes reports whether v must be on the heap. The body of a range over a function captures variables, too.
func (f *Function) Escapes(v types.Object) bool { return f.has(v, addressed|captured|inBody) }

// Assigned reports whether there is an assignment to v, or to a part of it, after its declaration.
func (f *Function) Assigned(v types.Object) bool { return f.has(v, assigned) }

// Changes reports whether v may change after its declaration.
func (f *Function) Changes(v types.Object) bool { return f.has(v, assigned|addressed) }

// Exposed reports whether a call may change v, although it is a local variable.
func (f *Function) Exposed(v types.Object) bool { return f.has(v, addressed|assignedByLiteral) }

// Counts reports whether v is an integer that starts at a constant that is not negative, or is defined by a range, and
// is only increased afterwards.
func (f *Function) Counts(v types.Object) bool { return f.counters[v] && !f.Shared(v) }

// ReturnedInBody reports whether a function with these results has a return statement in the body of a range over a
// function.
func (f *Function) ReturnedInBody(results *types.Tuple) bool { return f.returned[results] }

func (f *Function) has(v types.Object, p property) bool { return f.variables[v]&p != 0 }

// Of computes the facts of the function with the given signature and body. For an instance of a generic function,
// substitute replaces type parameters by type arguments; otherwise it is nil. outside are variables that only body uses
// but does not declare.
func Of(info *types.Info, substitute func(types.Type) types.Type, sig *types.Signature, body ast.Node, outside ...*types.Var) *Function {
	a := &analysis{
		Function: &Function{
			Capacities: sliceCapacities(info, body, outside...), JumpLabels: map[string]bool{}, Addresses: map[*ast.CallExpr]int{},
			variables: map[types.Object]property{}, counters: map[types.Object]bool{}, returned: map[*types.Tuple]bool{},
		},
		info: info, substitute: substitute, owners: map[types.Object]scope{},
	}
	outer := scope{results: sig.Results()}
	if recv := sig.Recv(); recv != nil {
		a.declare(recv, outer)
	}
	for _, tuple := range []*types.Tuple{sig.Params(), sig.Results()} {
		for v := range tuple.Variables() {
			a.declare(v, outer)
		}
	}
	a.walk(body, outer)
	return a.Function
}

// analysis computes the facts of one function.
type analysis struct {
	*Function
	info       *types.Info
	substitute func(types.Type) types.Type
	owners     map[types.Object]scope // of the variables that the function declares
}

// scope is the innermost function or body of a range over a function.
type scope struct {
	literal *ast.FuncLit   // nil for the function itself
	body    *ast.RangeStmt // nil outside of such bodies
	results *types.Tuple
}

func (a *analysis) walk(n ast.Node, s scope) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if a.isAddress(n) {
				a.Addresses[n] = len(a.Addresses)
			}
		case *ast.FuncLit:
			inner := scope{literal: n}
			if sig, ok := a.info.TypeOf(n).(*types.Signature); ok {
				inner.results = sig.Results()
			}
			a.walk(n.Type, inner)
			a.walk(n.Body, inner)
			return false
		case *ast.RangeStmt:
			if n.Tok == token.ASSIGN {
				for _, e := range []ast.Expr{n.Key, n.Value} {
					a.assign(e, s)
					if id, ok := e.(*ast.Ident); ok {
						delete(a.counters, a.info.Uses[id])
					}
				}
			}
			a.countRange(n)
			if _, function := a.under(n.X).(*types.Signature); function {
				a.walk(n.X, s)
				a.walkBody(n, scope{s.literal, n, s.results})
				return false
			}
		case *ast.ReturnStmt:
			if s.body != nil {
				a.returned[s.results] = true
				for v := range s.results.Variables() {
					a.variables[v] |= inBody
				}
			}
		case *ast.CaseClause:
			if v := a.info.Implicits[n]; v != nil {
				a.declare(v, s)
			}
		case *ast.Ident:
			if v := a.info.Defs[n]; v != nil {
				a.declare(v, s)
			} else if v, ok := a.info.Uses[n].(*types.Var); ok {
				a.use(v, s)
			}
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				a.address(n.X)
			}
		case *ast.SliceExpr:
			if _, array := a.under(n.X).(*types.Array); array {
				a.address(n.X)
			}
		case *ast.SelectorExpr:
			if a.takesAddress(n) {
				a.address(n.X)
			}
		case *ast.AssignStmt:
			a.countAssignment(n)
			for _, e := range n.Lhs {
				if id, ok := e.(*ast.Ident); !ok || a.info.Defs[id] == nil {
					a.assign(e, s)
				}
			}
		case *ast.IncDecStmt:
			a.assign(n.X, s)
			if id, ok := n.X.(*ast.Ident); ok && n.Tok == token.DEC {
				delete(a.counters, a.info.Uses[id])
			}
		case *ast.BranchStmt:
			if n.Tok == token.GOTO {
				a.JumpLabels[n.Label.Name] = true
			}
		}
		return true
	})
}

// walkBody visits what belongs to the body of a range over a function.
func (a *analysis) walkBody(n *ast.RangeStmt, s scope) {
	for _, e := range []ast.Expr{n.Key, n.Value} {
		if e != nil {
			a.walk(e, s)
		}
	}
	a.walk(n.Body, s)
}

func (a *analysis) declare(v types.Object, s scope) {
	a.owners[v] = s
	a.variables[v] |= declared
}

func (a *analysis) use(v *types.Var, s scope) {
	switch owner := a.owners[v]; {
	case owner.literal != s.literal:
		a.variables[v] |= captured
	case owner.body != s.body:
		a.variables[v] |= inBody
	}
}

func (a *analysis) address(e ast.Expr) {
	if v := Root(a.info, a.under, e); v != nil {
		a.variables[v] |= addressed
	}
}

func (a *analysis) assign(e ast.Expr, s scope) {
	v := Root(a.info, a.under, e)
	if v == nil {
		return
	}
	a.variables[v] |= assigned
	if a.owners[v].literal != s.literal {
		a.variables[v] |= assignedByLiteral
	}
}

// takesAddress reports whether e is a method with a pointer receiver that is selected from a variable. For a type
// argument, any method may have one.
func (a *analysis) takesAddress(e *ast.SelectorExpr) bool {
	sel := a.info.Selections[e]
	if sel == nil || sel.Kind() != types.MethodVal {
		return false
	}
	recv := sel.Obj().(*types.Func).Signature().Recv()
	if recv == nil {
		return false
	}
	_, byPointer := types.Unalias(recv.Type()).(*types.Pointer)
	_, isPointer := a.under(e.X).(*types.Pointer)
	_, parameter := types.Unalias(sel.Recv()).(*types.TypeParam)
	return (byPointer || parameter || a.substitute != nil) && !isPointer
}

// under returns the underlying type of an expression, or nil if it has no type.
func (a *analysis) under(e ast.Expr) types.Type {
	t := a.info.TypeOf(e)
	if t == nil {
		return nil
	}
	if a.substitute != nil {
		t = a.substitute(t)
	}
	return t.Underlying()
}

// Root returns the variable whose storage contains e, or nil if e is reached through a pointer or is not in a variable.
// under returns the underlying types of expressions.
func Root(info *types.Info, under func(ast.Expr) types.Type, e ast.Expr) *types.Var {
	switch e := e.(type) {
	case *ast.Ident:
		v, _ := info.ObjectOf(e).(*types.Var)
		return v
	case *ast.ParenExpr:
		return Root(info, under, e.X)
	case *ast.SelectorExpr:
		if sel := info.Selections[e]; sel != nil && !sel.Indirect() {
			return Root(info, under, e.X)
		}
	case *ast.IndexExpr:
		if _, array := under(e.X).(*types.Array); array {
			return Root(info, under, e.X)
		}
	}
	return nil
}

// countRange notes that an integer that a range statement defines is a counter.
func (a *analysis) countRange(s *ast.RangeStmt) {
	id, ok := s.Key.(*ast.Ident)
	if !ok || s.Tok != token.DEFINE || !isInteger(a.info.TypeOf(id)) {
		return
	}
	switch a.under(s.X).(type) {
	case *types.Map, *types.Chan, *types.Signature:
	default:
		a.counters[a.info.Defs[id]] = true
	}
}

// countAssignment notes which variables start as counters, and which do not remain counters.
func (a *analysis) countAssignment(s *ast.AssignStmt) {
	for i, e := range s.Lhs {
		id, ok := e.(*ast.Ident)
		if !ok {
			continue
		}
		v, _ := a.info.ObjectOf(id).(*types.Var)
		if v == nil || !isInteger(v.Type()) {
			continue
		}
		positive := false
		if len(s.Lhs) == len(s.Rhs) {
			value := a.info.Types[s.Rhs[i]].Value
			positive = value != nil && value.Kind() == constant.Int && constant.Sign(value) >= 0
		}
		switch {
		case s.Tok == token.DEFINE && a.info.Defs[id] != nil:
			a.counters[v] = positive
		case !positive || s.Tok != token.ASSIGN && s.Tok != token.ADD_ASSIGN && s.Tok != token.MUL_ASSIGN && s.Tok != token.QUO_ASSIGN:
			a.counters[v] = false
		}
	}
}

func isInteger(t types.Type) bool {
	if t == nil {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0
}

// isAddress reports whether e converts an unsafe.Pointer to a uintptr.
func (a *analysis) isAddress(e *ast.CallExpr) bool {
	if len(e.Args) != 1 || !a.info.Types[e.Fun].IsType() {
		return false
	}
	isBasic := func(e ast.Expr, kind types.BasicKind) bool {
		t := a.info.TypeOf(e)
		if t == nil {
			return false
		}
		b, ok := t.Underlying().(*types.Basic)
		return ok && b.Kind() == kind
	}
	return isBasic(e.Fun, types.Uintptr) && isBasic(e.Args[0], types.UnsafePointer)
}

// ReceiverBase returns the name of the type of a method's receiver, and whether that type has type parameters. The name is "" if
// the receiver is not one that Go allows.
func ReceiverBase(f *ast.FuncDecl) (name string, generic bool) {
	if len(f.Recv.List) == 0 {
		return "", false
	}
	e := f.Recv.List[0].Type
	for {
		switch t := e.(type) {
		case *ast.StarExpr:
			e = t.X
		case *ast.ParenExpr:
			e = t.X
		case *ast.IndexExpr:
			e, generic = t.X, true
		case *ast.IndexListExpr:
			e, generic = t.X, true
		case *ast.Ident:
			return t.Name, generic
		default:
			return "", generic
		}
	}
}

// ParameterAt returns the type of the parameter for argument i of a call; spread says that the last argument is a slice for
// the variadic parameter. It is nil if there is no such parameter, as for a builtin, whose signature is nil.
func ParameterAt(sig *types.Signature, i int, spread bool) types.Type {
	if sig == nil {
		return nil
	}
	last := sig.Params().Len() - 1
	switch {
	case sig.Variadic() && !spread && i >= last:
		if s, ok := sig.Params().At(last).Type().(*types.Slice); ok {
			return s.Elem()
		}
	case i <= last:
		return sig.Params().At(i).Type()
	}
	return nil
}

// Defers reports whether a body has a defer statement, outside of function literals.
func Defers(body []ast.Stmt) bool {
	return contains(body, func(n ast.Node) bool { _, is := n.(*ast.DeferStmt); return is })
}

// Recovers reports whether a body calls recover, outside of function literals.
func Recovers(body []ast.Stmt) bool {
	return contains(body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return false
		}
		id, ok := ast.Unparen(call.Fun).(*ast.Ident)
		return ok && id.Name == "recover"
	})
}

func contains(body []ast.Stmt, is func(ast.Node) bool) (found bool) {
	for _, s := range body {
		ast.Inspect(s, func(n ast.Node) bool {
			if _, literal := n.(*ast.FuncLit); literal || found || n == nil {
				return false
			}
			found = is(n)
			return !found
		})
	}
	return found
}
