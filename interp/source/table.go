package source

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strconv"
)

// A table is a literal of many integers, such as the tables of character encodings. go/types
// takes 200 ns and 300 bytes for each element, so it checks the literal with only the element
// that gives the length. The others are checked here, and there are no facts about them.
type table struct {
	literal  *ast.CompositeLit
	elements []ast.Expr
	indices  []int64
}

// tableSize is how many elements a table has.
const tableSize = 128

// integers are the types of the elements of tables.
var integers = map[string]bool{
	"int": true, "int8": true, "int16": true, "int32": true, "int64": true, "rune": true,
	"uint": true, "uint8": true, "uint16": true, "uint32": true, "uint64": true, "byte": true,
}

// shortenTables takes the elements out of the tables of package-level variables.
func shortenTables(files []*ast.File) (list []*table) {
	for _, f := range files {
		for _, d := range f.Decls {
			d, ok := d.(*ast.GenDecl)
			if !ok || d.Tok != token.VAR {
				continue
			}
			for _, s := range d.Specs {
				for _, x := range s.(*ast.ValueSpec).Values {
					ast.Inspect(x, func(n ast.Node) bool {
						if _, function := n.(*ast.FuncLit); function {
							return false
						}
						literal, ok := n.(*ast.CompositeLit)
						if !ok {
							return true
						}
						t := newTable(literal)
						if t == nil {
							return true
						}
						list = append(list, t)
						return false
					})
				}
			}
		}
	}
	return list
}

// newTable takes the elements out of a literal; nil if it is no table.
func newTable(literal *ast.CompositeLit) *table {
	array, ok := literal.Type.(*ast.ArrayType)
	if !ok || len(literal.Elts) < tableSize {
		return nil
	}
	if id, ok := array.Elt.(*ast.Ident); !ok || !integers[id.Name] {
		return nil
	}
	t := &table{literal: literal, elements: literal.Elts, indices: make([]int64, len(literal.Elts))}
	next, last := int64(0), 0
	for i, x := range literal.Elts {
		if pair, ok := x.(*ast.KeyValueExpr); ok {
			key, ok := pair.Key.(*ast.BasicLit)
			if !ok || key.Kind != token.INT {
				return nil
			}
			n, err := strconv.ParseInt(key.Value, 0, 32)
			if err != nil {
				return nil
			}
			next, x = n, pair.Value
		}
		if !isNumeral(x) {
			return nil
		}
		t.indices[i] = next
		if next > t.indices[last] {
			last = i
		}
		next++
	}
	x := literal.Elts[last]
	if _, keyed := x.(*ast.KeyValueExpr); !keyed {
		key := &ast.BasicLit{ValuePos: x.Pos(), Kind: token.INT, Value: strconv.FormatInt(t.indices[last], 10)}
		x = &ast.KeyValueExpr{Key: key, Colon: x.Pos(), Value: x}
	}
	literal.Elts = []ast.Expr{x}
	return t
}

// isNumeral reports whether an expression is a numeral, perhaps with a sign.
func isNumeral(x ast.Expr) bool {
	if minus, ok := x.(*ast.UnaryExpr); ok && minus.Op == token.SUB {
		x = minus.X
	}
	literal, ok := x.(*ast.BasicLit)
	return ok && (literal.Kind == token.INT || literal.Kind == token.CHAR)
}

// restore puts the elements back.
func (t *table) restore() { t.literal.Elts = t.elements }

// valid reports whether the elements that were not checked are: whether their indices differ and
// their values fit.
func (t *table) valid(info *types.Info) bool {
	typ := info.Types[t.literal].Type
	if typ == nil {
		return false
	}
	var elem types.Type
	switch u := typ.Underlying().(type) {
	case *types.Array:
		elem = u.Elem()
	case *types.Slice:
		elem = u.Elem()
	default:
		return false
	}
	basic, ok := elem.(*types.Basic)
	if !ok || !integers[basic.Name()] {
		return false
	}
	bits := map[types.BasicKind]uint{
		types.Int8: 8, types.Int16: 16, types.Int32: 32, types.Int64: 64, types.Int: strconv.IntSize,
		types.Uint8: 8, types.Uint16: 16, types.Uint32: 32, types.Uint64: 64, types.Uint: strconv.IntSize,
	}[basic.Kind()]
	if basic.Info()&types.IsUnsigned == 0 {
		bits--
	}
	for _, x := range t.elements {
		if pair, ok := x.(*ast.KeyValueExpr); ok {
			x = pair.Value
		}
		minus, negative := x.(*ast.UnaryExpr)
		if negative {
			x = minus.X
		}
		n, ok := numeral(x.(*ast.BasicLit))
		if !ok || bits == 0 || n>>(bits-1)>>1 != 0 || negative && basic.Info()&types.IsUnsigned != 0 && n != 0 {
			return false // perhaps -1<<63, which fits
		}
	}
	indices := slices.Clone(t.indices)
	slices.Sort(indices)
	return len(slices.Compact(indices)) == len(t.indices)
}

// numeral returns the value of a numeral if a uint64 can have it.
func numeral(x *ast.BasicLit) (uint64, bool) {
	if x.Kind == token.INT {
		n, err := strconv.ParseUint(x.Value, 0, 64)
		return n, err == nil
	}
	return constant.Uint64Val(constant.ToInt(constant.MakeFromLiteral(x.Value, x.Kind, 0)))
}
