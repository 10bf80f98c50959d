package rt

import "reflect"

// Box is a value of a type of a cell outside an interface.
type Box struct {
	T *Type // never nil
	V any   // the raw value, of the type that T has in lowered code
}

// Box returns the raw value v, of the type t, as an interface value.
func (t *Type) Box(v any) any { return t.box(v) }

// Value returns the raw value of an x that has a type of a cell, and any other x as it is.
func (r *representations) Value(x any) any {
	if b, ok := r.unbox(x); ok {
		return b.V
	}
	return x
}

var errorType = reflect.TypeFor[error]()
