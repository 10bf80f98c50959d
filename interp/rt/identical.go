package rt

import (
	"go/types"
	"reflect"
)

// sameType reports whether c and the type t are identical. It decides whether a method of a compiled type with c in its signature
// satisfies an interface of a cell with t in the same position. c may have types of cells as components.
func (r *Registry) sameType(c reflect.Type, t types.Type) bool {
	if m := r.known(c); m != nil {
		return types.Identical(m.t.typ, t)
	}
	switch t := types.Unalias(t).(type) {
	case *types.Basic:
		if t.Kind() == types.UnsafePointer {
			return c.Kind() == reflect.UnsafePointer && c.PkgPath() == "unsafe"
		}
		return c.PkgPath() == "" && c.Name() == types.Typ[t.Kind()].Name()
	case *types.Named:
		return !r.config.Interpreted(t) && sameName(c, t)
	case *types.Pointer:
		return c.Name() == "" && c.Kind() == reflect.Pointer && r.sameType(c.Elem(), t.Elem())
	case *types.Slice:
		return c.Name() == "" && c.Kind() == reflect.Slice && r.sameType(c.Elem(), t.Elem())
	case *types.Array:
		return c.Name() == "" && c.Kind() == reflect.Array && int64(c.Len()) == t.Len() && r.sameType(c.Elem(), t.Elem())
	case *types.Map:
		return c.Name() == "" && c.Kind() == reflect.Map && r.sameType(c.Key(), t.Key()) && r.sameType(c.Elem(), t.Elem())
	case *types.Chan:
		return c.Name() == "" && c.Kind() == reflect.Chan && sameDirection(c.ChanDir(), t.Dir()) && r.sameType(c.Elem(), t.Elem())
	case *types.Signature:
		return c.Name() == "" && c.Kind() == reflect.Func && r.sameSignature(c, 0, t)
	case *types.Struct:
		return c.Name() == "" && c.Kind() == reflect.Struct && r.sameFields(c, t)
	case *types.Interface:
		return c.Name() == "" && c.Kind() == reflect.Interface && r.sameMethods(c, t)
	}
	return false
}

// sameName compares the names of types, including the type arguments: reflect makes
// them a part of the name.
func sameName(c reflect.Type, t *types.Named) bool {
	pkg := t.Obj().Pkg()
	if pkg == nil {
		return c.PkgPath() == "" && c.Name() == t.Obj().Name()
	}
	return c.PkgPath() == pkg.Path() && c.String() == typeString(t)
}

func sameDirection(c reflect.ChanDir, t types.ChanDir) bool {
	switch t {
	case types.SendOnly:
		return c == reflect.SendDir
	case types.RecvOnly:
		return c == reflect.RecvDir
	}
	return c == reflect.BothDir
}

// sameSignature compares the compiled function type c with s. It ignores the first skip
// parameters of c (1 for a method with its receiver as the first parameter).
func (r *Registry) sameSignature(c reflect.Type, skip int, s *types.Signature) bool {
	if c.NumIn()-skip != s.Params().Len() || c.NumOut() != s.Results().Len() || c.IsVariadic() != s.Variadic() {
		return false
	}
	for i := range s.Params().Len() {
		if !r.sameType(c.In(i+skip), s.Params().At(i).Type()) {
			return false
		}
	}
	for i := range s.Results().Len() {
		if !r.sameType(c.Out(i), s.Results().At(i).Type()) {
			return false
		}
	}
	return true
}

func (r *Registry) sameFields(c reflect.Type, t *types.Struct) bool {
	if c.NumField() != t.NumFields() {
		return false
	}
	for i := range t.NumFields() {
		have, want := c.Field(i), t.Field(i)
		if have.Name != want.Name() || have.Anonymous != want.Embedded() || string(have.Tag) != t.Tag(i) ||
			!want.Exported() && have.PkgPath != want.Pkg().Path() || !r.sameType(have.Type, want.Type()) {
			return false
		}
	}
	return true
}

func (r *Registry) sameMethods(c reflect.Type, t *types.Interface) bool {
	if c.NumMethod() != t.NumMethods() {
		return false
	}
	for m := range t.Methods() {
		have, ok := c.MethodByName(m.Name())
		if !ok || !m.Exported() || !r.sameSignature(have.Type, 0, m.Type().(*types.Signature)) {
			return false
		}
	}
	return true
}
