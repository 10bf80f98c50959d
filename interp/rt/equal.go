package rt

import "reflect"

// Equal returns a == b for two interface values.
func (r *representations) Equal(a, b any) bool {
	x, y := interfaceWords(&a), interfaceWords(&b)
	if x[0] != y[0] {
		if x[0] == nil || y[0] == nil {
			return false
		}
		m, n := r.madeAs(x[0]), r.madeAs(y[0])
		if m == nil || n == nil || m.t != n.t {
			return false
		}
		y[0] = x[0] // one of the values has a type without the methods that a later cell has declared
	}
	t := reflect.TypeOf(a)
	if t == nil || t.Kind() != reflect.Struct && t.Kind() != reflect.Array || !t.Comparable() || !r.holds(t, false) {
		return a == b
	}
	v := r.unboxValue(reflect.ValueOf(a))
	w := r.unboxValue(reflect.ValueOf(b))
	return r.equalValues(v, w)
}

// EqualParts returns a == b for two raw structs or arrays of one type that hold interfaces.
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
