package vm

import (
	"go/ast"
	"go/token"
	"go/types"
)

// facts are properties of a function and its variables that the compiler needs before the first statement.
type facts struct {
	// escapes are the variables that must be on the heap: a function literal or the body of a range over a
	// function captures them, or their address is taken.
	escapes map[types.Object]bool
	// capacities is the result of SliceCapacities.
	capacities map[*ast.CallExpr]Capacity
	// returnedInBody are the result tuples of functions with a return statement in the body of a range over
	// a function.
	returnedInBody map[*types.Tuple]bool
}

// capacity returns what determines the capacity of the slice that e returns.
func (c *compiler) capacity(e *ast.CallExpr) Capacity {
	return max(c.facts.capacities[e], c.source.Capacities[e])
}

// analyze computes the facts of a function.
func (c *compiler) analyze(sig *types.Signature, body ast.Node) {
	info := c.source.Info
	c.facts = &facts{escapes: map[types.Object]bool{}, capacities: SliceCapacities(info, body), returnedInBody: map[*types.Tuple]bool{}}
	owner := map[types.Object]ast.Node{}
	share := func(e ast.Expr) {
		if o := c.rootVariable(e); o != nil {
			c.facts.escapes[o] = true
		}
	}
	// lit is the innermost function literal, or range over a function, around n. sig is the signature of
	// the innermost function.
	var walk func(n, lit ast.Node, sig *types.Signature)
	walk = func(n, lit ast.Node, sig *types.Signature) {
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				if n == lit {
					return true
				}
				walk(n, n, c.literalSignature(n))
				return false
			case *ast.RangeStmt:
				if c.iterator(n) == nil {
					return true
				}
				walk(n.X, lit, sig)
				for _, e := range []ast.Expr{n.Key, n.Value} {
					if e != nil {
						walk(e, n, sig)
					}
				}
				walk(n.Body, n, sig)
				return false
			case *ast.ReturnStmt:
				if _, is := lit.(*ast.RangeStmt); is {
					c.facts.returnedInBody[sig.Results()] = true
					for v := range sig.Results().Variables() {
						c.facts.escapes[v] = true
					}
				}
			case *ast.CaseClause:
				if o := info.Implicits[n]; o != nil {
					owner[o] = lit
				}
			case *ast.Ident:
				if o := info.Defs[n]; o != nil {
					owner[o] = lit
				} else if o, ok := info.Uses[n].(*types.Var); ok && owner[o] != lit {
					c.facts.escapes[o] = true
				}
			case *ast.UnaryExpr:
				if n.Op == token.AND {
					share(n.X)
				}
			case *ast.SliceExpr:
				if _, ok := c.typeOf(n.X).Underlying().(*types.Array); ok {
					share(n.X)
				}
			case *ast.SelectorExpr:
				if sel := info.Selections[n]; sel != nil && sel.Kind() == types.MethodVal {
					if recv := sel.Obj().(*types.Func).Signature().Recv(); recv != nil {
						_, pointer := types.Unalias(recv.Type()).(*types.Pointer)
						_, already := c.typeOf(n.X).Underlying().(*types.Pointer)
						if (pointer || c.substitute != nil) && !already {
							share(n.X)
						}
					}
				}
			}
			return true
		})
	}
	walk(body, nil, sig)
}

// rootVariable returns the variable whose storage contains e; nil if e is reached through a pointer or is
// not a variable.
func (c *compiler) rootVariable(e ast.Expr) types.Object {
	switch e := e.(type) {
	case *ast.Ident:
		if v, ok := c.source.Info.ObjectOf(e).(*types.Var); ok {
			return v
		}
	case *ast.ParenExpr:
		return c.rootVariable(e.X)
	case *ast.SelectorExpr:
		sel := c.source.Info.Selections[e]
		if sel == nil || sel.Indirect() {
			return nil
		}
		return c.rootVariable(e.X)
	case *ast.IndexExpr:
		if _, array := c.typeOf(e.X).Underlying().(*types.Array); array {
			return c.rootVariable(e.X)
		}
	}
	return nil
}
