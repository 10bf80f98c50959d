package rt

import (
	"go/types"
	"reflect"
)

// view is a type at run time: its descriptor, nil for a compiled type, and the type of its
// raw values. Its methods return what reflect returns in compiled Go.
type view struct {
	d *Type
	t reflect.Type
}

// viewOf returns the type and the raw value of v, the contents of an interface.
func (r *representations) viewOf(v reflect.Value) (view, reflect.Value) {
	d, raw := r.unboxValue(v)
	return view{d, raw.Type()}, raw
}

func (w view) kind() reflect.Kind { return w.t.Kind() }

// name returns the name without the package, or "" for an unnamed type.
func (w view) name() string {
	if w.d == nil {
		return w.t.Name()
	}
	named, ok := w.d.typ.(*types.Named)
	if !ok {
		return ""
	}
	if pkg := named.Obj().Pkg(); pkg != nil {
		return w.d.name[len(pkg.Name())+len("."):]
	}
	return w.d.name
}

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
