package lower

// After a call of compiled code that may have waited for a long time, lowered code checks for an interrupt: the
// session may have given up the call in the meantime. See desugar.MayWait.
//
//	resp, err = http.Get(url)  ->  resp, err = http.Get(url); if stopʹ { sessionʹ.Stop() }
//	m[k], err = http.Get(url)  ->  early, early2 := http.Get(url); m[k] = early; err = early2; if stopʹ { sessionʹ.Stop() }

import (
	"go/ast"

	"github.com/quernlab/quern/interp/desugar"
)

// afterWait emits a check after the lowered n if one is needed. If n defines variables for parts of a statement, the check
// follows the assignments of that statement: an interrupted call must not lose its results.
func (f *function) afterWait(w *writer, n ast.Node) {
	switch s, ok := n.(*ast.AssignStmt); {
	case !desugar.MayWait(f.Info, n):
	case ok && desugar.DefinesAdded(f.Info, s):
		f.owesCheck = true
	default:
		f.interruptible(w)
	}
}

// beforeNext emits the check that afterWait has left to the statements before s.
func (f *function) beforeNext(w *writer, s ast.Stmt) {
	if f.owesCheck && !desugar.IsPart(f.Info, s) {
		f.owesCheck = false
		f.interruptible(w)
	}
}

// initial lowers the first part of an if or switch statement or of a loop.
func (f *function) initial(w *writer, init ast.Stmt) {
	f.statement(w, init)
	f.beforeNext(w, nil)
}
