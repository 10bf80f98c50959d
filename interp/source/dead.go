package source

import (
	"go/ast"
	"go/constant"
	"go/types"
)

// omitDead empties the blocks of if statements whose condition is the constant false, as in
//
//	if runtime.GOOS == "windows" { … }
//	if trace { … }
//
// so that nothing is reached through them. It leaves those with an else, which may have to end in a terminating statement, and
// those with labels.
func omitDead(n ast.Node, info *types.Info) {
	ast.Inspect(n, func(n ast.Node) bool {
		s, ok := n.(*ast.IfStmt)
		if !ok || s.Else != nil || len(s.Body.List) == 0 {
			return true
		}
		if v := info.Types[s.Cond].Value; v != nil && !constant.BoolVal(v) && !hasLabel(s.Body) {
			s.Body.List = nil
		}
		return true
	})
}

func hasLabel(block *ast.BlockStmt) (found bool) {
	ast.Inspect(block, func(n ast.Node) bool {
		_, label := n.(*ast.LabeledStmt)
		found = found || label
		return !found
	})
	return found
}
