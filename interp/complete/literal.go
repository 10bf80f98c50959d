package complete

import (
	"go/ast"
	"go/types"

	"github.com/quernlab/quern/interp/check"
)

// literalType returns the type of the composite literal at the end of nodes, or nil. For &T{} it is T. A
// literal without a type has the element type of the enclosing literal.
func literalType(s *check.Sketch, nodes []ast.Node) types.Type {
	n := len(nodes) - 1
	lit := nodes[n].(*ast.CompositeLit)
	t := s.Info.TypeOf(lit)
	if !isValid(t) && lit.Type != nil {
		t = s.Info.TypeOf(lit.Type)
	}
	if !isValid(t) && lit.Type == nil {
		t = elementType(s, nodes)
	}
	if !isValid(t) {
		return nil
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}

// isValid reports whether t is a valid type.
func isValid(t types.Type) bool { return t != nil && t != types.Typ[types.Invalid] }

// elementType returns the element type of the literal that encloses the last node of nodes.
func elementType(s *check.Sketch, nodes []ast.Node) types.Type {
	i := len(nodes) - 2
	if i < 0 {
		return nil
	}
	pair, inPair := nodes[i].(*ast.KeyValueExpr)
	if inPair {
		i--
	}
	if i < 0 {
		return nil
	}
	if _, ok := nodes[i].(*ast.CompositeLit); !ok {
		return nil
	}
	outer := literalType(s, nodes[:i+1])
	if outer == nil {
		return nil
	}
	switch t := outer.Underlying().(type) {
	case *types.Slice:
		return t.Elem()
	case *types.Array:
		return t.Elem()
	case *types.Map:
		if inPair && ast.Node(pair.Value) == nodes[len(nodes)-1] {
			return t.Elem()
		}
		return t.Key()
	}
	return nil
}
