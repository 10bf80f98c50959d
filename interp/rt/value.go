package rt

import (
	"reflect"
	"unsafe"
)

// unboxValue is unbox for a reflect.Value v, the contents of an interface, possibly obtained
// through an unexported field. If v has no type of a cell, it returns v.
func (r *representations) unboxValue(v reflect.Value) (*Type, reflect.Value, bool) {
	m := r.madeAs(typeWord(v.Type()))
	if m == nil {
		return nil, v, false
	}
	*(*unsafe.Pointer)(unsafe.Pointer(&v)) = m.raw // the type of a reflect.Value is its first word
	return m.t, v, true
}

// mayHoldBox reports whether fmt could find a box or a substitute of this package in one of
// the operands.
func (r *representations) mayHoldBox(operands []any) bool {
	for _, x := range operands {
		switch x.(type) {
		case nil, bool, string, int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64, uintptr,
			float32, float64, complex64, complex128, []byte, []int, []float64, []string:
		default:
			if !r.holdsNoBox(reflect.TypeOf(x)) {
				return true
			}
		}
	}
	return false
}

// holdsNoBox reports whether fmt finds no interface inside values of the compiled type t. fmt
// only follows a pointer if it is the operand itself.
func (r *representations) holdsNoBox(t reflect.Type) bool {
	if known, ok := r.boxFree.Load(t); ok {
		return known.(bool)
	}
	boxFree := r.madeAs(typeWord(t)) == nil && !t.Implements(substituteType) && !mentionsReplaced(t)
	if boxFree {
		inner := t
		if t.Kind() == reflect.Pointer {
			inner = t.Elem()
		}
		boxFree = withoutInterface(inner, map[reflect.Type]bool{})
	}
	r.boxFree.Store(t, boxFree)
	return boxFree
}

// withoutInterface reports whether values of type t contain no interface, except behind
// pointers.
func withoutInterface(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] {
		return true
	}
	seen[t] = true
	if t.Implements(substituteType) {
		return false
	}
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
