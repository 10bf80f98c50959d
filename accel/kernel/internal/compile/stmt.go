package compile

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"

	"github.com/quernlab/quern/accel/kernel/internal/program"
)

func (c *compiler) statements(list []ast.Stmt) {
	for i, s := range list {
		if v := c.sharedCall(s); v != nil {
			if !declaredBefore(c, list[:i], v) {
				c.fail(s, "kernel.Shared must follow directly the declaration of %s, which must have no value: var %s %s", v.Name(), v.Name(), types.TypeString(v.Type(), (*types.Package).Name))
			}
			continue // the declaration has seen it
		}
		c.statement(s, list[i+1:])
	}
}

// statement compiles a statement; rest are those behind it in its block.
func (c *compiler) statement(s ast.Stmt, rest []ast.Stmt) {
	defer c.here(s)()
	switch s := s.(type) {
	case *ast.EmptyStmt:
	case *ast.BlockStmt:
		c.statements(s.List)
	case *ast.DeclStmt:
		c.declare(s.Decl.(*ast.GenDecl), rest)
	case *ast.AssignStmt:
		c.assignment(s)
	case *ast.IncDecStmt:
		op := program.Add
		if s.Tok == token.DEC {
			op = program.Sub
		}
		t := c.scalar(s.X, c.info.TypeOf(s.X))
		c.update(s.X, func(x program.Operand) program.Operand {
			return c.binary(op, x, c.constant(s, constant.MakeInt64(1), t))
		})
	case *ast.ExprStmt:
		if call, ok := ast.Unparen(s.X).(*ast.CallExpr); ok {
			c.call(call)
			return
		}
		c.fail(s, "this statement is not supported in a kernel")
	case *ast.IfStmt:
		if s.Init != nil {
			c.statement(s.Init, nil)
		}
		cond := c.operand(s.Cond)
		var otherwise func()
		if s.Else != nil {
			otherwise = func() { c.statement(s.Else, nil) }
		}
		c.when(cond, func() { c.statements(s.Body.List) }, otherwise)
	case *ast.ForStmt:
		c.forLoop(s, nil)
	case *ast.RangeStmt:
		c.rangeLoop(s, nil)
	case *ast.SwitchStmt:
		c.switchStmt(s, nil)
	case *ast.LabeledStmt:
		c.labeled(s)
	case *ast.BranchStmt:
		c.branch(s)
	case *ast.ReturnStmt:
		c.returnStmt(s)
	case *ast.GoStmt:
		c.fail(s, "a kernel cannot start goroutines: the threads of the grid run at the same time")
	case *ast.DeferStmt:
		c.fail(s, "a kernel cannot defer calls")
	case *ast.SendStmt, *ast.SelectStmt:
		c.fail(s, "a kernel cannot use channels")
	case *ast.TypeSwitchStmt:
		c.fail(s, "a kernel cannot use interfaces")
	default:
		c.fail(s, "this statement is not supported in a kernel")
	}
}

func (c *compiler) returnStmt(s *ast.ReturnStmt) {
	f := c.frame
	if len(s.Results) > 0 {
		c.assignAll(s, f.results, c.valuesOf(s.Results, f.function.Signature().Results()))
	}
	c.add(&program.Leave{Block: f.block})
}

// valuesOf returns the values of expressions that are assigned to variables of types at the same time.
func (c *compiler) valuesOf(list []ast.Expr, to *types.Tuple) []value {
	if len(list) == 1 && to.Len() > 1 {
		return c.results(list[0])
	}
	values := make([]value, len(list))
	for i, e := range list {
		values[i] = c.copyOf(c.valueAs(e, to.At(i).Type()))
	}
	return values
}

// results returns the values of a call with several results.
func (c *compiler) results(e ast.Expr) []value {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		c.fail(e, "this expression with several values is not supported in a kernel")
	}
	return c.call(call)
}
