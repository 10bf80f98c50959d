package lower

// Functions and methods that a later cell declares again with the same parameters and
// results. Existing closures call a function by the name that it had when they were compiled.
// Unit.Redeclared lists these names, each with the function that it must call now.

import (
	"go/types"
)

// Redeclared is a function that replaces an earlier one.
type Redeclared struct {
	Group    string       // the same for all versions of a function
	Old, New string       // in lowered code
	Key      types.Object // object of the old function, for package vm
}

// declaration identifies a function of a cell when it is declared again.
type declaration struct {
	pkg      *types.Package
	receiver *types.TypeName // nil for a function
	name     string
}

// version is the latest version of a function.
type version struct {
	group, name string
	object      *types.Func
}

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
	v := version{e.names[o], e.names[o], o}
	if old, ok := e.versions[d]; ok && sameFunction(old.object.Signature(), sig) {
		v.group = old.group
		e.bind(old.name)
		e.bind(v.name)
		e.redeclared = append(e.redeclared, Redeclared{Group: v.group, Old: old.name, New: v.name, Key: old.object})
	}
	set(e.Program, e.versions, d, v)
}

// sameFunction reports whether functions with these signatures are called in the same way.
func sameFunction(a, b *types.Signature) bool {
	if a.Recv() != nil && b.Recv() != nil && !types.Identical(a.Recv().Type(), b.Recv().Type()) {
		return false
	}
	return types.Identical(a, b)
}
