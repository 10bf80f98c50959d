package rt

import (
	"reflect"
	"unsafe"

	"github.com/quernlab/quern/interp/named"
)

// A cell can declare a method of a type of which interface values exist. Compiled packages have asked their type for its
// methods, and the runtime remembers the answer. So values get another type then, with the same memory: box uses it from then
// on, and Retype replaces the type of existing ones.

// Retyper replaces the types of interface values that have got methods.
type Retyper struct {
	r    *Registry
	maps bool
	seen map[reachable]bool
	next []reflect.Value // pointers, slices and maps to visit; a long linked list would need too much stack for recursion
}

// reachable is a part of the memory that a Retyper visits once.
type reachable struct {
	address uintptr
	typ     reflect.Type
	length  int // of a slice
}

// Retype returns what replaces the types of interface values, nil if no type has got methods since the last call. maps says
// whether it may iterate over maps: no other goroutine may write to them. The first call with true also visits maps because of
// calls before it with false.
func (r *Registry) Retype(maps bool) *Retyper {
	version := r.declared.version.Load()
	done := r.declared.retyped.Swap(version) == version
	if maps {
		done = r.declared.retypedMaps.Swap(version) == version && done
	}
	if done {
		return nil
	}
	return &Retyper{r: r, maps: maps, seen: map[reachable]bool{}}
}

// Visit replaces types in a variable and in what it refers to. It does not look into functions, channels, and values of
// compiled types that carries does not know, where interface values keep their type.
func (t *Retyper) Visit(variable reflect.Value) {
	t.visit(variable)
	for len(t.next) > 0 {
		v := t.next[len(t.next)-1]
		t.next = t.next[:len(t.next)-1]
		switch v.Kind() {
		case reflect.Pointer:
			t.visit(v.Elem())
		case reflect.Slice:
			for i := range v.Len() {
				t.visit(v.Index(i))
			}
		case reflect.Map:
			t.visitMap(v)
		}
	}
}

// visit replaces types in the addressable v, and keeps what v refers to for Visit.
func (t *Retyper) visit(v reflect.Value) {
	if !t.r.holds(v.Type(), true) {
		return
	}
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() || !v.CanSet() {
			return
		}
		if x, changed := t.held(v.Elem().Interface()); changed {
			setInterface(v, x)
		}
	case reflect.Pointer:
		if !v.IsNil() && t.first(v, 0) {
			t.next = append(t.next, v)
		}
	case reflect.Slice:
		if v.Len() > 0 && t.first(v, v.Len()) {
			t.next = append(t.next, v)
		}
	case reflect.Array:
		for i := range v.Len() {
			t.visit(v.Index(i))
		}
	case reflect.Struct:
		if fields, ok := carries(v.Type()); ok {
			t.visitCarrier(v, fields)
			return
		}
		for i := range v.NumField() {
			t.visit(v.Field(i))
		}
	case reflect.Map:
		if t.maps && !v.IsNil() && t.first(v, 0) {
			t.next = append(t.next, v)
		}
	}
}

// setInterface stores x, another value of the type that v holds now or of one that has replaced it, in the interface v. If that type
// has lost a method of the interface, v keeps its value, and so the method.
func setInterface(v reflect.Value, x any) {
	if v.NumMethod() == 0 {
		v.Set(reflect.ValueOf(x))
		return
	}
	words := (*[2]unsafe.Pointer)(v.Addr().UnsafePointer())
	in, next := named.InterfaceOf(words[0]), reflect.TypeOf(x)
	if v.Elem().Type().Implements(in) && !next.Implements(in) {
		return
	}
	*words = [2]unsafe.Pointer{named.Table(in, next), interfaceWords(&x)[1]}
}

func (t *Retyper) visitMap(m reflect.Value) {
	type entry struct{ old, key, value reflect.Value }
	var changed []entry
	for i := m.MapRange(); i.Next(); {
		key, value := t.copied(i.Key()), t.copied(i.Value())
		newKey := !t.r.sameTypes(key, i.Key())
		if newKey || !t.r.sameTypes(value, i.Value()) {
			e := entry{key: key, value: value}
			if newKey {
				e.old = i.Key()
			}
			changed = append(changed, e)
		}
	}
	for _, e := range changed {
		if e.old.IsValid() {
			m.SetMapIndex(e.old, reflect.Value{})
			if m.MapIndex(e.key).IsValid() {
				continue // stored after the type got its method, when the old entry was not found
			}
		}
		m.SetMapIndex(e.key, e.value)
	}
}

// copied returns a copy of v with other types.
func (t *Retyper) copied(v reflect.Value) reflect.Value {
	if !t.r.holds(v.Type(), true) {
		return v
	}
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	t.visit(c)
	return c
}

// held returns x with its type now, and whether that differs.
func (t *Retyper) held(x any) (any, bool) {
	b, ok := t.r.unbox(x)
	if !ok {
		v := reflect.ValueOf(x)
		if v.Type().PkgPath() == "" {
			c := t.copied(v)
			return c.Interface(), !t.r.sameTypes(c, v)
		}
		return x, false
	}
	v := reflect.ValueOf(b.V)
	c := t.copied(v)
	y := b.T.box(c.Interface())
	return y, reflect.TypeOf(x) != reflect.TypeOf(y) || !t.r.sameTypes(c, v)
}

func (t *Retyper) first(v reflect.Value, length int) bool {
	key := reachable{v.Pointer(), v.Type(), length}
	if t.seen[key] {
		return false
	}
	t.seen[key] = true
	return true
}

// sameTypes reports whether the interface values in the structs and arrays a and b, copies of each other, have the same types.
func (r *representations) sameTypes(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Interface:
		if a.IsNil() {
			return true
		}
		a, b = a.Elem(), b.Elem()
		if a.Type() != b.Type() {
			return false
		}
		x := r.unboxValue(a)
		y := r.unboxValue(b)
		return r.sameTypes(x, y)
	case reflect.Struct:
		if _, ok := carries(a.Type()); ok {
			return true
		}
		for i := range a.NumField() {
			if r.holds(a.Field(i).Type(), true) && !r.sameTypes(a.Field(i), b.Field(i)) {
				return false
			}
		}
	case reflect.Array:
		for i := range a.Len() {
			if !r.sameTypes(a.Index(i), b.Index(i)) {
				return false
			}
		}
	}
	return true
}
