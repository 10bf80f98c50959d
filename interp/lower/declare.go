package lower

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/quernlab/quern/interp/vm/compile"
)

// Functions and methods that a later cell declares again with the same parameters and results. Unit.Redeclared lists them, each with
// the function that callers of it must call now.

// Redeclared is a function that replaces an earlier one.
type Redeclared struct {
	Group    string // the same for all versions of a function
	Old, New *types.Func
}

// declaration identifies a function of a cell when it is declared again.
type declaration struct {
	pkg      *types.Package
	receiver *types.TypeName // nil for a function
	name     string
}

// version is the latest version of a function with one signature.
type version struct {
	group  string
	object *types.Func
}

// maxVersions is how many signatures of a function are known. When it is declared with one of them again, closures that call it
// with this signature call the new function.
const maxVersions = 3

// redeclare records the name of o, a function or method that is not generic.
func (e *emitter) redeclare(o *types.Func) {
	d := declaration{pkg: o.Pkg(), name: o.Name()}
	if d.pkg == e.cell.Package && e.cell.First != nil {
		d.pkg = e.cell.First
	}
	sig := o.Signature()
	if sig.Recv() != nil {
		d.receiver = receiver(sig).Obj()
	}
	if e.cell.Replaced {
		return
	}
	v := version{e.names[o], o}
	list := slices.Clone(e.versions[d])
	if i := slices.IndexFunc(list, func(old version) bool { return sameFunction(old.object.Signature(), sig) }); i >= 0 {
		v.group = list[i].group
		e.redeclared = append(e.redeclared, Redeclared{Group: v.group, Old: list[i].object, New: o})
		list = slices.Delete(list, i, i+1)
	}
	list = append(list, v)
	set(e.Program, e.versions, d, list[max(0, len(list)-maxVersions):])
}

// sameFunction reports whether functions with these signatures are called in the same way.
func sameFunction(a, b *types.Signature) bool {
	if a.Recv() != nil && b.Recv() != nil && !types.Identical(a.Recv().Type(), b.Recv().Type()) {
		return false
	}
	return types.Identical(a, b)
}

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
