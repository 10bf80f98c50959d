package vm

import (
	"go/ast"
	"go/types"
)

// returnStmt compiles a return statement. The results go to the first registers, where the parameters were.
func (c *compiler) returnStmt(s *ast.ReturnStmt) {
	m := c.mark()
	defer c.release(m)
	types, variables := c.fn.results, c.defers
	if c.iteration != nil {
		types, variables = nil, true
		for _, v := range c.results {
			types = append(types, v.shape)
		}
	}
	switch {
	case len(s.Results) == 0:
		c.returnResults()
		return
	case len(s.Results) == 1 && len(types) == 1 && variables:
		c.setResults([]operand{c.exprTo(s.Results[0], c.resultType(0), nil)})
		c.returnResults()
		return
	case len(s.Results) == 1 && len(types) == 1:
		t, e := c.resultType(0), s.Results[0]
		want := operand{shape: types[0], reg: frameRegisters(types)[0]}
		if types[0].file == memory {
			x := c.exprTo(e, t, nil)
			x.owned = x.owned || c.isOwnVariable(e)
			c.own(x, &want)
		} else {
			c.exprTo(e, t, &want)
		}
		c.do(opRet, 0, 0, 0)
		return
	}
	var values []operand
	if len(s.Results) == 1 {
		call, ok := ast.Unparen(s.Results[0]).(*ast.CallExpr)
		if !ok {
			c.fail(s, "several values in a return statement")
		}
		from := c.source.Info.Types[s.Results[0]].Type
		values = c.compileCall(call)
		values = c.convertResults(s, values, from)
	} else {
		for i, e := range s.Results {
			values = append(values, c.value(e, c.resultType(i)))
		}
	}
	if variables {
		c.setResults(values)
		c.returnResults()
		return
	}
	for i, at := range frameRegisters(types) {
		if types[i].file == memory {
			c.own(values[i], &operand{shape: types[i], reg: at})
		} else {
			c.move(operand{shape: types[i], reg: at}, values[i])
		}
	}
	c.do(opRet, 0, 0, 0)
}

func (c *compiler) convertResults(n ast.Node, values []operand, from types.Type) []operand {
	tuple, ok := from.(*types.Tuple)
	if !ok || tuple.Len() != len(c.fn.results) {
		c.fail(n, "several values in a return statement")
	}
	for i := range values {
		values[i] = c.converted(n, values[i], c.subst(tuple.At(i).Type()), c.resultType(i), nil)
	}
	return values
}

func (c *compiler) resultType(i int) types.Type {
	return c.subst(c.signature.Results().At(i).Type())
}

// isOwnVariable reports whether e is a local variable in memory to which nothing else refers, so that its memory may become a result.
func (c *compiler) isOwnVariable(e ast.Expr) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return false
	}
	v := c.variable(c.source.Info.ObjectOf(id))
	return v != nil && v.owned && v.file == memory
}

// returnResults runs the deferred calls and returns the result variables.
func (c *compiler) returnResults() {
	if c.iteration != nil {
		c.iteration.returns = true
		c.leaveBody(stateReturned)
		return
	}
	if c.defers {
		c.runDeferred()
	}
	if len(c.results) > 0 {
		var values []operand
		for _, v := range c.results {
			x := c.read(v, nil)
			x.owned = v.owned && v.file == memory
			if len(c.results) > 1 && x.file != memory {
				x = c.snapshot(x)
			}
			values = append(values, x)
		}
		for i, at := range frameRegisters(c.fn.results) {
			if c.fn.results[i].file == memory {
				c.own(values[i], &operand{shape: values[i].shape, reg: at})
			} else {
				c.move(operand{shape: c.fn.results[i], reg: at}, values[i])
			}
		}
	}
	c.do(opRet, 0, 0, 0)
}
