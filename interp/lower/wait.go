package lower

// After a call of compiled code that may have waited for a long time, lowered code checks for an interrupt: the
// session may have given up the call in the meantime.
//
//	resp, err = http.Get(url)  ->  resp, err = http.Get(url); if stopʹ { sessionʹ.Stop() }
//	m[k], err = http.Get(url)  ->  early, early2 := http.Get(url); m[k] = early; err = early2; if stopʹ { sessionʹ.Stop() }

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/quernlab/quern/interp/desugar"
)

// waiting are the packages of the standard library, including those below them, whose functions and methods may
// wait.
var waiting = map[string]bool{
	"bufio": true, "database": true, "io": true, "net": true, "os": true, "syscall": true,
}

// syncWaits are the functions of package sync that may wait.
var syncWaits = map[string]bool{"Do": true, "Lock": true, "RLock": true, "Wait": true}

// afterWait emits a check after the lowered n if one is needed. If n defines variables for parts of a statement, the check
// follows the assignments of that statement: an interrupted call must not lose its results.
func (f *function) afterWait(w *writer, n ast.Node) {
	switch s, ok := n.(*ast.AssignStmt); {
	case !f.mayWait(n):
	case ok && f.definesAdded(s):
		f.owesCheck = true
	default:
		f.interruptible(w)
	}
}

// definesAdded reports whether s defines variables that package desugar has added.
func (f *function) definesAdded(s *ast.AssignStmt) bool {
	return slices.ContainsFunc(s.Lhs, func(e ast.Expr) bool { v := f.defined(e); return v != nil && desugar.IsAdded(v) })
}

// beforeNext emits the check that afterWait has left to the statements before s.
func (f *function) beforeNext(w *writer, s ast.Stmt) {
	if f.owesCheck && !f.isPart(s) {
		f.owesCheck = false
		f.interruptible(w)
	}
}

// initial lowers the first part of an if or switch statement or of a loop.
func (f *function) initial(w *writer, init ast.Stmt) {
	f.statement(w, init)
	f.beforeNext(w, nil)
}

// isPart reports whether s, or its first part, is part of a statement that package desugar has divided, and neither waits nor
// has code of its own.
func (f *function) isPart(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.IfStmt:
		return f.isPart(s.Init)
	case *ast.SwitchStmt:
		return f.isPart(s.Init)
	case *ast.TypeSwitchStmt:
		return f.isPart(s.Init)
	case *ast.ForStmt:
		return f.isPart(s.Init)
	case *ast.AssignStmt:
		return !slices.ContainsFunc(s.Rhs, func(e ast.Expr) bool {
			if f.definesAdded(s) {
				return f.mayWait(e) || hasLiteral(e)
			}
			id, ok := e.(*ast.Ident)
			if !ok {
				return true
			}
			v, ok := f.Info.Uses[id].(*types.Var)
			return !ok || !desugar.IsAdded(v)
		})
	}
	return false
}

// hasLiteral reports whether e has a function literal.
func hasLiteral(e ast.Expr) (has bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		_, literal := n.(*ast.FuncLit)
		has = has || literal
		return !has
	})
	return has
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
