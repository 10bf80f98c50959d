package complete

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/quernlab/quern/interp/check"
	"github.com/quernlab/quern/interp/facts"
)

// expected returns the type that the expression at the end of nodes should have where it stands, or nil: that of a
// parameter, of the variable that is assigned, of a field, an element, a result, or of the other operand.
func expected(s *check.Sketch, nodes []ast.Node) types.Type {
	n := len(nodes) - 1
	if n > 0 {
		if sel, ok := nodes[n-1].(*ast.SelectorExpr); ok && sel.Sel == nodes[n] {
			n--
		}
	}
	if n == 0 {
		return nil
	}
	x := nodes[n]
	switch outer := nodes[n-1].(type) {
	case *ast.CallExpr:
		return parameter(s, outer, x)
	case *ast.AssignStmt:
		for i, right := range outer.Rhs {
			if right == x && i < len(outer.Lhs) && outer.Tok != token.DEFINE {
				return typeOf(s, outer.Lhs[i])
			}
		}
	case *ast.ValueSpec:
		if outer.Type != nil && outer.Type != x {
			return typeOf(s, outer.Type)
		}
	case *ast.KeyValueExpr:
		if outer.Value != x || n < 2 {
			return nil
		}
		if _, ok := nodes[n-2].(*ast.CompositeLit); ok {
			return field(s, nodes[:n-1], outer)
		}
	case *ast.CompositeLit:
		if outer.Type == x {
			return nil
		}
		switch t := underlying(literalType(s, nodes[:n])).(type) {
		case *types.Slice:
			return t.Elem()
		case *types.Array:
			return t.Elem()
		}
	case *ast.ReturnStmt:
		return result(s, nodes[:n-1], outer, x)
	case *ast.BinaryExpr:
		if outer.Op == token.SHL || outer.Op == token.SHR {
			return nil
		}
		if outer.X == x {
			return typeOf(s, outer.Y)
		}
		return typeOf(s, outer.X)
	case *ast.IndexExpr:
		if m, ok := underlying(typeOf(s, outer.X)).(*types.Map); ok && outer.Index == x {
			return m.Key()
		}
	case *ast.SendStmt:
		if c, ok := underlying(typeOf(s, outer.Chan)).(*types.Chan); ok && outer.Value == x {
			return c.Elem()
		}
	case *ast.IfStmt, *ast.ForStmt:
		if _, statement := x.(ast.Stmt); !statement {
			return types.Typ[types.Bool]
		}
	}
	return nil
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

// parameter returns the type of the parameter for which an argument stands.
func parameter(s *check.Sketch, call *ast.CallExpr, x ast.Node) types.Type {
	if tv, ok := s.Info.Types[call.Fun]; ok && tv.IsType() {
		return nil // a conversion
	}
	f, ok := underlying(typeOf(s, call.Fun)).(*types.Signature)
	if !ok {
		return nil
	}
	for i, argument := range call.Args {
		if argument == x {
			return facts.ParameterAt(f, i, call.Ellipsis.IsValid())
		}
	}
	return nil
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

// fits reports whether an object, or what it returns when it is called, has a type that is expected.
func fits(o types.Object, want types.Type) bool {
	if want == nil || o == nil {
		return false
	}
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
