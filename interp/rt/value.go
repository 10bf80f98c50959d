package rt

import (
	"reflect"
	"unsafe"
)

// unboxValue is unbox for a reflect.Value v, the contents of an interface, possibly obtained
// through an unexported field. If v has no type of a cell, it returns v.
func (r *representations) unboxValue(v reflect.Value) (*Type, reflect.Value) {
	m := r.madeAs(typeWord(v.Type()))
	if m == nil {
		return nil, v
	}
	return m.t, retyped(v, typeOfWord(m.raw))
}

// retyped returns v as a value of type t, which has the same memory layout.
func retyped(v reflect.Value, t reflect.Type) reflect.Value {
	*(*unsafe.Pointer)(unsafe.Pointer(&v)) = typeWord(t) // the type of a reflect.Value is its first word
	return v
}

// withoutInterface reports whether values of type t contain no interface, except behind
// pointers.
func withoutInterface(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] {
		return true
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Interface:
		return false
	case reflect.Slice, reflect.Array:
		return withoutInterface(t.Elem(), seen)
	case reflect.Map:
		return withoutInterface(t.Key(), seen) && withoutInterface(t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			if !withoutInterface(t.Field(i).Type, seen) {
				return false
			}
		}
	}
	return true
}
