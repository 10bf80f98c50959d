package rt

import (
	"go/types"
	"reflect"

	goruntime "github.com/quernlab/quern/interp/rt/internal/runtime"
)

// Hashable panics as Go does if x, which is used as a map key, holds a value that cannot
// be hashed in an interface. The runtime's own panic would name the lowered type and
// not the type of the cell.
func (r *representations) Hashable(x any) {
	if name := r.unhashable(x); name != "" {
		panic(goruntime.ErrorString("hash of unhashable type " + name))
	}
}

// HashableIn is Hashable for reading or removing an entry of a map of the given length.
func (r *representations) HashableIn(length int, x any) {
	if name := r.unhashable(x); name != "" {
		if length == 0 {
			panic(goruntime.UnhashableTypeError(name))
		}
		panic(goruntime.ErrorString("hash of unhashable type " + name))
	}
}

// Storable is Hashable for storing an entry in a map. nilMap reports whether the map
// is nil: Go panics about that first.
func (r *representations) Storable(nilMap bool, x any) {
	if nilMap {
		var m map[int]int
		m[0] = 0 //nolint:staticcheck // on purpose
	}
	r.Hashable(x)
}

// unhashable returns the name of the type of a cell that makes x unhashable, or "".
func (r *representations) unhashable(x any) string {
	if x == nil {
		return ""
	}
	w, v := r.viewOf(reflect.ValueOf(x))
	if w.d != nil && !types.Comparable(w.d.typ) {
		return w.d.name
	}
	return r.unhashablePart(v)
}

// unhashablePart is unhashable for the interface values inside v, whose type is
// comparable.
func (r *representations) unhashablePart(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() && v.CanInterface() {
			return r.unhashable(v.Interface())
		}
	case reflect.Struct:
		if r.holdsInterface(v.Type()) {
			for i := range v.NumField() {
				if name := r.unhashablePart(v.Field(i)); name != "" {
					return name
				}
			}
		}
	case reflect.Array:
		if r.holdsInterface(v.Type()) {
			for i := range v.Len() {
				if name := r.unhashablePart(v.Index(i)); name != "" {
					return name
				}
			}
		}
	}
	return ""
}

// EqualParts returns a == b for two structs or arrays of one type that hold
// interfaces.
func (r *representations) EqualParts(a, b any) bool {
	return r.equalValues(reflect.ValueOf(a), reflect.ValueOf(b))
}

func (r *representations) equalValues(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Interface:
		if a.IsNil() || b.IsNil() || !a.CanInterface() {
			return a.Equal(b)
		}
		return r.Equal(a.Interface(), b.Interface())
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

// holdsInterface reports whether a struct or array type contains an interface.
func (r *representations) holdsInterface(t reflect.Type) bool {
	if known, ok := r.hasInterface.Load(t); ok {
		return known.(bool)
	}
	holds := !withoutInterface(t, map[reflect.Type]bool{})
	r.hasInterface.Store(t, holds)
	return holds
}
