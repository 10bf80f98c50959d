package complete

import (
	"go/ast"
	"go/token"
)

// labels adds the labels that a branch statement may name: for goto, all of its function; for
// break, those of the statements around it; for continue, those of the loops around it. at is
// the path from the file to the label.
func (l *list) labels(branch *ast.BranchStmt, at []ast.Node) {
	var function ast.Node
	for i := len(at) - 1; i >= 0 && function == nil; i-- {
		switch n := at[i].(type) {
		case *ast.FuncDecl, *ast.FuncLit:
			function = n
		case *ast.LabeledStmt:
			if branch.Tok == token.BREAK || branch.Tok == token.CONTINUE && isLoop(n.Stmt) {
				l.add(n.Label.Name, "label", "")
			}
		}
	}
	if branch.Tok != token.GOTO || function == nil {
		return
	}
	ast.Inspect(function, func(n ast.Node) bool {
		if s, ok := n.(*ast.LabeledStmt); ok {
			l.add(s.Label.Name, "label", "")
		}
		_, literal := n.(*ast.FuncLit)
		return n == function || !literal
	})
}

func isLoop(s ast.Stmt) bool {
	switch s.(type) {
	case *ast.ForStmt, *ast.RangeStmt:
		return true
	}
	return false
}
