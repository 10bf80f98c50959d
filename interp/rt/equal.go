package rt

import (
	"go/types"
	"reflect"

	goruntime "github.com/quernlab/quern/interp/rt/internal/runtime"
)

// Equal returns a == b for two interface values.
func (r *representations) Equal(a, b any) bool {
	x, ok := r.unbox(a)
	if !ok {
		_, ok = r.unbox(b)
		return !ok && r.equalDynamic(a, b)
	}
	y, ok := r.unbox(b)
	if !ok || x.T != y.T {
		return false
	}
	if !types.Comparable(x.T.typ) {
		panic(goruntime.ErrorString("comparing uncomparable type " + x.T.name))
	}
	return r.equalDynamic(x.V, y.V)
}

// equalDynamic returns a == b for values that are not boxed. It panics as Go does if
// their fields or elements hold uncomparable values of cells.
func (r *representations) equalDynamic(a, b any) bool {
	if t := reflect.TypeOf(a); t != nil && t == reflect.TypeOf(b) && (t.Kind() == reflect.Struct || t.Kind() == reflect.Array) &&
		t.Comparable() && r.holdsInterface(t) {
		return r.EqualParts(a, b)
	}
	return a == b
}

// DeepEqual is reflect.DeepEqual for arguments that may be boxed. Nested values whose
// types differ in the cell but are the same in lowered code are only distinguished if
// interfaces hold them.
func (r *representations) DeepEqual(a, b any) bool {
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
