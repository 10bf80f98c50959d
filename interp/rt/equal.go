package rt

import (
	"go/types"
	"reflect"
)

// Equal is a == b for two interface values.
func (r *Registry) Equal(a, b any) bool {
	x, ok := r.unbox(a)
	if !ok {
		_, ok = r.unbox(b)
		return !ok && a == b
	}
	y, ok := r.unbox(b)
	if !ok || x.T != y.T {
		return false
	}
	if !types.Comparable(x.T.typ) {
		panic(runtimeError("comparing uncomparable type " + x.T.name))
	}
	return x.V == y.V
}

// DeepEqual is reflect.DeepEqual for arguments that may be boxed. Two nested
// values of different types that look alike in lowered code are told apart
// where they lie in interfaces.
func (r *Registry) DeepEqual(a, b any) bool {
	x, xBoxed := r.unbox(a)
	y, yBoxed := r.unbox(b)
	if xBoxed != yBoxed || xBoxed && x.T != y.T {
		return false
	}
	if xBoxed {
		return reflect.DeepEqual(x.V, y.V)
	}
	return reflect.DeepEqual(a, b)
}
