package complete

import (
	"go/ast"
	"go/token"
)

// addLabels adds the labels that a branch statement may use: for goto, all labels of its function; for
// break, labels of the enclosing statements; for continue, labels of the enclosing loops. nodes is the
// path from the file to the label.
func (l *list) addLabels(branch *ast.BranchStmt, nodes []ast.Node) {
	var function ast.Node
	for i := len(nodes) - 1; i >= 0 && function == nil; i-- {
		switch n := nodes[i].(type) {
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
