package complete

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/quernlab/quern/interp/check"
	"github.com/quernlab/quern/interp/facts"
	"github.com/quernlab/quern/interp/origin"
)

// A want says what an expression should be where it stands. The zero value wants nothing: any expression is as good.
type want struct {
	of     types.Type            // the type
	spread types.Type            // the type of a list that, with dots, may stand for this argument and those after it
	kind   func(types.Type) bool // instead of a type, what the function accepts
	isType bool                  // what is wanted is a type itself
}

// expected returns what the expression at the end of nodes should be where it stands: of the type of a
// parameter, of the variable that is assigned, of a field, an element, a result, or of the other operand.
func expected(s *check.Sketch, nodes []ast.Node) want {
	n := len(nodes) - 1
	if n > 0 {
		if sel, ok := nodes[n-1].(*ast.SelectorExpr); ok && sel.Sel == nodes[n] {
			n--
		}
	}
	if n == 0 {
		return want{}
	}
	x := nodes[n]
	if isTypeIn(nodes[n-1], x) {
		return want{kind: func(types.Type) bool { return true }, isType: true}
	}
	switch outer := nodes[n-1].(type) {
	case *ast.CallExpr:
		return parameter(s, outer, x)
	case *ast.AssignStmt:
		for i, right := range outer.Rhs {
			if right == x && i < len(outer.Lhs) && outer.Tok != token.DEFINE {
				return want{of: typeOf(s, outer.Lhs[i])}
			}
		}
	case *ast.ValueSpec:
		if outer.Type != nil && outer.Type != x {
			return want{of: typeOf(s, outer.Type)}
		}
	case *ast.KeyValueExpr:
		if outer.Value != x || n < 2 {
			return want{}
		}
		if _, ok := nodes[n-2].(*ast.CompositeLit); ok {
			return want{of: field(s, nodes[:n-1], outer)}
		}
	case *ast.CompositeLit:
		if outer.Type == x {
			return want{}
		}
		switch t := underlying(literalType(s, nodes[:n])).(type) {
		case *types.Slice:
			return want{of: t.Elem()}
		case *types.Array:
			return want{of: t.Elem()}
		}
	case *ast.ReturnStmt:
		return want{of: result(s, nodes[:n-1], outer, x)}
	case *ast.BinaryExpr:
		if outer.Op == token.SHL || outer.Op == token.SHR {
			return want{}
		}
		if outer.X == x {
			return want{of: typeOf(s, outer.Y)}
		}
		return want{of: typeOf(s, outer.X)}
	case *ast.IndexExpr:
		if m, ok := underlying(typeOf(s, outer.X)).(*types.Map); ok && outer.Index == x {
			return want{of: m.Key()}
		}
	case *ast.SendStmt:
		if c, ok := underlying(typeOf(s, outer.Chan)).(*types.Chan); ok && outer.Value == x {
			return want{of: c.Elem()}
		}
	case *ast.RangeStmt:
		if outer.X == x {
			return want{kind: canRange}
		}
	case *ast.IfStmt, *ast.ForStmt:
		if _, statement := x.(ast.Stmt); !statement {
			return want{of: types.Typ[types.Bool]}
		}
	}
	return want{}
}

// isTypeIn reports whether x stands in outer where only a type can.
func isTypeIn(outer, x ast.Node) bool {
	var typ ast.Expr
	switch outer := outer.(type) {
	case *ast.ValueSpec:
		typ = outer.Type
	case *ast.TypeSpec:
		typ = outer.Type
	case *ast.Field:
		typ = outer.Type
	case *ast.TypeAssertExpr:
		typ = outer.Type
	case *ast.ArrayType:
		typ = outer.Elt
	case *ast.ChanType:
		typ = outer.Value
	case *ast.Ellipsis:
		typ = outer.Elt
	case *ast.MapType:
		return true
	}
	return typ != nil && typ == x
}

// typeOf returns the type of an expression, nil if it is not known or the constant has none yet.
func typeOf(s *check.Sketch, x ast.Expr) types.Type {
	t := s.Info.TypeOf(x)
	if b, ok := t.(*types.Basic); ok && (b.Kind() == types.Invalid || b.Info()&types.IsUntyped != 0) {
		return nil
	}
	return t
}

func underlying(t types.Type) types.Type {
	if t == nil {
		return nil
	}
	return t.Underlying()
}

// parameter returns what an argument of a call should be. A slice may stand for all arguments of a variadic parameter, with dots.
func parameter(s *check.Sketch, call *ast.CallExpr, x ast.Node) want {
	tv, ok := s.Info.Types[call.Fun]
	if ok && tv.IsType() {
		return want{} // a conversion
	}
	at := slices.IndexFunc(call.Args, func(argument ast.Expr) bool { return argument == x })
	if id, isName := call.Fun.(*ast.Ident); isName && at >= 0 {
		if builtin, isBuiltin := s.Info.Uses[id].(*types.Builtin); isBuiltin {
			return builtinParameter(s, builtin.Name(), call.Args, at)
		}
	}
	f, ok := underlying(typeOf(s, call.Fun)).(*types.Signature)
	if !ok || at < 0 {
		return want{}
	}
	w := want{of: facts.ParameterAt(f, at, call.Ellipsis.IsValid())}
	if last := f.Params().Len() - 1; f.Variadic() && at == last && !call.Ellipsis.IsValid() {
		w.spread = f.Params().At(last).Type()
	}
	return w
}

// builtinParameter returns what an argument of a predeclared function should be.
func builtinParameter(s *check.Sketch, name string, arguments []ast.Expr, at int) want {
	first := typeOf(s, arguments[0])
	switch {
	case at == 0 && name == "append", name == "copy":
		return want{kind: isSlice}
	case name == "append":
		if list, ok := underlying(first).(*types.Slice); ok {
			w := want{of: list.Elem()}
			if at == 1 {
				w.spread = first
			}
			return w
		}
	case at == 0 && name == "delete":
		return want{kind: isMap}
	case at == 1 && name == "delete":
		if m, ok := underlying(first).(*types.Map); ok {
			return want{of: m.Key()}
		}
	case name == "len", name == "cap":
		return want{kind: hasLength}
	case name == "clear":
		return want{kind: func(t types.Type) bool { return isSlice(t) || isMap(t) }}
	case name == "close":
		return want{kind: isChannel}
	case at == 0 && name == "make":
		return want{kind: func(t types.Type) bool { return isSlice(t) || isMap(t) || isChannel(t) }, isType: true}
	case at > 0 && (name == "min" || name == "max"):
		return want{of: first}
	}
	return want{}
}

func isSlice(t types.Type) bool {
	_, ok := t.Underlying().(*types.Slice)
	return ok
}

func isMap(t types.Type) bool {
	_, ok := t.Underlying().(*types.Map)
	return ok
}

func isChannel(t types.Type) bool {
	_, ok := t.Underlying().(*types.Chan)
	return ok
}

// hasLength reports whether len takes values of a type.
func hasLength(t types.Type) bool {
	switch t := t.Underlying().(type) {
	case *types.Slice, *types.Map, *types.Chan, *types.Array:
		return true
	case *types.Basic:
		return t.Info()&types.IsString != 0
	}
	return false
}

// canRange reports whether range goes over more than numbers with values of a type.
func canRange(t types.Type) bool {
	if f, ok := t.Underlying().(*types.Signature); ok {
		if f.Params().Len() != 1 || f.Results().Len() > 0 {
			return false
		}
		yield, ok := f.Params().At(0).Type().Underlying().(*types.Signature)
		return ok && yield.Results().Len() == 1 && types.Identical(yield.Results().At(0).Type(), types.Typ[types.Bool])
	}
	return hasLength(t)
}

// field returns the type of the value of a pair in the composite literal at the end of nodes.
func field(s *check.Sketch, nodes []ast.Node, pair *ast.KeyValueExpr) types.Type {
	switch t := underlying(literalType(s, nodes)).(type) {
	case *types.Map:
		return t.Elem()
	case *types.Slice:
		return t.Elem()
	case *types.Array:
		return t.Elem()
	case *types.Struct:
		key, ok := pair.Key.(*ast.Ident)
		for f := range t.Fields() {
			if ok && f.Name() == key.Name {
				return f.Type()
			}
		}
	}
	return nil
}

// result returns the type of a result of the innermost function of nodes.
func result(s *check.Sketch, nodes []ast.Node, statement *ast.ReturnStmt, x ast.Node) types.Type {
	for i := len(nodes) - 1; i >= 0; i-- {
		var f types.Type
		switch n := nodes[i].(type) {
		case *ast.FuncLit:
			f = typeOf(s, n)
		case *ast.FuncDecl:
			if o := s.Info.Defs[n.Name]; o != nil {
				f = o.Type()
			}
		default:
			continue
		}
		if f, ok := f.(*types.Signature); ok {
			for i, value := range statement.Results {
				if value == x && i < f.Results().Len() {
					return f.Results().At(i).Type()
				}
			}
		}
		return nil
	}
	return nil
}

// fits reports whether an object, or what it returns when it is called, is what is wanted.
func (w want) fits(o types.Object) bool {
	if o == nil {
		return false
	}
	if w.kind != nil {
		_, isType := o.(*types.TypeName)
		_, isBuiltin := o.(*types.Builtin)
		if _, isPackage := o.(*types.PkgName); isPackage || isBuiltin || isType != w.isType || o.Type() == nil {
			return false
		}
		f, ok := o.Type().Underlying().(*types.Signature)
		return w.kind(o.Type()) || ok && f.TypeParams() == nil && f.Results().Len() == 1 && w.kind(f.Results().At(0).Type())
	}
	return w.of != nil && fits(o, w.of)
}

// fitsWithDots reports whether an object is a list of what is wanted.
func (w want) fitsWithDots(o types.Object) bool {
	v, ok := o.(*types.Var)
	return ok && w.spread != nil && types.AssignableTo(v.Type(), w.spread)
}

// isFrom reports whether a type that is wanted is declared in the package with an import path.
func (w want) isFrom(importPath string) bool {
	if w.of == nil {
		return false
	}
	t := types.Unalias(w.of)
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	named, ok := t.(*types.Named)
	return ok && named.Obj().Pkg() != nil && origin.ImportPath(named.Obj().Pkg()) == importPath
}

// fits reports whether an object, or what it returns when it is called, has a type.
func fits(o types.Object, want types.Type) bool {
	if _, generic := want.(*types.TypeParam); generic {
		return false
	}
	if i, ok := want.Underlying().(*types.Interface); ok && i.Empty() {
		return false // everything does
	}
	switch o := o.(type) {
	case *types.Var, *types.Const:
		return types.AssignableTo(o.Type(), want) || returns(o.Type(), want)
	case *types.Func:
		return types.AssignableTo(o.Type(), want) || returns(o.Type(), want)
	case *types.TypeName:
		return types.Identical(o.Type(), want) || types.IsInterface(want) && types.AssignableTo(o.Type(), want)
	case *types.Nil:
		return types.AssignableTo(o.Type(), want)
	}
	return false
}

// returns reports whether the only result of a function has a type that is expected.
func returns(t, want types.Type) bool {
	f, ok := underlying(t).(*types.Signature)
	return ok && f.TypeParams() == nil && f.Results().Len() == 1 && types.AssignableTo(f.Results().At(0).Type(), want)
}
