package source

import (
	"go/ast"
	"go/token"
	"go/types"
)

// conversions finds the types whose values code converts to an interface: in assignments, calls,
// returns, literals, sends, comparisons and explicit conversions.
type conversions struct {
	info *types.Info
	// found is called with each such type. It is also called if the code does not show whether
	// a value is converted to an interface.
	found  func(types.Type)
	tables map[*ast.CompositeLit]bool // literals to skip
	// results are the results of the function that contains the current statement.
	results *types.Tuple
}

// node looks at one node, which is not a function. Its children are not included.
func (c *conversions) node(n ast.Node) {
	switch n := n.(type) {
	case *ast.AssignStmt:
		c.values(c.typesOf(n.Lhs), n.Rhs)
	case *ast.ValueSpec:
		if n.Type != nil {
			to := make([]types.Type, len(n.Names))
			for i := range to {
				to[i] = c.typeOf(n.Type)
			}
			c.values(to, n.Values)
		}
	case *ast.ReturnStmt:
		if c.results == nil {
			c.all(n.Results)
			return
		}
		c.values(elements(c.results), n.Results)
	case *ast.SendStmt:
		if ch, ok := c.under(n.Chan).(*types.Chan); ok {
			c.assign(ch.Elem(), c.typeOf(n.Value))
			return
		}
		c.all([]ast.Expr{n.Value})
	case *ast.RangeStmt:
		if n.Tok != token.ASSIGN {
			return
		}
		for _, x := range []ast.Expr{n.Key, n.Value} {
			if x != nil && !isBlank(x) && types.IsInterface(c.typeOf(x)) {
				c.found(c.typeOf(n.X)) // with what it consists of
			}
		}
	case *ast.SwitchStmt:
		if n.Tag == nil {
			return
		}
		for _, s := range n.Body.List {
			for _, x := range s.(*ast.CaseClause).List {
				c.compare(n.Tag, x)
			}
		}
	case *ast.BinaryExpr:
		if n.Op == token.EQL || n.Op == token.NEQ {
			c.compare(n.X, n.Y)
		}
	case *ast.IndexExpr:
		switch t := c.under(n.X).(type) {
		case *types.Map:
			c.assign(t.Key(), c.typeOf(n.Index))
		case *types.Interface: // of a type parameter
			c.all([]ast.Expr{n.Index})
		}
	case *ast.CompositeLit:
		c.literal(n)
	case *ast.CallExpr:
		c.call(n)
	}
}

func (c *conversions) literal(n *ast.CompositeLit) {
	t := c.under(n)
	if p, ok := t.(*types.Pointer); ok { // inside another literal
		t = p.Elem().Underlying()
	}
	for i, x := range n.Elts {
		pair, keyed := x.(*ast.KeyValueExpr)
		if keyed {
			x = pair.Value
		}
		switch t := t.(type) {
		case *types.Struct:
			field := (*types.Var)(nil)
			if !keyed {
				field = t.Field(i)
			} else if id, ok := pair.Key.(*ast.Ident); ok {
				field, _ = c.info.Uses[id].(*types.Var)
			}
			if field == nil {
				c.all([]ast.Expr{x})
				continue
			}
			c.assign(field.Type(), c.typeOf(x))
		case *types.Array:
			c.assign(t.Elem(), c.typeOf(x))
		case *types.Slice:
			c.assign(t.Elem(), c.typeOf(x))
		case *types.Map:
			c.assign(t.Elem(), c.typeOf(x))
			if keyed {
				c.assign(t.Key(), c.typeOf(pair.Key))
			}
		default: // of a type parameter
			c.all([]ast.Expr{x})
			if keyed {
				c.all([]ast.Expr{pair.Key})
			}
		}
	}
}

func (c *conversions) call(n *ast.CallExpr) {
	fun := c.info.Types[n.Fun]
	switch {
	case fun.IsType():
		for _, x := range n.Args {
			c.assign(fun.Type, c.typeOf(x))
		}
		return
	case fun.IsBuiltin():
		c.builtin(n)
		return
	case fun.Type == nil:
		c.all(n.Args)
		return
	}
	sig, ok := fun.Type.Underlying().(*types.Signature)
	if !ok { // of a type parameter
		c.all(n.Args)
		return
	}
	to := elements(sig.Params())
	if sig.Variadic() && !n.Ellipsis.IsValid() {
		last := to[len(to)-1]
		to = to[:len(to)-1]
		rest, ok := last.Underlying().(*types.Slice)
		if !ok {
			c.all(n.Args)
			return
		}
		count := len(n.Args)
		if tuple, ok := c.single(n.Args); ok {
			count = tuple.Len()
		}
		for len(to) < count {
			to = append(to, rest.Elem())
		}
	}
	c.values(to, n.Args)
}

// noConversion are the built-in functions whose arguments are not converted to an interface.
var noConversion = map[string]bool{
	"cap": true, "clear": true, "close": true, "complex": true, "copy": true, "imag": true, "len": true, "make": true, "max": true, "min": true,
	"new": true, "real": true, "recover": true, "Add": true, "Alignof": true, "Offsetof": true, "Sizeof": true, "Slice": true, "SliceData": true,
	"String": true, "StringData": true,
}

func (c *conversions) builtin(n *ast.CallExpr) {
	name := ""
	switch f := ast.Unparen(n.Fun).(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
	}
	switch {
	case noConversion[name]:
		return
	case name == "append":
		list, ok := c.under(n).(*types.Slice)
		if ok && n.Ellipsis.IsValid() {
			return
		}
		if ok {
			for _, x := range n.Args[1:] {
				c.assign(list.Elem(), c.typeOf(x))
			}
			return
		}
	case name == "delete":
		if m, ok := c.under(n.Args[0]).(*types.Map); ok {
			c.assign(m.Key(), c.typeOf(n.Args[1]))
			return
		}
	}
	c.all(n.Args)
}

// values are assigned to variables, fields or results of the types to.
func (c *conversions) values(to []types.Type, from []ast.Expr) {
	if tuple, ok := c.single(from); ok && len(to) > 1 {
		for i, t := range to {
			if i < tuple.Len() {
				c.assign(t, tuple.At(i).Type())
			}
		}
		return
	}
	if len(from) > len(to) {
		c.all(from)
		return
	}
	for i, x := range from {
		if len(from) == 1 && len(to) == 2 { // the form with ok, which is a bool
			c.assign(to[1], types.Typ[types.Bool])
		}
		c.assign(to[i], c.typeOf(x))
	}
}

// single returns the results of the call that a list consists of.
func (c *conversions) single(list []ast.Expr) (*types.Tuple, bool) {
	if len(list) != 1 {
		return nil, false
	}
	tuple, ok := c.typeOf(list[0]).(*types.Tuple)
	return tuple, ok
}

func (c *conversions) compare(x, y ast.Expr) {
	c.assign(c.typeOf(x), c.typeOf(y))
	c.assign(c.typeOf(y), c.typeOf(x))
}

// assign records the type from if assigning its values to type to converts them to an interface.
func (c *conversions) assign(to, from types.Type) {
	switch {
	case to == nil || from == nil || !types.IsInterface(to) || types.Identical(to, from):
	case types.IsInterface(from) && !isParameter(from) && !isParameter(to):
	default:
		c.found(from)
	}
}

// all finds the types of all expressions in a list.
func (c *conversions) all(list []ast.Expr) {
	for _, x := range list {
		if t := c.typeOf(x); t != nil {
			c.found(t)
		}
	}
}

func (c *conversions) typesOf(list []ast.Expr) []types.Type {
	out := make([]types.Type, len(list))
	for i, x := range list {
		if !isBlank(x) {
			out[i] = c.typeOf(x)
		}
	}
	return out
}

// typeOf returns the type of an expression; nil if it has none.
func (c *conversions) typeOf(x ast.Expr) types.Type {
	if tv, ok := c.info.Types[x]; ok {
		return tv.Type
	}
	if id, ok := x.(*ast.Ident); ok {
		if o := c.info.ObjectOf(id); o != nil {
			return o.Type()
		}
	}
	return nil
}

// under returns the underlying type of an expression; nil if it has no type.
func (c *conversions) under(x ast.Expr) types.Type {
	if t := c.typeOf(x); t != nil {
		return t.Underlying()
	}
	return nil
}

func isBlank(x ast.Expr) bool {
	id, ok := x.(*ast.Ident)
	return ok && id.Name == "_"
}

func isParameter(t types.Type) bool {
	_, ok := types.Unalias(t).(*types.TypeParam)
	return ok
}

func elements(t *types.Tuple) []types.Type {
	out := make([]types.Type, t.Len())
	for i := range out {
		out[i] = t.At(i).Type()
	}
	return out
}
