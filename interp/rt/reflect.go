package rt

import (
	"iter"
	"reflect"
)

// Package reflect sees the types of cells as they were declared. This file has what cells call instead of its functions where those do not know
// that a function of a cell has no address, or that code of cells calls something else than a method; see Config.Method.

// TypeFor is reflect.TypeFor for the type t; p is a raw nil pointer to it.
func (r *Registry) TypeFor(t *Type, p any) reflect.Type {
	w := view{r.child(t.typ), reflect.TypeOf(p).Elem()}
	if w.d == nil {
		return w.t
	}
	return typeOfWord(r.makeType(w).word)
}

// ValueMethod is v.Method(i).
func (r *Registry) ValueMethod(v reflect.Value, i int) reflect.Value {
	return r.guarded(v, v.Method(i))
}

// ValueMethodByName is v.MethodByName(name).
func (r *Registry) ValueMethodByName(v reflect.Value, name string) reflect.Value {
	return r.guarded(v, v.MethodByName(name))
}

// ValueMethods is v.Methods().
func (r *Registry) ValueMethods(v reflect.Value) iter.Seq2[reflect.Method, reflect.Value] {
	return func(yield func(reflect.Method, reflect.Value) bool) {
		for m, f := range v.Methods() {
			if !yield(m, r.guarded(v, f)) {
				return
			}
		}
	}
}

// ValuePointer is v.Pointer(). A function of a cell gets a number, from which runtime.FuncForPC makes its name; all of them have the
// same code pointer.
func (r *Registry) ValuePointer(v reflect.Value) uintptr {
	if v.Kind() == reflect.Func && !v.IsNil() && v.CanInterface() {
		x := v.Interface()
		if pc, ok := r.config.FunctionPointer(reflect.ValueOf(r.Value(x))); ok {
			return pc
		}
	}
	return v.Pointer()
}
