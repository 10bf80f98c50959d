package lower

import (
	"go/ast"
	"go/types"

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
