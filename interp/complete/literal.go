package complete

import (
	"go/ast"
	"go/types"

	"github.com/quernlab/quern/interp/check"
)

// literalType returns the type of the composite literal at the end of the path at, not a pointer,
// or nil. A literal without a type has the element type of the literal around it.
func literalType(s *check.Sketch, at []ast.Node) types.Type {
	n := len(at) - 1
	lit := at[n].(*ast.CompositeLit)
	t := s.Info.TypeOf(lit)
	if !known(t) && lit.Type != nil {
		t = s.Info.TypeOf(lit.Type)
	}
	if !known(t) && lit.Type == nil {
		t = elementType(s, at)
	}
	if !known(t) {
		return nil
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}

// known reports whether t is a valid type.
func known(t types.Type) bool { return t != nil && t != types.Typ[types.Invalid] }

// elementType returns the element type of the literal around the last node of at.
func elementType(s *check.Sketch, at []ast.Node) types.Type {
	i := len(at) - 2
	if i < 0 {
		return nil
	}
	pair, inPair := at[i].(*ast.KeyValueExpr)
	if inPair {
		i--
	}
	if i < 0 {
		return nil
	}
	if _, ok := at[i].(*ast.CompositeLit); !ok {
		return nil
	}
	around := literalType(s, at[:i+1])
	if around == nil {
		return nil
	}
	switch t := around.Underlying().(type) {
	case *types.Slice:
		return t.Elem()
	case *types.Array:
		return t.Elem()
	case *types.Map:
		if inPair && ast.Node(pair.Value) == at[len(at)-1] {
			return t.Elem()
		}
		return t.Key()
	}
	return nil
}
