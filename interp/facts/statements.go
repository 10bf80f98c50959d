package facts

import "go/ast"

// Defers reports whether a body has a defer statement, outside of function literals.
func Defers(body []ast.Stmt) bool {
	return contains(body, func(n ast.Node) bool { _, is := n.(*ast.DeferStmt); return is })
}

// Recovers reports whether a body calls recover, outside of function literals.
func Recovers(body []ast.Stmt) bool {
	return contains(body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return false
		}
		id, ok := ast.Unparen(call.Fun).(*ast.Ident)
		return ok && id.Name == "recover"
	})
}

func contains(body []ast.Stmt, is func(ast.Node) bool) (found bool) {
	for _, s := range body {
		ast.Inspect(s, func(n ast.Node) bool {
			if _, literal := n.(*ast.FuncLit); literal || found || n == nil {
				return false
			}
			found = is(n)
			return !found
		})
	}
	return found
}
