package check

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"github.com/quernlab/quern/interp/origin"
)

// What code uses and what it may change.
//
// Code changes a variable of the session if it assigns to it, to one of its fields or elements or to what it points to, or takes
// its address. A call may change a variable that it gets by reference: as a pointer, slice, map, channel or interface, also as the
// receiver. It does
//
//   - if the function is one of the cells and its body changes that parameter;
//   - if the function is compiled and nothing uses its results, apart from an error: slices.Sort(x), b.WriteString("a"),
//     err := d.Decode(p). It also does if it reports an error beside other results, as r.Read(p) does, unless it is a function of
//     Quern: of those, only the ones of changedArgument do. The functions of readers never do.
//
// So y := model.Forward(x) only reads. What is defined as &x, x[1:], x.f, or by a call that gets x by reference, shares memory with
// x: what changes one changes both. Memory that is shared in other ways is not seen.

// A share is a variable with which another one may share memory.
type share struct {
	name string
	view bool // the value of the other one is a part of it, and not what a function has returned
}

// effects finds the effects of code.
type effects struct {
	*Checker
	info     *types.Info
	declared map[string]*declaration // of the cell
	result   []ast.Expr              // what the cell shows

	uses, changes map[string]bool
	parameters    map[types.Object]int
	changed       []bool                 // whether a parameter is changed; the first is the receiver
	unused        map[*ast.CallExpr]bool // calls whose results nothing uses
	// locals are the variables of the session and the parameters with which a local variable may share memory.
	locals map[types.Object][]types.Object

	// Of statements at the top level; nil in functions.
	own      map[string]bool    // variables that the cell has set before
	literals map[string]Effects // of variables whose value is a function literal
	shares   map[string][]share
}

func (c *Checker) newEffects(cell *Cell, declared map[string]*declaration) *effects {
	return &effects{
		Checker: c, info: cell.info, declared: declared, result: cell.Result, uses: map[string]bool{}, changes: map[string]bool{},
		parameters: map[types.Object]int{}, unused: map[*ast.CallExpr]bool{}, locals: map[types.Object][]types.Object{},
		own: map[string]bool{}, literals: map[string]Effects{},
	}
}

// effects returns what has been found.
func (f *effects) effects() Effects {
	return Effects{slices.Sorted(maps.Keys(f.uses)), slices.Sorted(maps.Keys(f.changes))}
}

// declaration finds the effects of a declaration at package level.
func (f *effects) declaration(n ast.Decl) {
	if fn, ok := n.(*ast.FuncDecl); ok {
		f.addParameters(fn.Recv)
		f.changed = make([]bool, 1, 1+fn.Type.Params.NumFields()) // the receiver, if there is one
		f.addParameters(fn.Type.Params)
	}
	f.visit(n)
}

// addParameters adds the parameters of a function, or its receiver.
func (f *effects) addParameters(list *ast.FieldList) {
	if list == nil {
		return
	}
	for _, field := range list.List {
		for _, name := range field.Names {
			f.parameters[f.info.Defs[name]] = len(f.changed)
			f.changed = append(f.changed, false)
		}
		if len(field.Names) == 0 {
			f.changed = append(f.changed, false)
		}
	}
}

// session returns the variable of the session that an identifier means, or nil.
func (f *effects) session(o types.Object) *types.Var {
	v, ok := o.(*types.Var)
	if !ok || v.Pkg() != f.pkg || v.Parent() != f.pkg.Scope() || v.Name() == "ctx" || strings.Contains(v.Name(), "ʹ") {
		return nil
	}
	return v
}

// statement finds the effects of a statement at the top level.
func (f *effects) statement(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.LabeledStmt:
		f.statement(s.Stmt)
	case *ast.AssignStmt:
		f.assign(s, true)
	case *ast.DeclStmt:
		if g := s.Decl.(*ast.GenDecl); g.Tok == token.VAR {
			for _, spec := range g.Specs {
				f.define(spec.(*ast.ValueSpec), true)
			}
			return
		}
		f.visit(s)
	default:
		f.visit(s)
	}
}

// visit finds the effects of a piece of syntax.
func (f *effects) visit(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			f.assign(n, false)
			return false
		case *ast.ValueSpec:
			f.define(n, false)
			return false
		case *ast.IncDecStmt:
			f.change(n.X, false)
		case *ast.SendStmt:
			f.change(n.Chan, true)
		case *ast.RangeStmt:
			f.rangeOver(n)
		case *ast.UnaryExpr:
			if _, literal := ast.Unparen(n.X).(*ast.CompositeLit); n.Op == token.AND && !literal {
				f.change(n.X, false)
			}
		case *ast.ExprStmt:
			f.ignore(n.X)
		case *ast.GoStmt:
			f.ignore(n.Call)
		case *ast.DeferStmt:
			f.ignore(n.Call)
		case *ast.CallExpr:
			f.call(n)
		case *ast.CompositeLit:
			f.elements(n)
		case *ast.FuncDecl:
			if sig, ok := f.info.Defs[n.Name].(*types.Func); ok {
				f.returns(n.Body, sig.Signature().Results())
			}
		case *ast.FuncLit:
			if sig, ok := types.Unalias(f.info.TypeOf(n)).(*types.Signature); ok {
				f.returns(n.Body, sig.Results())
			}
		case *ast.Ident:
			f.use(n)
		}
		return true
	})
}

// ignore records that nothing uses the results of an expression, if it is a call.
func (f *effects) ignore(e ast.Expr) {
	if call, ok := ast.Unparen(e).(*ast.CallExpr); ok && !slices.Contains(f.result, e) {
		f.unused[call] = true
	}
}

// use adds the name that an identifier means.
func (f *effects) use(id *ast.Ident) {
	switch o := f.info.Uses[id].(type) {
	case *types.PkgName:
		if f.imports[o.Name()] == o.Imported().Path() || f.imports[o.Name()] == origin.ImportPath(o.Imported()) {
			f.uses[o.Name()] = true
		}
	case *types.Func:
		if o.Pkg() != f.pkg {
			return
		}
		if o = o.Origin(); o.Signature().Recv() == nil && !strings.Contains(o.Name(), "ʹ") {
			f.uses[o.Name()] = true
		} else if key := methodKey(o); key != "" {
			f.uses[key] = true
		}
	case *types.TypeName, *types.Const:
		if o.Pkg() == f.pkg && o.Parent() == f.pkg.Scope() {
			f.uses[o.Name()] = true
		}
	case *types.Var:
		f.useVariable(o)
	}
}

func (f *effects) useVariable(o *types.Var) {
	v := f.session(o)
	if v == nil {
		return
	}
	name := v.Name()
	if !f.own[name] {
		f.uses[name] = true
		f.namedTypes(v.Type(), func(t string) { f.uses[t] = true })
		for _, s := range f.Checker.shares[name] {
			if s.view && !f.own[s.name] {
				f.uses[s.name] = true
			}
		}
		return
	}
	for _, use := range f.literals[name].Uses {
		if !f.own[use] {
			f.uses[use] = true
		}
	}
	for _, change := range f.literals[name].Changes {
		f.changes[change] = true
	}
}

// namedTypes calls visit with the names of the types of the session that are in t.
func (f *effects) namedTypes(t types.Type, visit func(name string)) {
	w := &typeWalk{seen: map[types.Type]bool{}, shallow: true, visit: func(n *types.Named) {
		if o := n.Obj(); o.Pkg() == f.pkg && o.Parent() == f.pkg.Scope() {
			visit(o.Name())
		}
	}}
	w.walk(t)
}

// convert adds the methods that can be called on the value of e when it is stored in a variable of type t. If t is nil, it is an
// interface type.
func (f *effects) convert(t types.Type, e ast.Expr) {
	from := f.info.TypeOf(e)
	if t != nil && !types.IsInterface(t) || from == nil || types.IsInterface(from) {
		return
	}
	f.namedTypes(from, func(name string) { f.uses[name+".*"] = true })
}

// returns converts the results of a function.
func (f *effects) returns(body *ast.BlockStmt, results *types.Tuple) {
	if body == nil || !slices.ContainsFunc(slices.Collect(results.Variables()), func(v *types.Var) bool { return types.IsInterface(v.Type()) }) {
		return
	}
	ast.Inspect(body, func(n ast.Node) bool {
		if r, ok := n.(*ast.ReturnStmt); ok && len(r.Results) == results.Len() {
			for i, e := range r.Results {
				f.convert(results.At(i).Type(), e)
			}
		}
		_, literal := n.(*ast.FuncLit)
		return !literal
	})
}

// elements converts the elements of a literal.
func (f *effects) elements(lit *ast.CompositeLit) {
	t := f.info.TypeOf(lit)
	if t == nil {
		return
	}
	for i, e := range lit.Elts {
		var key ast.Expr
		if pair, ok := e.(*ast.KeyValueExpr); ok {
			key, e = pair.Key, pair.Value
		}
		switch t := types.Unalias(t).Underlying().(type) {
		case *types.Slice:
			f.convert(t.Elem(), e)
		case *types.Array:
			f.convert(t.Elem(), e)
		case *types.Map:
			f.convert(t.Key(), key)
			f.convert(t.Elem(), e)
		case *types.Struct:
			if id, ok := key.(*ast.Ident); ok {
				if field := f.info.Uses[id]; field != nil {
					f.convert(field.Type(), e)
				}
			} else if i < t.NumFields() {
				f.convert(t.Field(i).Type(), e)
			}
		}
	}
}
