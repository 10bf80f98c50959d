package rt

import (
	"fmt"
	"reflect"
	"unsafe"
)

// boxConverter converts the interface values inside a value for a package that encodes
// or decodes. Before encoding it replaces boxes by values of declared types, and after
// decoding it does the reverse.
type boxConverter struct {
	r       *Registry
	pkg     string
	methods []string // the methods that the package looks for
	values  []encoded
	cache   map[reflect.Type]bool   // cache of mayHoldInterface
	active  map[unsafe.Pointer]bool // pointers that are being copied, or that box has visited
}

func newBoxConverter(r *Registry, pkg string, methods []string) *boxConverter {
	return &boxConverter{r: r, pkg: pkg, methods: methods, cache: map[reflect.Type]bool{}, active: map[unsafe.Pointer]bool{}}
}

// named returns err with the type names of cells in its text.
func (c *boxConverter) named(err error) error {
	for _, v := range c.values {
		err = v.named(err)
	}
	return err
}

// declared returns x as the package must see it.
func (c *boxConverter) declared(x any) any {
	if x == nil {
		return nil
	}
	v := c.r.encodable(c.pkg, x)
	c.values = append(c.values, v)
	return c.copy(reflect.ValueOf(v.value)).Interface()
}

// mayHoldInterface reports whether values of type t may contain interfaces that the
// package looks at.
func (c *boxConverter) mayHoldInterface(t reflect.Type) (found bool) {
	if known, ok := c.cache[t]; ok {
		return known
	}
	c.cache[t] = false
	defer func() { c.cache[t] = found }()
	for _, name := range c.methods {
		if _, has := reflect.PointerTo(t).MethodByName(name); has {
			return false // the type encodes itself
		}
	}
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Map:
		return c.mayHoldInterface(t.Key()) || c.mayHoldInterface(t.Elem())
	case reflect.Array, reflect.Slice, reflect.Pointer:
		return c.mayHoldInterface(t.Elem())
	case reflect.Struct:
		for f := range t.Fields() {
			if f.IsExported() && c.mayHoldInterface(f.Type) {
				return true
			}
		}
	}
	return false
}

// copy returns a copy of v in which values of declared types replace the boxes.
func (c *boxConverter) copy(v reflect.Value) reflect.Value {
	t := v.Type()
	if !c.mayHoldInterface(t) {
		return v
	}
	made := reflect.New(t).Elem()
	switch t.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		x := v.Elem()
		if _, ok := c.r.unbox(x.Interface()); ok {
			x = reflect.ValueOf(c.declared(x.Interface()))
		} else {
			x = c.copy(x)
		}
		if !x.Type().AssignableTo(t) {
			panic(&EncodingError{Package: c.pkg, Unseen: fmt.Sprintf("the values in a %s; use a type that is not an interface", t)})
		}
		made.Set(x)
	case reflect.Pointer:
		if v.IsNil() || c.active[v.UnsafePointer()] {
			return v
		}
		c.active[v.UnsafePointer()] = true
		defer delete(c.active, v.UnsafePointer())
		p := reflect.New(t.Elem())
		p.Elem().Set(c.copy(v.Elem()))
		made.Set(p.Convert(t))
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		made.Set(reflect.MakeSlice(t, v.Len(), v.Len()))
		for i := range v.Len() {
			made.Index(i).Set(c.copy(v.Index(i)))
		}
	case reflect.Array:
		for i := range v.Len() {
			made.Index(i).Set(c.copy(v.Index(i)))
		}
	case reflect.Map:
		if v.IsNil() {
			return v
		}
		made.Set(reflect.MakeMapWithSize(t, v.Len()))
		for i := v.MapRange(); i.Next(); {
			made.SetMapIndex(c.copy(i.Key()), c.copy(i.Value()))
		}
	case reflect.Struct:
		made.Set(v)
		for i := range t.NumField() {
			if t.Field(i).IsExported() {
				made.Field(i).Set(c.copy(v.Field(i)))
			}
		}
	}
	return made
}

// box replaces the values of declared types in the interfaces of v by boxes. v is of
// type w.
func (c *boxConverter) box(v reflect.Value, w view) error {
	if !c.mayHoldInterface(v.Type()) {
		return nil
	}
	switch v.Kind() {
	case reflect.Interface:
		return c.boxHeld(v, w)
	case reflect.Pointer:
		if v.IsNil() || c.active[v.UnsafePointer()] {
			return nil
		}
		c.active[v.UnsafePointer()] = true
		return c.box(v.Elem(), w.elem())
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if err := c.box(v.Index(i), w.elem()); err != nil {
				return err
			}
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			k, e := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			k.Set(key)
			e.Set(v.MapIndex(key))
			if err := c.box(k, w.key()); err != nil {
				return err
			}
			if err := c.box(e, w.elem()); err != nil {
				return err
			}
			v.SetMapIndex(key, reflect.Value{})
			v.SetMapIndex(k, e)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			_, f := w.field(i)
			if err := c.box(v.Field(i), f); err != nil {
				return err
			}
		}
	}
	return nil
}

// boxHeld is box for an interface value.
func (c *boxConverter) boxHeld(v reflect.Value, w view) error {
	if v.IsNil() {
		return nil
	}
	x := v.Elem()
	if _, ok := c.r.unbox(x.Interface()); ok {
		return nil
	}
	of := view{nil, x.Type()}
	known, registered := c.r.gobTypes.Load(x.Type())
	if registered {
		g := known.(gobType)
		x, of = underlying(x, g.raw), view{g.typ, g.raw}
	}
	inner := reflect.New(x.Type()).Elem()
	inner.Set(x)
	if err := c.box(inner, of); err != nil {
		return err
	}
	value := inner.Interface()
	if registered {
		value = of.d.box(value)
	}
	y, ok := c.r.implementing(value, w)
	if !ok {
		return &declaredError{text: fmt.Sprintf("%s: %s is not assignable to type %s", c.pkg, of, w)}
	}
	v.Set(reflect.ValueOf(y))
	return nil
}
