package lower

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/quernlab/quern/interp/desugar"
	"github.com/quernlab/quern/interp/facts"
)

// factsOf returns the facts of a declared function, or of an instance of it.
func (e *emitter) factsOf(decl *ast.FuncDecl, env *environment) *facts.Function {
	sig := e.Info.Defs[decl.Name].(*types.Func).Signature()
	if env != nil {
		return facts.Of(e.Info, env.subst, sig, decl.Body)
	}
	known := e.facts[decl]
	if known == nil {
		known = facts.Of(e.Info, nil, sig, decl.Body)
		e.facts[decl] = known
	}
	return known
}

// shareLoopVariables changes the loops of a function if its variables exist once for all iterations.
func (e *emitter) shareLoopVariables(source *desugar.Source, decl *ast.FuncDecl) {
	if e.sharesLoopVariables(decl.Body.List) && source.SharedLoopVariables(e.factsOf(decl, nil), decl.Body) {
		delete(e.facts, decl)
	}
}

// sharesLoopVariables reports whether statements are in a language before Go 1.22.
func (e *emitter) sharesLoopVariables(list []ast.Stmt) bool {
	return e.cell.SharesLoopVariables != nil && slices.ContainsFunc(list, func(s ast.Stmt) bool { return e.cell.SharesLoopVariables(s.Pos()) })
}

// coreOf returns the underlying type of an expression, or nil for a package name.
func (f *functionTypes) coreOf(e ast.Expr) types.Type {
	if t := f.typeOf(e); t != nil {
		return t.Underlying()
	}
	return nil
}

// repeats reports whether the current statement may run more than once in one activation, so that
// a variable declared in it may exist several times.
func (f *function) repeats() bool { return f.frame.loops > 0 || len(f.facts.JumpLabels) > 0 }
