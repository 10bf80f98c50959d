package named

import (
	"reflect"
	"unsafe"
)

// The functions below change types that package reflect has made at run time. No other part of the program may rely on them
// being as they were.

// SetField replaces the type of a field of a struct by one of the same size.
func SetField(t reflect.Type, i int, field reflect.Type) {
	(*structType)(pointerOf(t)).fields[i].typ = pointerOf(field)
}

// SetEmbedded makes a field of a struct an embedded field.
func SetEmbedded(t reflect.Type, i int) { *(*structType)(pointerOf(t)).fields[i].name |= nameEmbedded }

// SetParts replaces the element, key, parameter and result types of t by those of parts, a type of the same kind. The sizes of
// each pair must be equal.
func SetParts(t, parts reflect.Type) {
	to, from := pointerOf(t), pointerOf(parts)
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Chan:
		(*elemType)(to).elem = (*elemType)(from).elem
	case reflect.Array:
		(*arrayType)(to).elem, (*arrayType)(to).slice = (*arrayType)(from).elem, (*arrayType)(from).slice
	case reflect.Map:
		m, want := (*mapType)(to), (*mapType)(from)
		m.key, m.elem, m.group, m.hasher = want.key, want.elem, want.group, want.hasher
	case reflect.Func:
		copy(signature(t), signature(parts))
	}
}

// SetString replaces the string of a type. It does nothing if the type is a compiled one.
func SetString(t reflect.Type, text string) {
	// Compiled types are read-only. The runtime gives negative offsets to what was made at run time.
	if c := (*commonType)(pointerOf(t)); c.str < 0 {
		c.str = addReflectOff(unsafe.Pointer(encodeName(text, "", "", 0)))
	}
}
