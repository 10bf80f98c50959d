package lower

// Functions and methods that are declared again with the same parameters and
// results. Closures that were made before call a function by the name that it had
// then; Unit.Redeclared says which name has to lead to which function now.

import (
	"go/types"
)

// Redeclared is a function that stands for an earlier one.
type Redeclared struct {
	Group    string       // the same for all functions that stand for each other
	Old, New string       // in lowered code
	Key      types.Object // of the old one, for package vm
}

// declaration is what a function of a cell is found by when it is declared again.
type declaration struct {
	pkg      *types.Package
	receiver *types.TypeName // nil for a function
	name     string
}

// version is the last function of a declaration.
type version struct {
	group, name string
	object      *types.Func
}

// redeclare notes that o, a function or method that is not generic, has a name.
func (e *emitter) redeclare(o *types.Func) {
	d := declaration{pkg: o.Pkg(), name: o.Name()}
	if d.pkg == e.cell.Package && e.cell.First != nil {
		d.pkg = e.cell.First
	}
	sig := o.Signature()
	if sig.Recv() != nil {
		d.receiver = receiver(sig).Obj()
	}
	v := version{e.names[o], e.names[o], o}
	if old, ok := e.versions[d]; ok && sameFunction(old.object.Signature(), sig) {
		v.group = old.group
		e.redeclared = append(e.redeclared, Redeclared{Group: v.group, Old: old.name, New: v.name, Key: old.object})
	}
	set(e.Program, e.versions, d, v)
}

// sameFunction reports whether functions of two signatures can be called alike.
func sameFunction(a, b *types.Signature) bool {
	if a.Recv() != nil && b.Recv() != nil && !types.Identical(a.Recv().Type(), b.Recv().Type()) {
		return false
	}
	return types.Identical(a, b)
}
