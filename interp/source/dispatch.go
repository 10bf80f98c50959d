package source

import (
	"go/types"

	"github.com/quernlab/quern/interp/origin"
)

// convert adds a type of which a value may be in an interface, and all types that it consists of. Their methods
// are compiled when they are called for the first time, see [Loader.NeededMethod].
func (r *reach) convert(t types.Type) {
	if t == nil || r.converted[t] {
		return
	}
	r.converted[t] = true
	r.typ(t)
	r.consists(t, r.convert, r.convertNamed)
}

// instantiate adds a type argument, with all its methods and those of all types that it consists of: generic code
// calls them by name.
func (r *reach) instantiate(t types.Type) {
	if t == nil || r.instantiated[t] {
		return
	}
	r.instantiated[t] = true
	r.convert(t)
	r.consists(t, r.instantiate, func(t *types.Named) {
		for a := range t.TypeArgs().Types() {
			r.instantiate(a)
		}
		if pkg := t.Obj().Pkg(); pkg != nil && origin.Interpreted(pkg) {
			for m := range t.Origin().Methods() {
				r.object(m)
			}
			r.instantiate(t.Origin().Underlying())
		}
	})
}

// consists calls named for t if t is a named type, and else found for each type that t consists of.
func (r *reach) consists(t types.Type, found func(types.Type), named func(*types.Named)) {
	switch t := t.(type) {
	case *types.Alias:
		for a := range t.TypeArgs().Types() {
			found(a)
		}
		found(types.Unalias(t))
	case *types.Named:
		named(t)
	case *types.Pointer:
		found(t.Elem())
	case *types.Slice:
		found(t.Elem())
	case *types.Array:
		found(t.Elem())
	case *types.Chan:
		found(t.Elem())
	case *types.Map:
		found(t.Key())
		found(t.Elem())
	case *types.Tuple:
		for v := range t.Variables() {
			found(v.Type())
		}
	case *types.Signature:
		found(t.Params())
		found(t.Results())
	case *types.Struct:
		for f := range t.Fields() {
			found(f.Type())
		}
	case *types.Interface:
		for m := range t.Methods() {
			found(m.Type())
		}
	}
}

// method adds a method that an interface or package reflect can call.
func (r *reach) method(m *types.Func) {
	r.function(m)
	// Package reflect can make its parameters, and call methods of its results.
	if m.Exported() {
		r.convert(m.Type())
	}
}

func (r *reach) convertNamed(t *types.Named) {
	for a := range t.TypeArgs().Types() {
		r.instantiate(a)
	}
	if pkg := t.Obj().Pkg(); pkg == nil || !origin.Interpreted(pkg) { // compiled
		return
	}
	// Of an instance, the methods and the underlying type of the generic type: what they consist of
	// is that and the type arguments. Each instance of a generic method has type parameters of its
	// own, so a method Map[U any] that returns a List[U] would lead to ever more instances.
	origin := t.Origin()
	p := r.loader.packages[t.Obj().Pkg()]
	// A package with functions that are missing is rejected before it runs, if a method may call one.
	if origin.TypeParams() != nil || r.whole && p != nil && len(p.missing) > 0 {
		for m := range origin.Methods() {
			r.method(m)
		}
	}
	r.convert(origin.Underlying())
	if p == nil || p.dispatched[t] || t.TypeParams() != nil || t.Obj().Parent() != t.Obj().Pkg().Scope() || types.IsInterface(t) {
		return
	}
	part := r.part(p)
	part.Dispatched = append(part.Dispatched, t)
}
