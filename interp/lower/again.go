package lower

// Functions and methods that a later cell declares again with the same parameters and results. Unit.Redeclared lists them, each with
// the function that callers of it must call now.

import (
	"go/types"
)

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

// version is the latest version of a function.
type version struct {
	group  string
	object *types.Func
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
	v := version{e.names[o], o}
	if old, ok := e.versions[d]; ok && sameFunction(old.object.Signature(), sig) {
		v.group = old.group
		e.redeclared = append(e.redeclared, Redeclared{Group: v.group, Old: old.object, New: o})
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
