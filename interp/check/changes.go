package check

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/quernlab/quern/interp/facts"
	"github.com/quernlab/quern/interp/origin"
)

// readers are packages whose functions change nothing that they get as an argument, apart from writers.
var readers = map[string]bool{
	"errors": true, "fmt": true, "log": true, "log/slog": true, "os": true, "reflect": true, "strconv": true, "strings": true, "encoding/json": true,
	quern + "display": true, quern + "plots": true, quern + "accel/metrics": true,
}

const quern = "github.com/quernlab/quern/"

// changedArgument has the functions of Quern whose results are used and that change an argument, with its index.
var changedArgument = map[string]int{quern + "accel.Fit": 1, quern + "accel/prune.Magnitude": 0, quern + "accel/prune.Pattern": 0}

// assign finds the effects of an assignment. top says that it is a statement at the top level.
func (f *effects) assign(s *ast.AssignStmt, top bool) {
	pairs := len(s.Lhs) == len(s.Rhs)
	literal := top && f.functionLiterals(s.Lhs, s.Rhs)
	if !literal {
		f.markErrorOnly(s)
		for _, e := range s.Rhs {
			f.visit(e)
		}
	}
	for i, e := range s.Lhs {
		id, ok := ast.Unparen(e).(*ast.Ident)
		if !ok {
			f.visit(e)
			f.change(e, false)
		} else if s.Tok != token.ASSIGN && s.Tok != token.DEFINE {
			f.use(id)
			f.change(e, false)
		} else if pairs {
			f.set(id, s.Rhs[i], top)
		} else {
			f.set(id, nil, top)
		}
		if t := f.info.TypeOf(e); pairs && t != nil {
			f.convert(t, s.Rhs[i])
		}
	}
}

// define finds the effects of a variable declaration.
func (f *effects) define(s *ast.ValueSpec, top bool) {
	if s.Type != nil {
		f.visit(s.Type)
	}
	names := make([]ast.Expr, len(s.Names))
	for i, id := range s.Names {
		names[i] = id
	}
	if !top || !f.functionLiterals(names, s.Values) {
		for _, e := range s.Values {
			f.visit(e)
		}
	}
	for i, id := range s.Names {
		var value ast.Expr
		if len(s.Values) == len(s.Names) {
			value = s.Values[i]
			if t := f.info.TypeOf(id); t != nil {
				f.convert(t, value)
			}
		}
		f.set(id, value, top)
	}
}

// functionLiterals finds the effects of function literals that are assigned to variables of the session at the top level. They
// count where the variable is used. It reports whether all values are such literals.
func (f *effects) functionLiterals(names, values []ast.Expr) bool {
	if len(names) != len(values) || len(names) == 0 {
		return false
	}
	for i, e := range values {
		id, isName := names[i].(*ast.Ident)
		if _, ok := ast.Unparen(e).(*ast.FuncLit); !ok || !isName || f.session(f.info.ObjectOf(id)) == nil {
			return false
		}
	}
	for i, e := range values {
		inner := &effects{
			Checker: f.Checker, info: f.info, declared: f.declared, uses: map[string]bool{}, changes: map[string]bool{},
			parameters: f.parameters, unused: f.unused, locals: f.locals,
		}
		inner.visit(e)
		f.literals[names[i].(*ast.Ident).Name] = inner.effects()
	}
	return true
}

// markErrorOnly records that nothing uses the result of a call but an error: err := f(), or _ = f().
func (f *effects) markErrorOnly(s *ast.AssignStmt) {
	if len(s.Rhs) != 1 {
		return
	}
	for _, e := range s.Lhs {
		if id, ok := e.(*ast.Ident); ok && id.Name == "_" {
			continue
		}
		if t := f.info.TypeOf(e); t == nil || !isError(t) {
			return
		}
	}
	f.ignore(s.Rhs[0])
}

// set finds the effects of giving a variable a new value, which is nil if it is one of several results.
func (f *effects) set(id *ast.Ident, value ast.Expr, top bool) {
	o := f.info.ObjectOf(id)
	var roots []types.Object
	view := true
	if value != nil && o != nil && isReference(o.Type()) {
		roots = f.roots(value, &view)
	}
	v := f.session(o)
	if v == nil {
		if o != nil && len(roots) > 0 {
			f.locals[o] = append(f.locals[o], roots...)
		}
		return
	}
	name := v.Name()
	f.changes[name] = true
	if f.shares == nil {
		return
	}
	list := f.Checker.shares[name]
	if top {
		f.own[name], list = true, nil
	} else if earlier, ok := f.shares[name]; ok {
		list = earlier
	}
	for _, r := range roots {
		if r != o && f.session(r) != nil {
			list = append(list, share{r.Name(), view})
		}
	}
	f.shares[name] = list
}

// rangeOver finds what a loop sets: its variables share memory with what it ranges over.
func (f *effects) rangeOver(s *ast.RangeStmt) {
	for _, e := range []ast.Expr{s.Key, s.Value} {
		id, ok := e.(*ast.Ident)
		switch {
		case e == nil:
		case s.Tok == token.ASSIGN:
			f.change(e, false)
		case ok:
			if o := f.info.Defs[id]; o != nil && isReference(o.Type()) {
				view := true
				f.locals[o] = append(f.locals[o], f.roots(s.X, &view)...)
			}
		}
	}
}

// call finds what a call changes.
func (f *effects) call(call *ast.CallExpr) {
	fun := ast.Unparen(call.Fun)
	tv := f.info.Types[call.Fun]
	if tv.IsType() {
		for _, e := range call.Args {
			f.convert(tv.Type, e)
		}
		return
	}
	if tv.IsBuiltin() {
		if id, ok := fun.(*ast.Ident); ok && (id.Name == "copy" || id.Name == "delete" || id.Name == "clear") && len(call.Args) > 0 {
			f.change(call.Args[0], true)
		}
		return
	}
	sig, ok := typeOf(tv.Type).(*types.Signature)
	if id, name := fun.(*ast.Ident); !ok || name && strings.Contains(id.Name, "ʹ") { // a command
		return
	}
	for i, e := range call.Args {
		if p := facts.ParameterAt(sig, i, call.Ellipsis.IsValid()); p != nil {
			f.convert(p, e)
		}
	}
	callee, receiver := f.callee(fun)
	if d := f.declarationOf(callee); d != nil {
		if receiver != nil && len(d.changes) > 0 && d.changes[0] {
			f.change(receiver, false)
			f.changeReference(receiver)
		}
		for i, e := range call.Args {
			if i = min(i, sig.Params().Len()-1) + 1; i > 0 && i < len(d.changes) && d.changes[i] {
				f.changeReference(e)
			}
		}
		return
	}
	if callee != nil && callee.Pkg() != nil {
		if i, ok := changedArgument[callee.Pkg().Path()+"."+callee.Name()]; ok && receiver == nil && i < len(call.Args) {
			f.changeReference(call.Args[i])
			return
		}
		if receiver == nil && readers[origin.ImportPath(callee.Pkg())] {
			return
		}
	}
	own := callee != nil && callee.Pkg() != nil && strings.HasPrefix(callee.Pkg().Path(), quern)
	results := sig.Results()
	fails := results.Len() > 0 && isError(results.At(results.Len()-1).Type())
	if !f.unused[call] && !(fails && !own) {
		return
	}
	if receiver != nil {
		if m := callee.Signature().Recv(); m != nil && isReference(m.Type()) {
			f.change(receiver, isReference(f.info.TypeOf(receiver)))
		}
	}
	for _, e := range call.Args {
		f.changeReference(e)
	}
}

// callee returns the function that a call names, and its receiver; each may be nil.
func (f *effects) callee(fun ast.Expr) (callee *types.Func, receiver ast.Expr) {
	switch x := fun.(type) {
	case *ast.IndexExpr:
		return f.callee(ast.Unparen(x.X))
	case *ast.IndexListExpr:
		return f.callee(ast.Unparen(x.X))
	case *ast.Ident:
		callee, _ = f.info.Uses[x].(*types.Func)
	case *ast.SelectorExpr:
		callee, _ = f.info.Uses[x.Sel].(*types.Func)
		if s := f.info.Selections[x]; s != nil && s.Kind() == types.MethodVal {
			receiver = x.X
		}
	}
	if callee != nil {
		callee = callee.Origin()
	}
	return callee, receiver
}

// declarationOf returns the declaration of a function of cells; nil if it has none.
func (f *effects) declarationOf(callee *types.Func) *declaration {
	if callee == nil || callee.Pkg() != f.pkg {
		return nil
	}
	key := callee.Name()
	if callee.Signature().Recv() != nil {
		key = methodKey(callee)
	}
	if d := f.declared[key]; d != nil {
		return d
	}
	return f.declarations[key]
}

// changeReference records that a call changes what it gets by reference.
func (f *effects) changeReference(e ast.Expr) {
	if t := f.info.TypeOf(e); t != nil && isReference(t) {
		f.change(e, true)
	}
}

// change records a change of the variable to which e belongs: a field, an element, or what it points to. shared says that the
// change is one of the memory to which the value of e refers.
func (f *effects) change(e ast.Expr, shared bool) {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.SelectorExpr:
			s := f.info.Selections[x]
			if s == nil {
				return // a variable of a package
			}
			shared = shared || s.Indirect()
			e = x.X
		case *ast.IndexExpr:
			_, array := typeOf(f.info.TypeOf(x.X)).(*types.Array)
			shared = shared || !array
			e = x.X
		case *ast.StarExpr:
			shared, e = true, x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.TypeAssertExpr:
			e = x.X
		case *ast.UnaryExpr:
			if x.Op != token.AND {
				return
			}
			shared, e = false, x.X // of the variable itself
		case *ast.Ident:
			f.changeVariable(f.info.ObjectOf(x), shared)
			return
		default:
			view := true
			for _, r := range f.roots(x, &view) {
				f.changeVariable(r, true)
			}
			return
		}
	}
}

func (f *effects) changeVariable(o types.Object, shared bool) {
	if i, ok := f.parameters[o]; ok && shared {
		f.changed[i] = true
	}
	if shared {
		for _, r := range f.locals[o] {
			if r != o {
				f.changeVariable(r, false)
				if i, ok := f.parameters[r]; ok {
					f.changed[i] = true
				}
			}
		}
	}
	v := f.session(o)
	if v == nil || f.changes[v.Name()] && !shared {
		return
	}
	seen := map[string]bool{}
	var add func(name string)
	add = func(name string) {
		if seen[name] {
			return
		}
		seen[name], f.changes[name] = true, true
		if !shared {
			return
		}
		list, ok := f.shares[name]
		if !ok {
			list = f.Checker.shares[name]
		}
		for _, s := range list {
			add(s.name)
		}
	}
	add(v.Name())
}

// roots returns the variables of the session and the parameters to whose memory the value of e may refer. It sets view to false
// if a function returns the value.
func (f *effects) roots(e ast.Expr, view *bool) (list []types.Object) {
	switch x := ast.Unparen(e).(type) {
	case *ast.Ident:
		o := f.info.ObjectOf(x)
		if _, parameter := f.parameters[o]; parameter || f.session(o) != nil {
			list = append(list, o)
		}
		return append(list, f.locals[o]...)
	case *ast.SelectorExpr:
		return f.roots(x.X, view)
	case *ast.IndexExpr:
		return f.roots(x.X, view)
	case *ast.SliceExpr:
		return f.roots(x.X, view)
	case *ast.StarExpr:
		return f.roots(x.X, view)
	case *ast.TypeAssertExpr:
		return f.roots(x.X, view)
	case *ast.UnaryExpr:
		if x.Op == token.AND {
			return f.roots(x.X, view)
		}
	case *ast.CompositeLit:
		for _, e := range x.Elts {
			if pair, ok := e.(*ast.KeyValueExpr); ok {
				e = pair.Value
			}
			list = append(list, f.references(e, view)...)
		}
	case *ast.CallExpr:
		tv := f.info.Types[x.Fun]
		if tv.IsBuiltin() {
			if id, ok := ast.Unparen(x.Fun).(*ast.Ident); !ok || id.Name != "append" {
				return nil
			}
		} else if !tv.IsType() {
			*view = false
		}
		callee, receiver := f.callee(ast.Unparen(x.Fun))
		if callee != nil && callee.Pkg() != nil && receiver == nil {
			if path := origin.ImportPath(callee.Pkg()); readers[path] || path == "slices" || path == "maps" {
				return nil
			}
		}
		if receiver != nil {
			list = f.references(receiver, view)
		}
		for _, e := range x.Args {
			list = append(list, f.references(e, view)...)
		}
	}
	return list
}

// references returns the roots of a value that is passed on by reference.
func (f *effects) references(e ast.Expr, view *bool) []types.Object {
	if t := f.info.TypeOf(e); t == nil || !isReference(t) {
		return nil
	}
	return f.roots(e, view)
}

// typeOf returns the underlying type of t, which may be nil.
func typeOf(t types.Type) types.Type {
	if t == nil {
		return nil
	}
	return types.Unalias(t).Underlying()
}

// isReference reports whether a function that gets a value of type t can change what the value refers to.
func isReference(t types.Type) bool {
	switch u := typeOf(t).(type) {
	case *types.Pointer, *types.Slice, *types.Map, *types.Chan:
		return true
	case *types.Interface:
		return !isError(t) && !isContext(t) && u != nil
	}
	return false
}

func isContext(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "context"
}
