package rt

import (
	"go/types"
	"reflect"
)

// Hashable panics as Go does where a map is asked for the key x, if x cannot be
// hashed: if it holds, in an interface, a value of a cell of a type that is not
// comparable. The runtime would tell the type as it is in lowered code.
func (r *Registry) Hashable(x any) {
	if x == nil {
		return
	}
	w, v := r.viewOf(reflect.ValueOf(x))
	if w.d != nil && !types.Comparable(w.d.typ) {
		panic(runtimeError("hash of unhashable type " + w.d.name))
	}
	r.hashableParts(v)
}

// hashableParts is Hashable for what lies in the interfaces of v, which is of a
// comparable type.
func (r *Registry) hashableParts(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() && v.CanInterface() {
			r.Hashable(v.Interface())
		}
	case reflect.Struct:
		if r.holdsInterface(v.Type()) {
			for i := range v.NumField() {
				r.hashableParts(v.Field(i))
			}
		}
	case reflect.Array:
		if r.holdsInterface(v.Type()) {
			for i := range v.Len() {
				r.hashableParts(v.Index(i))
			}
		}
	}
}

// EqualParts is a == b for two structs or arrays of one type that hold
// interfaces.
func (r *Registry) EqualParts(a, b any) bool {
	return r.equalValues(reflect.ValueOf(a), reflect.ValueOf(b))
}

func (r *Registry) equalValues(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Interface:
		if a.IsNil() || b.IsNil() || !a.CanInterface() {
			return a.Equal(b)
		}
		return r.Equal(r.Plain(a.Interface()), r.Plain(b.Interface()))
	case reflect.Struct:
		for i := range a.NumField() {
			if !r.equalValues(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Array:
		for i := range a.Len() {
			if !r.equalValues(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	}
	return a.Equal(b)
}

// holdsInterface reports whether a struct or an array has an interface in it.
func (r *Registry) holdsInterface(t reflect.Type) bool {
	if known, ok := r.holders.Load(t); ok {
		return known.(bool)
	}
	holds := !withoutInterface(t, map[reflect.Type]bool{})
	r.holders.Store(t, holds)
	return holds
}
