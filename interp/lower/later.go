package lower

import (
	"go/ast"
	"go/types"

	"github.com/quernlab/quern/interp/vm/compile"
)

// Functions of packages that are compiled when they are called for the first time. Until then package vm has a function of the
// same type in their place.

// declareLater declares functions whose bodies are compiled later.
func (e *emitter) declareLater(decls []*ast.FuncDecl) {
	for _, decl := range decls {
		o := e.Info.Defs[decl.Name].(*types.Func)
		e.nameFunction(o)
		set(e.Program, e.later, types.Object(o), true)
		e.redeclare(o)
	}
}

// nameFunction gives a function or method a name in tracebacks.
func (e *emitter) nameFunction(o *types.Func) {
	name := o.Name()
	if sig := o.Signature(); sig.Recv() != nil {
		name = receiver(sig).Obj().Name() + "ʹ" + name
	}
	set(e.Program, e.names, types.Object(o), e.fresh(name))
}

// compileLater makes package compile declare these functions.
func (e *emitter) compileLater(decls []*ast.FuncDecl) {
	for _, decl := range decls {
		o := e.Info.Defs[decl.Name].(*types.Func)
		if err := e.machine.Later(compile.Declaration{Key: o, Name: e.names[o], Method: methodName(o), Signature: o.Signature()}); err != nil {
			e.unsupported(decl, "a function with "+err.Error(), "")
		}
	}
}

// Publish makes functions that wait for their first call, and that units since the last call of Publish have compiled,
// available to callers. The variables that they use must have their values.
func (p *Program) Publish() { p.machine.Publish() }
