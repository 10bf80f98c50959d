package source

import (
	"go/types"

	"github.com/quernlab/quern/interp/origin"
)

// convert adds a type of which a value may be in an interface: with all its methods, and those
// of all types that it consists of, because interfaces and package reflect may call them.
func (r *reach) convert(t types.Type) {
	if t == nil || r.converted[t] {
		return
	}
	r.converted[t] = true
	r.typ(t)
	switch t := t.(type) {
	case *types.Alias:
		for a := range t.TypeArgs().Types() {
			r.convert(a)
		}
		r.convert(types.Unalias(t))
	case *types.Named:
		r.convertNamed(t)
	case *types.Pointer:
		r.convert(t.Elem())
	case *types.Slice:
		r.convert(t.Elem())
	case *types.Array:
		r.convert(t.Elem())
	case *types.Chan:
		r.convert(t.Elem())
	case *types.Map:
		r.convert(t.Key())
		r.convert(t.Elem())
	case *types.Tuple:
		for v := range t.Variables() {
			r.convert(v.Type())
		}
	case *types.Signature:
		r.convert(t.Params())
		r.convert(t.Results())
	case *types.Struct:
		for f := range t.Fields() {
			r.convert(f.Type())
		}
	case *types.Interface:
		for m := range t.Methods() {
			r.convert(m.Type())
		}
	}
}

func (r *reach) convertNamed(t *types.Named) {
	for a := range t.TypeArgs().Types() {
		r.convert(a)
	}
	if pkg := t.Obj().Pkg(); pkg == nil || !origin.Interpreted(pkg) { // compiled
		return
	}
	// Of an instance, the methods and the underlying type of the generic type: what they consist of
	// is that and the type arguments. Each instance of a generic method has type parameters of its
	// own, so a method Map[U any] that returns a List[U] would lead to ever more instances.
	origin := t.Origin()
	for m := range origin.Methods() {
		r.object(m)
		// Package reflect can call it, make its parameters, and call methods of its results.
		if m.Exported() {
			r.convert(m.Type())
		}
	}
	r.convert(origin.Underlying())
	p := r.loader.packages[t.Obj().Pkg()]
	if p == nil || p.dispatched[t] || t.TypeParams() != nil || t.Obj().Parent() != t.Obj().Pkg().Scope() || types.IsInterface(t) {
		return
	}
	part := r.part(p)
	part.Dispatched = append(part.Dispatched, t)
}
