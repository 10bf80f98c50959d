package rt

import (
	"go/types"
	"reflect"
)

// isEmpty reports whether the option omitempty leaves out v.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct, reflect.Chan, reflect.Func, reflect.Complex64, reflect.Complex128, reflect.UnsafePointer:
		return false
	}
	return v.IsZero()
}

// isZero reports whether the option omitzero leaves out v. It calls the method IsZero of
// the type or of the pointer type if there is one.
func (r *representations) isZero(w view, v reflect.Value) bool {
	switch {
	case v.Kind() == reflect.Interface:
		return r.isZeroInterface(w, v)
	case w.has(isZeroMethod):
		if v.Kind() == reflect.Pointer && v.IsNil() {
			return true
		}
		return callIsZero(w, v)
	case w.pointer().has(isZeroMethod):
		if !v.CanAddr() {
			copied := reflect.New(v.Type()).Elem()
			copied.Set(v)
			v = copied
		}
		return callIsZero(w.pointer(), v.Addr())
	}
	return v.IsZero()
}

func (r *representations) isZeroInterface(w view, v reflect.Value) bool {
	if v.IsNil() {
		return true
	}
	if w.d == nil && !w.t.Implements(isZeroMethod.iface) ||
		w.d != nil && !r.interfaceHas(w.d, isZeroMethod) {
		return false
	}
	inner, raw := r.viewOf(v.Elem())
	return raw.Kind() == reflect.Pointer && raw.IsNil() || callIsZero(inner, raw)
}

// interfaceHas reports whether an interface declared in a cell has the method.
func (r *representations) interfaceHas(d *Type, m wellKnown) bool {
	for _, have := range sortedMethods(d.typ.Underlying().(*types.Interface)) {
		if have.Name() == m.name && typeString(have.Type()) == m.signature {
			return true
		}
	}
	return false
}

func callIsZero(w view, v reflect.Value) bool {
	if w.d == nil {
		return v.Interface().(interface{ IsZero() bool }).IsZero()
	}
	return call0[bool](Box{w.d, v.Interface()}, "IsZero")
}
