package rt

import (
	"fmt"
	"reflect"
	"unsafe"
)

// held is about what interfaces hold in values that a package gets which encodes or
// decodes: boxes, for which the package must see values of declared types.
type held struct {
	r       *Registry
	pkg     string
	methods []string // that the package asks values for
	values  []encoded
	reach   map[reflect.Type]bool   // whether there are interfaces in values of a type
	active  map[unsafe.Pointer]bool // what is being copied, or has been visited
}

func newHeld(r *Registry, pkg string, methods []string) *held {
	return &held{r: r, pkg: pkg, methods: methods, reach: map[reflect.Type]bool{}, active: map[unsafe.Pointer]bool{}}
}

// named is err with the names that types have in cells.
func (h *held) named(err error) error {
	for _, v := range h.values {
		err = v.named(err)
	}
	return err
}

// declared returns x as the package gets it.
func (h *held) declared(x any) any {
	if x == nil {
		return nil
	}
	v := h.r.encodable(h.pkg, x, h.methods)
	h.values = append(h.values, v)
	return h.copy(reflect.ValueOf(v.value)).Interface()
}

// reaches reports whether there may be interfaces in values of type t that the package
// looks at.
func (h *held) reaches(t reflect.Type) (found bool) {
	if known, ok := h.reach[t]; ok {
		return known
	}
	h.reach[t] = false
	defer func() { h.reach[t] = found }()
	for _, name := range h.methods {
		if _, has := reflect.PointerTo(t).MethodByName(name); has {
			return false // it encodes itself
		}
	}
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Map:
		return h.reaches(t.Key()) || h.reaches(t.Elem())
	case reflect.Array, reflect.Slice, reflect.Pointer:
		return h.reaches(t.Elem())
	case reflect.Struct:
		for f := range t.Fields() {
			if f.IsExported() && h.reaches(f.Type) {
				return true
			}
		}
	}
	return false
}

// copy is v with values of declared types in place of the boxes in its interfaces.
func (h *held) copy(v reflect.Value) reflect.Value {
	t := v.Type()
	if !h.reaches(t) {
		return v
	}
	made := reflect.New(t).Elem()
	switch t.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		x := v.Elem()
		if _, ok := h.r.unbox(x.Interface()); ok {
			x = reflect.ValueOf(h.declared(x.Interface()))
		} else {
			x = h.copy(x)
		}
		if !x.Type().AssignableTo(t) {
			panic(&EncodingError{Package: h.pkg, Unseen: fmt.Sprintf("what a %s holds", t)})
		}
		made.Set(x)
	case reflect.Pointer:
		if v.IsNil() || h.active[v.UnsafePointer()] {
			return v
		}
		h.active[v.UnsafePointer()] = true
		defer delete(h.active, v.UnsafePointer())
		p := reflect.New(t.Elem())
		p.Elem().Set(h.copy(v.Elem()))
		made.Set(p.Convert(t))
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		made.Set(reflect.MakeSlice(t, v.Len(), v.Len()))
		for i := range v.Len() {
			made.Index(i).Set(h.copy(v.Index(i)))
		}
	case reflect.Array:
		for i := range v.Len() {
			made.Index(i).Set(h.copy(v.Index(i)))
		}
	case reflect.Map:
		if v.IsNil() {
			return v
		}
		made.Set(reflect.MakeMapWithSize(t, v.Len()))
		for i := v.MapRange(); i.Next(); {
			made.SetMapIndex(h.copy(i.Key()), h.copy(i.Value()))
		}
	case reflect.Struct:
		made.Set(v)
		for i := range t.NumField() {
			if t.Field(i).IsExported() {
				made.Field(i).Set(h.copy(v.Field(i)))
			}
		}
	}
	return made
}

// box puts boxes in place of the values of declared types that the interfaces in v,
// which is of type w, hold.
func (h *held) box(v reflect.Value, w view) error {
	if !h.reaches(v.Type()) {
		return nil
	}
	switch v.Kind() {
	case reflect.Interface:
		return h.boxHeld(v, w)
	case reflect.Pointer:
		if v.IsNil() || h.active[v.UnsafePointer()] {
			return nil
		}
		h.active[v.UnsafePointer()] = true
		return h.box(v.Elem(), w.elem())
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if err := h.box(v.Index(i), w.elem()); err != nil {
				return err
			}
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			k, e := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			k.Set(key)
			e.Set(v.MapIndex(key))
			if err := h.box(k, w.key()); err != nil {
				return err
			}
			if err := h.box(e, w.elem()); err != nil {
				return err
			}
			v.SetMapIndex(key, reflect.Value{})
			v.SetMapIndex(k, e)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			_, f := w.field(i)
			if err := h.box(v.Field(i), f); err != nil {
				return err
			}
		}
	}
	return nil
}

// boxHeld is box for an interface.
func (h *held) boxHeld(v reflect.Value, w view) error {
	if v.IsNil() {
		return nil
	}
	x := v.Elem()
	if _, ok := h.r.unbox(x.Interface()); ok {
		return nil
	}
	of := view{nil, x.Type()}
	known, registered := h.r.gobTypes.Load(x.Type())
	if registered {
		g := known.(gobType)
		x, of = underlying(x, g.raw), view{g.typ, g.raw}
	}
	inner := reflect.New(x.Type()).Elem()
	inner.Set(x)
	if err := h.box(inner, of); err != nil {
		return err
	}
	value := inner.Interface()
	if registered {
		value = of.d.box(value)
	}
	y, ok := h.r.implementing(value, w)
	if !ok {
		return &declaredError{text: fmt.Sprintf("%s: %s is not assignable to type %s", h.pkg, of, w)}
	}
	v.Set(reflect.ValueOf(y))
	return nil
}
