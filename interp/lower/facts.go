package lower

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/quernlab/quern/interp/desugar"
	"github.com/quernlab/quern/interp/facts"
)

// factsOf returns the facts of a declared function.
func (e *emitter) factsOf(decl *ast.FuncDecl) *facts.Function {
	sig := e.Info.Defs[decl.Name].(*types.Func).Signature()
	known := e.facts[decl]
	if known == nil {
		known = facts.Of(e.Info, nil, sig, decl.Body)
		e.facts[decl] = known
	}
	return known
}

// shareLoopVariables changes the loops of a function if its variables exist once for all iterations.
func (e *emitter) shareLoopVariables(source *desugar.Source, decl *ast.FuncDecl) {
	if e.sharesLoopVariables(decl.Body.List) && source.SharedLoopVariables(e.factsOf(decl), decl.Body) {
		delete(e.facts, decl)
	}
}

// sharesLoopVariables reports whether statements are in a language before Go 1.22.
func (e *emitter) sharesLoopVariables(list []ast.Stmt) bool {
	return e.cell.SharesLoopVariables != nil && slices.ContainsFunc(list, func(s ast.Stmt) bool { return e.cell.SharesLoopVariables(s.Pos()) })
}
