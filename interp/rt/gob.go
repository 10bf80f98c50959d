package rt

import (
	"encoding/gob"
	"fmt"
	"go/types"
	"reflect"
	"strings"

	"github.com/quernlab/quern/interp/origin"
)

// registerGob is gob.RegisterName(name, x), or gob.Register(x) if name is empty. Package
// encoding/gob keeps the first type of a name until the process ends.
func (r *Registry) registerGob(name string, x any) {
	b, ok := r.unbox(x)
	switch {
	case ok && name == "":
		name = gobName(b.T)
	case name == "":
		gob.Register(x)
		return
	case !ok:
		gob.RegisterName(name, x)
		return
	}
	defer func() {
		text, ok := recover().(string)
		if !ok {
			return
		}
		if strings.HasPrefix(text, "gob: registering duplicate types for ") {
			old, _ := r.gobNames.Load(name)
			if t, ok := old.(*Type); !ok || t.name == b.T.name {
				text = fmt.Sprintf("gob: the name %q is registered for an earlier definition of %s, which package encoding/gob cannot forget: "+
					"restart the kernel, or register the type under another name with gob.RegisterName", name, b.T.name)
			}
		}
		panic(text)
	}()
	gob.RegisterName(name, x)
	parts(view{b.T, reflect.TypeOf(b.V)}, reflect.TypeOf(x), func(_ view, t reflect.Type) {
		if d, ok := r.declared.made.Load(t); ok {
			d.(*declaredType).made.Keep()
		}
	})
	r.gobNames.Store(name, b.T)
}

// gobName returns the name under which gob.Register registers t.
func gobName(t *Type) string {
	stars, base := "", types.Unalias(t.typ)
	if p, ok := base.(*types.Pointer); ok {
		stars, base = "*", types.Unalias(p.Elem())
	}
	n, ok := base.(*types.Named)
	if !ok || n.Obj().Pkg() == nil {
		return t.name
	}
	_, name, _ := strings.Cut(t.name, ".")
	return stars + origin.ImportPath(n.Obj().Pkg()) + "." + name
}

// DecodeGob is d.Decode(x). Interfaces of cells have no methods for package gob, which would store any value in them. Afterwards,
// DecodeGob removes what does not implement its interface, and returns the error of package gob.
func (r *Registry) DecodeGob(d *gob.Decoder, x any) error {
	err := d.Decode(x)
	if b, ok := r.unbox(x); ok && err == nil {
		err = r.checkInterfaces(view{b.T, reflect.TypeOf(b.V)}, reflect.ValueOf(b.V), map[reachable]bool{})
	}
	return err
}

// checkInterfaces returns an error if an interface in v, a raw value of w, holds a value that does not implement it.
func (r *Registry) checkInterfaces(w view, v reflect.Value, seen map[reachable]bool) (err error) {
	if w.d == nil {
		return nil
	}
	first := func(length int) bool {
		key := reachable{v.Pointer(), v.Type(), length}
		known := seen[key]
		seen[key] = true
		return !known
	}
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return nil
		}
		x := v.Elem().Interface()
		if !r.Implements(x, w.d) {
			if v.CanSet() {
				v.SetZero()
			}
			return &declaredError{fmt.Sprintf("gob: %s is not assignable to type %s", r.TypeName(x), w.d.name)}
		}
		of, raw := r.viewOf(reflect.ValueOf(x))
		return r.checkInterfaces(of, raw, seen)
	case reflect.Pointer:
		if !v.IsNil() && first(0) {
			return r.checkInterfaces(w.elem(), v.Elem(), seen)
		}
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && !first(v.Len()) {
			return nil
		}
		for i := 0; i < v.Len() && err == nil; i++ {
			err = r.checkInterfaces(w.elem(), v.Index(i), seen)
		}
	case reflect.Map:
		for i := v.MapRange(); i.Next() && err == nil; {
			if err = r.checkInterfaces(w.key(), i.Key(), seen); err == nil {
				err = r.checkInterfaces(w.elem(), i.Value(), seen)
			}
		}
	case reflect.Struct:
		for i := 0; i < v.NumField() && len(w.d.shape().fields) == v.NumField() && err == nil; i++ {
			_, f := w.field(i)
			err = r.checkInterfaces(f, v.Field(i), seen)
		}
	}
	return err
}

// declaredError is an error of a compiled package with a text of its own.
type declaredError struct{ text string }

func (e *declaredError) Error() string { return e.text }

func (*declaredError) compiledName() string { return "*errors.errorString" }
