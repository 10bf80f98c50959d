package rt

import (
	"go/types"
	"reflect"
	"unsafe"
)

// box returns x as an interface value of lowered code.
func (w *harness) box(x any) any {
	if x == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.toRawAny(reflect.ValueOf(x))
}

func (w *harness) toRawAny(v reflect.Value) any {
	base := v.Type()
	for base.Kind() == reflect.Pointer {
		base = base.Elem()
	}
	if base.PkgPath() != "" && base.PkgPath() != w.pkg.Path() {
		return v.Interface()
	}
	t := w.checked(v.Type())
	raw := w.toRaw(v, t).Interface()
	if !w.Mentions(t) {
		return raw
	}
	return w.Describe(t).Box(raw)
}

// open returns v, or a copy of it, with readable and writable fields.
func open(v reflect.Value) reflect.Value {
	if !v.CanAddr() {
		c := reflect.New(v.Type()).Elem()
		c.Set(v)
		return c
	}
	return reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
}

// toRaw converts a real value of the checked type t to a raw value.
func (w *harness) toRaw(v reflect.Value, t types.Type) reflect.Value {
	if !w.Mentions(t) && !holdsAny(t) {
		return v
	}
	raw := reflect.New(w.rawType(t, v.Type())).Elem()
	switch u := t.Underlying().(type) {
	case *types.Basic:
		raw.Set(v.Convert(raw.Type()))
	case *types.Interface:
		if v.IsNil() {
			break
		}
		x := w.toRawAny(v.Elem())
		if raw.Type() == anyType {
			raw.Set(reflect.ValueOf(x))
			break
		}
		x = w.Assign(x, w.Describe(t))
		store(w.Registry, raw, w.Describe(t), x)
	case *types.Pointer:
		if v.IsNil() {
			break
		}
		key := [2]any{v.Type(), v.UnsafePointer()}
		if known, ok := w.rawPointers[key]; ok {
			known.Elem().Set(w.toRawTarget(v.Elem(), u.Elem()))
			return known
		}
		raw.Set(reflect.New(raw.Type().Elem()))
		w.rawPointers[key] = raw
		w.realPointers[[2]any{v.Type(), raw.UnsafePointer()}] = v
		raw.Elem().Set(w.toRaw(v.Elem(), u.Elem()))
	case *types.Slice:
		if v.IsNil() {
			break
		}
		raw.Set(reflect.MakeSlice(raw.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			raw.Index(i).Set(w.toRaw(v.Index(i), u.Elem()))
		}
	case *types.Array:
		for i := range v.Len() {
			raw.Index(i).Set(w.toRaw(v.Index(i), u.Elem()))
		}
	case *types.Map:
		if v.IsNil() {
			break
		}
		raw.Set(reflect.MakeMap(raw.Type()))
		for i := v.MapRange(); i.Next(); {
			raw.SetMapIndex(w.toRaw(i.Key(), u.Key()), w.toRaw(i.Value(), u.Elem()))
		}
	case *types.Struct:
		v = open(v)
		for i := range u.NumFields() {
			raw.Field(i).Set(w.toRaw(open(v.Field(i)), u.Field(i).Type()))
		}
	case *types.Chan:
		if !v.IsNil() {
			raw.Set(reflect.MakeChan(raw.Type(), 0))
		}
	case *types.Signature:
		if !v.IsNil() {
			raw.Set(reflect.MakeFunc(raw.Type(), func([]reflect.Value) []reflect.Value { panic("not callable in tests") }))
		}
	}
	return raw
}

// store stores x in v, a raw variable of the interface type t with methods.
func store(r *Registry, v reflect.Value, t *Type, x any) {
	reflect.NewAt(r.InterfaceType(t), v.Addr().UnsafePointer()).Elem().Set(reflect.ValueOf(x))
}

// toRawTarget converts the target of a pointer that is already converted, at most once in a recursion.
func (w *harness) toRawTarget(v reflect.Value, t types.Type) reflect.Value {
	key := [2]any{"busy", v.Addr().UnsafePointer()}
	if _, busy := w.rawPointers[key]; busy {
		return w.rawPointers[[2]any{reflect.PointerTo(v.Type()), v.Addr().UnsafePointer()}].Elem()
	}
	w.rawPointers[key] = v
	defer delete(w.rawPointers, key)
	return w.toRaw(v, t)
}

// holdsAny reports whether a type that is the same in lowered code can hold a box, as
// []any and map[string]error can.
func holdsAny(t types.Type) bool {
	switch t := types.Unalias(t).(type) {
	case *types.Interface:
		return true
	case *types.Named:
		return types.IsInterface(t)
	case *types.Slice:
		return holdsAny(t.Elem())
	case *types.Map:
		return holdsAny(t.Key()) || holdsAny(t.Elem())
	case *types.Pointer:
		return holdsAny(t.Elem())
	case *types.Array:
		return holdsAny(t.Elem())
	case *types.Struct:
		for f := range t.Fields() {
			if holdsAny(f.Type()) {
				return true
			}
		}
	}
	return false
}

// copyBack updates the raw value behind a pointer argument after a method has changed the
// real one.
func (w *harness) copyBack(raw, real reflect.Value) {
	if raw.Kind() != reflect.Interface || raw.IsNil() {
		return
	}
	b, ok := w.unbox(raw.Interface())
	if p := reflect.ValueOf(b.V); ok && p.Kind() == reflect.Pointer && !p.IsNil() {
		p.Elem().Set(w.toRaw(real.Elem().Elem(), b.T.typ.Underlying().(*types.Pointer).Elem()))
	}
}
