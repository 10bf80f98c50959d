package rt

import (
	"go/types"
	"reflect"
	"unsafe"
)

// unboxValue is unbox for a reflect.Value v, the contents of an interface, possibly obtained
// through an unexported field. If v has no type of a cell, it returns v.
func (r *representations) unboxValue(v reflect.Value) reflect.Value {
	m := r.madeAs(typeWord(v.Type()))
	if m == nil {
		return v
	}
	return retyped(v, typeOfWord(m.raw))
}

// retyped returns v as a value of type t, which has the same memory layout.
func retyped(v reflect.Value, t reflect.Type) reflect.Value {
	*(*unsafe.Pointer)(unsafe.Pointer(&v)) = typeWord(t) // the type of a reflect.Value is its first word
	return v
}

// holdsKey is a type, and whether what its values refer to counts.
type holdsKey struct {
	t   reflect.Type
	all bool
}

// holds reports whether values of type t contain interfaces. With all, those count that can be reached without going through a value of
// a compiled type that carries does not know, and functions, which may capture variables; otherwise only those in the value itself.
func (r *representations) holds(t reflect.Type, all bool) bool {
	key := holdsKey{t, all}
	known, ok := r.interfaces.Load(key)
	if !ok {
		known = holdsInterface(key, map[reflect.Type]bool{})
		r.interfaces.Store(key, known)
	}
	return known.(bool)
}

func holdsInterface(k holdsKey, seen map[reflect.Type]bool) bool {
	t, all := k.t, k.all
	if all {
		if _, ok := carries(t); ok {
			return true
		}
		if t.PkgPath() != "" && t.Kind() != reflect.Interface && t.Kind() != reflect.Func {
			return false
		}
	}
	if seen[t] {
		return false
	}
	seen[t] = true
	part := func(t reflect.Type) bool { return holdsInterface(holdsKey{t, all}, seen) }
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Func:
		return all
	case reflect.Array:
		return part(t.Elem())
	case reflect.Pointer, reflect.Slice, reflect.Chan:
		return all && part(t.Elem())
	case reflect.Map:
		return all && (part(t.Key()) || part(t.Elem()))
	case reflect.Struct:
		for f := range t.Fields() {
			if part(f.Type) {
				return true
			}
		}
	}
	return false
}

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

// view is a type at run time: its descriptor, nil for a compiled type, and the type of its
// raw values. Its methods return what reflect returns in compiled Go.
type view struct {
	d *Type
	t reflect.Type
}

func (w view) kind() reflect.Kind { return w.t.Kind() }

func (w view) elem() view {
	if w.d == nil {
		return view{nil, w.t.Elem()}
	}
	return view{w.d.shape().elem, w.t.Elem()}
}

func (w view) key() view {
	if w.d == nil {
		return view{nil, w.t.Key()}
	}
	return view{w.d.shape().key, w.t.Key()}
}

// field returns field i of a struct and its type.
func (w view) field(i int) (field, view) {
	f := w.d.shape().fields[i]
	return f, view{f.typ, w.t.Field(i).Type}
}

// pointer returns the descriptor of *T.
func (t *Type) pointer() *Type {
	if p := t.pointerTo.Load(); p != nil {
		return p
	}
	p := t.registry.Describe(types.NewPointer(t.typ))
	t.pointerTo.Store(p)
	return p
}
