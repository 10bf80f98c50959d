package source

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"math"
	"slices"
	"strconv"
)

// A table is a literal of many integers, such as the tables of character encodings. go/types
// takes time and memory for each element, so it checks the literal with only the element that
// gives the length. The others are checked here and made numerals. There are no facts about them.
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
			key := integer(pair.Key, nil)
			if key == nil {
				return nil
			}
			n, exact := constant.Int64Val(key)
			if !exact || n < 0 || n > math.MaxInt32 {
				return nil
			}
			next, x = n, pair.Value
		}
		if !isNumeric(x) {
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

// isNumeric reports whether an expression consists of numerals, names and operators of integers.
func isNumeric(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.BasicLit:
		return x.Kind == token.INT || x.Kind == token.CHAR
	case *ast.Ident:
		return true
	case *ast.ParenExpr:
		return isNumeric(x.X)
	case *ast.UnaryExpr:
		return x.Op == token.SUB && isNumeric(x.X)
	case *ast.BinaryExpr:
		switch x.Op {
		case token.ADD, token.SUB, token.MUL, token.OR, token.SHL:
			return isNumeric(x.X) && isNumeric(x.Y)
		}
	}
	return false
}

// integer returns the value of a numeric expression whose names are untyped constants of scope,
// which may be nil; nil if it has another name, or a value of more than 64 bits.
func integer(x ast.Expr, scope *types.Scope) constant.Value {
	var v constant.Value
	switch x := x.(type) {
	case *ast.BasicLit:
		v = constant.ToInt(constant.MakeFromLiteral(x.Value, x.Kind, 0))
	case *ast.Ident:
		if scope == nil {
			return nil
		}
		c, ok := scope.Lookup(x.Name).(*types.Const)
		if !ok || !types.Identical(c.Type(), types.Typ[types.UntypedInt]) {
			return nil
		}
		v = c.Val()
	case *ast.ParenExpr:
		return integer(x.X, scope)
	case *ast.UnaryExpr:
		v = integer(x.X, scope)
		if v == nil || x.Op != token.SUB {
			return nil
		}
		v = constant.UnaryOp(token.SUB, v, 0)
	case *ast.BinaryExpr:
		l, r := integer(x.X, scope), integer(x.Y, scope)
		if l == nil || r == nil {
			return nil
		}
		switch x.Op {
		case token.ADD, token.SUB, token.MUL, token.OR:
			v = constant.BinaryOp(l, x.Op, r)
		case token.SHL:
			n, exact := constant.Uint64Val(r)
			if !exact || n >= 64 {
				return nil
			}
			v = constant.Shift(l, token.SHL, uint(n))
		}
	}
	if v == nil || v.Kind() != constant.Int || constant.BitLen(v) > 64 {
		return nil
	}
	return v
}

// restore puts the elements back.
func (t *table) restore() { t.literal.Elts = t.elements }

// bits are the sizes of the integers.
var bits = map[types.BasicKind]int{
	types.Int8: 8, types.Int16: 16, types.Int32: 32, types.Int64: 64, types.Int: strconv.IntSize,
	types.Uint8: 8, types.Uint16: 16, types.Uint32: 32, types.Uint64: 64, types.Uint: strconv.IntSize,
}

// finish checks the elements that were not checked: whether their indices differ and their values
// fit. If so it makes them numerals.
func (t *table) finish(p *loadedPackage) bool {
	typ := p.info.Types[t.literal].Type
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
	if !ok || bits[basic.Kind()] == 0 {
		return false
	}
	size, unsigned := bits[basic.Kind()], basic.Info()&types.IsUnsigned != 0
	numerals := make([]ast.Expr, len(t.elements))
	for i, x := range t.elements {
		pair, keyed := x.(*ast.KeyValueExpr)
		if keyed {
			x = pair.Value
		}
		v := integer(x, p.types.Scope())
		switch {
		case v == nil:
			return false
		case unsigned && (constant.Sign(v) < 0 || constant.BitLen(v) > size):
			return false
		case !unsigned && constant.BitLen(v) > size-1: // perhaps the lowest, which fits
			return false
		}
		numerals[i] = numeral(x, v)
		if keyed {
			key := numeral(pair.Key, constant.MakeInt64(t.indices[i]))
			numerals[i] = &ast.KeyValueExpr{Key: key, Colon: pair.Colon, Value: numerals[i]}
		}
	}
	indices := slices.Clone(t.indices)
	slices.Sort(indices)
	if len(slices.Compact(indices)) != len(t.indices) {
		return false
	}
	t.literal.Elts = numerals
	return true
}

// numeral returns x if it is a literal, and otherwise a literal, perhaps negated, with the given value.
func numeral(x ast.Expr, value constant.Value) ast.Expr {
	if literal, ok := x.(*ast.BasicLit); ok {
		return literal
	}
	if constant.Sign(value) < 0 {
		positive := &ast.BasicLit{ValuePos: x.Pos(), Kind: token.INT, Value: constant.UnaryOp(token.SUB, value, 0).ExactString()}
		return &ast.UnaryExpr{OpPos: x.Pos(), Op: token.SUB, X: positive}
	}
	return &ast.BasicLit{ValuePos: x.Pos(), Kind: token.INT, Value: value.ExactString()}
}
