package rt

import (
	"go/types"
	"reflect"
)

// Set does what the method of reflect.Value does.
func (v ReflectValue) Set(x ReflectValue) {
	if !v.CanSet() {
		v.Value.Set(v.Value) // panics
	}
	v.Value.Set(v.r.assigned(x, v.view(), "reflect.Set"))
}

// SetMapIndex does what the method of reflect.Value does.
func (v ReflectValue) SetMapIndex(key, elem ReflectValue) {
	if v.Kind() != reflect.Map {
		v.Value.SetMapIndex(key.Value, elem.Value) // panics
	}
	w := v.view()
	k := v.r.assigned(key, w.key(), "reflect.Value.SetMapIndex")
	if !elem.IsValid() {
		v.Value.SetMapIndex(k, reflect.Value{})
		return
	}
	v.Value.SetMapIndex(k, v.r.assigned(elem, w.elem(), "reflect.Value.SetMapIndex"))
}

// SetIterKey does what the method of reflect.Value does.
func (v ReflectValue) SetIterKey(i *ReflectMapIter) { v.Set(i.Key()) }

// SetIterValue does what the method of reflect.Value does.
func (v ReflectValue) SetIterValue(i *ReflectMapIter) { v.Set(i.Value()) }

// Send does what the method of reflect.Value does.
func (v ReflectValue) Send(x ReflectValue) {
	v.Value.Send(v.r.assigned(x, v.view().elem(), "reflect.Value.Send"))
}

// TrySend does what the method of reflect.Value does.
func (v ReflectValue) TrySend(x ReflectValue) bool {
	return v.Value.TrySend(v.r.assigned(x, v.view().elem(), "reflect.Value.Send"))
}

// ReflectAppend is reflect.Append.
func ReflectAppend(s ReflectValue, x ...ReflectValue) ReflectValue {
	raw := make([]reflect.Value, len(x))
	for i := range x {
		raw[i] = s.r.assigned(x[i], s.view().elem(), "reflect.Set")
	}
	return s.r.reflected(reflect.Append(s.Value, raw...), s.d)
}

// ReflectAppendSlice is reflect.AppendSlice.
func ReflectAppendSlice(s, t ReflectValue) ReflectValue {
	if s.Kind() == reflect.Slice && t.Kind() == reflect.Slice {
		sameElements("reflect.AppendSlice", s, t)
	}
	return s.r.reflected(reflect.AppendSlice(s.Value, t.Value), s.d)
}

// ReflectCopy is reflect.Copy.
func ReflectCopy(dst, src ReflectValue) int {
	if sequence(dst.Kind()) && sequence(src.Kind()) {
		sameElements("reflect.Copy", dst, src)
	}
	return reflect.Copy(dst.Value, src.Value)
}

func sequence(k reflect.Kind) bool { return k == reflect.Slice || k == reflect.Array }

// sameElements panics unless the elements of a and b have the same type.
func sameElements(function string, a, b ReflectValue) {
	if x, y := a.view().elem(), b.view().elem(); x != y {
		panic(function + ": " + x.String() + " != " + y.String())
	}
}

// Convert does what the method of reflect.Value does.
func (v ReflectValue) Convert(t reflect.Type) ReflectValue {
	w := viewOfType(t)
	if !v.r.TypeConvertibleTo(v.Type(), t) {
		panic("reflect.Value.Convert: value of type " + v.Type().String() + " cannot be converted to type " + t.String())
	}
	if w.kind() == reflect.Interface {
		converted := reflect.New(w.t).Elem()
		converted.Set(v.r.assigned(v, w, "reflect.Value.Convert"))
		return v.r.reflected(converted, w.d)
	}
	return v.r.reflected(v.Value.Convert(w.t), w.d)
}

// CanConvert does what the method of reflect.Value does.
func (v ReflectValue) CanConvert(t reflect.Type) bool {
	if !v.r.TypeConvertibleTo(v.Type(), t) {
		return false
	}
	w := viewOfType(t)
	return w.kind() == reflect.Interface || v.Value.CanConvert(w.t)
}

// assigned returns the raw value that is stored when x is assigned to a variable of type w.
func (r *Registry) assigned(x ReflectValue, w view, context string) reflect.Value {
	if !x.IsValid() || !x.CanInterface() {
		return x.Value // package reflect panics with the right text
	}
	if w.kind() == reflect.Interface {
		y := x.Interface()
		if y == nil {
			return reflect.Zero(w.t)
		}
		if z, ok := r.implementing(y, w); ok {
			return reflect.ValueOf(z)
		}
	} else if r.assignable(x.view(), w) {
		return x.Value
	}
	panic(context + ": value of type " + x.Type().String() + " is not assignable to type " + w.String())
}

// assignable reports whether a value of type x is assignable to a variable of type w,
// which is not an interface.
func (r *Registry) assignable(x, w view) bool {
	switch {
	case !x.t.AssignableTo(w.t):
		return false
	case x.d == w.d:
		return true
	case x.d != nil && w.d != nil:
		return types.AssignableTo(x.d.typ, w.d.typ)
	case x.d == nil:
		return !x.named() && w.named() && r.sameType(x.t, w.d.typ.Underlying())
	}
	return !w.named() && x.named() && r.sameType(w.t, x.d.typ.Underlying())
}

// implementing returns x as a value of the interface type w, if x implements w.
func (r *Registry) implementing(x any, w view) (any, bool) {
	if !r.TypeImplements(r.TypeOf(x), r.reflectType(w)) {
		return nil, false
	}
	b, ok := r.unbox(x)
	if !ok || w.d != nil || w.t.NumMethod() == 0 {
		return x, true
	}
	return r.wrap(b, r.compiledInterface(w.t)), true
}

// compiledInterface describes an interface type of which only the compiled form is known.
func (r *Registry) compiledInterface(t reflect.Type) *Type {
	target := &Type{registry: r, name: t.String(), compiled: t}
	if t.Name() == "" || t.PkgPath() == "" {
		return target
	}
	pkg := target.name[:len(target.name)-len(t.Name())-len(".")]
	if v, ok := r.config.Packages[t.PkgPath()+"/"+pkg]["_"+t.Name()]; ok && v.Kind() == reflect.Pointer && v.Type().Elem().Kind() == reflect.Struct {
		target.wrapper = v.Type().Elem()
	}
	return target
}
