package desugar

// A call of compiled code that may have waited for a long time is followed by a check for an interrupt, since the session
// may have given up the call in the meantime. The check is behind the whole statement: an interrupted call must not lose
// its results. So it is behind the last of the statements into which order has divided one:
//
//	m[f()], err = http.Get(url)  ->  t1 := f(); t2, t3 := http.Get(url); m[t1], err = t2, t3; check

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// waiting are the packages of the standard library, including those below them, whose functions and methods may
// wait.
var waiting = map[string]bool{
	"bufio": true, "database": true, "io": true, "net": true, "os": true, "syscall": true,
}

// syncWaits are the functions of package sync that may wait.
var syncWaits = map[string]bool{"Do": true, "Lock": true, "RLock": true, "Wait": true}

// MayWait reports whether the evaluation of n, without blocks in it, calls compiled code that may wait for a long time.
func MayWait(info *types.Info, n ast.Node) (may bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.BlockStmt:
			return false
		case *ast.CallExpr:
			id := CalledIdent(n.Fun)
			if id == nil {
				return true
			}
			if o, ok := info.Uses[id].(*types.Func); ok && o.Pkg() != nil {
				first, _, _ := strings.Cut(o.Pkg().Path(), "/")
				may = may || waiting[first] || strings.Contains(first, ".") || first == "sync" && syncWaits[o.Name()]
			}
		}
		return !may
	})
	return may
}

// CalledIdent returns the identifier of the function or method that a call names, or nil.
func CalledIdent(e ast.Expr) *ast.Ident {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		return e.Sel
	case *ast.IndexExpr:
		return CalledIdent(e.X)
	case *ast.IndexListExpr:
		return CalledIdent(e.X)
	}
	return nil
}

// DefinesAdded reports whether s defines variables that a pass has added.
func DefinesAdded(info *types.Info, s *ast.AssignStmt) bool {
	return slices.ContainsFunc(s.Lhs, func(e ast.Expr) bool {
		id, ok := e.(*ast.Ident)
		if !ok {
			return false
		}
		v, ok := info.Defs[id].(*types.Var)
		return ok && IsAdded(v)
	})
}

// IsPart reports whether s, or its first part, is part of a statement that a pass has divided, and neither waits nor has
// code of its own.
func IsPart(info *types.Info, s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.IfStmt:
		return IsPart(info, s.Init)
	case *ast.SwitchStmt:
		return IsPart(info, s.Init)
	case *ast.TypeSwitchStmt:
		return IsPart(info, s.Init)
	case *ast.ForStmt:
		return IsPart(info, s.Init)
	case *ast.AssignStmt:
		return !slices.ContainsFunc(s.Rhs, func(e ast.Expr) bool {
			if DefinesAdded(info, s) {
				return MayWait(info, e) || hasLiteral(e)
			}
			id, ok := e.(*ast.Ident)
			if !ok {
				return true
			}
			v, ok := info.Uses[id].(*types.Var)
			return !ok || !IsAdded(v)
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
