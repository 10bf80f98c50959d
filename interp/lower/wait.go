package lower

// After a call of compiled code that may have waited for a long time, lowered code checks for an interrupt: the
// session may have given up the call in the meantime.
//
//	resp, err = http.Get(url)  ->  resp, err = http.Get(url); if stopʹ { sessionʹ.Stop() }

import (
	"go/ast"
	"go/types"
	"strings"
)

// waiting are the packages of the standard library, including those below them, whose functions and methods may
// wait.
var waiting = map[string]bool{
	"bufio": true, "database": true, "io": true, "net": true, "os": true, "syscall": true,
}

// syncWaits are the functions of package sync that may wait.
var syncWaits = map[string]bool{"Do": true, "Lock": true, "RLock": true, "Wait": true}

// afterWait emits a check after the lowered n if one is needed.
func (f *functionTypes) afterWait(w *writer, n ast.Node) {
	if f.mayWait(n) {
		f.interruptible(w)
	}
}

// mayWait reports whether the evaluation of n calls compiled code that may wait for a long time.
func (f *functionTypes) mayWait(n ast.Node) (may bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.BlockStmt:
			return false
		case *ast.CallExpr:
			id := calleeIdent(n.Fun)
			if id == nil {
				return true
			}
			if o, ok := f.Info.Uses[id].(*types.Func); ok && o.Pkg() != nil {
				first, _, _ := strings.Cut(o.Pkg().Path(), "/")
				may = may || waiting[first] || strings.Contains(first, ".") || first == "sync" && syncWaits[o.Name()]
			}
		}
		return !may
	})
	return may
}
