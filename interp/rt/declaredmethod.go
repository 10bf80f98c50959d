package rt

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"sync/atomic"

	"github.com/quernlab/quern/interp/named"
)

// declaredType is a type that has been made for a type of a cell.
type declaredType struct {
	made     *named.Type
	t        *Type
	methods  []compiledSignature // of a pointer to it
	declared int                 // declaredMethods of t when it was made
	raw      atomic.Pointer[rawType]
}

// compiledSignature is a method of a type of a cell. Only compiled types are in its signature, so that compiled packages may
// call it.
type compiledSignature struct {
	name string
	typ  reflect.Type
}

// compiledMethods returns the exported methods of t that compiled packages can call, by name. The caller holds
// r.declared.mu.
func (r *Registry) compiledMethods(t *Type) (list []compiledSignature) {
	for _, selection := range t.set.Load().byID {
		m := selection.Obj()
		if !m.Exported() || r.Mentions(selection.Type()) {
			continue
		}
		if typ, err := r.declared.builder.Reflect(selection.Type()); err == nil {
			list = append(list, compiledSignature{m.Name(), typ})
		}
	}
	slices.SortFunc(list, func(a, b compiledSignature) int { return cmp.Compare(a.name, b.name) })
	return list
}

// namedMethods returns the code of methods. box returns the receiver as a box.
func namedMethods(list []compiledSignature, box func(receiver reflect.Value) Box) (methods []named.Method) {
	for _, m := range list {
		methods = append(methods, named.Method{Name: m.name, Type: m.typ, Call: func(receiver reflect.Value, in []reflect.Value) []reflect.Value {
			return callCompiled(box(receiver), m, in)
		}})
	}
	return methods
}

// callCompiled calls a method of b with values of compiled types.
func callCompiled(b Box, m compiledSignature, in []reflect.Value) []reflect.Value {
	f := b.method(m.name)
	for i := range in {
		in[i] = passed(in[i], f.value.Type().In(i+1))
	}
	out := f.call(b, in...)
	for i := range out {
		out[i] = passed(out[i], m.typ.Out(i))
	}
	return out
}

// passed returns v as a value of type t. Lowered code has other types in the place of some compiled ones.
func passed(v reflect.Value, t reflect.Type) reflect.Value {
	switch {
	case v.Type() == t:
		return v
	case v.Kind() == reflect.Interface:
		x := reflect.New(t).Elem()
		if !v.IsNil() {
			x.Set(v.Elem())
		}
		return x
	}
	return v.Convert(t)
}

// receiver returns the receiver of a method as a box. It has the type that was made, or is a pointer to it.
func (d *declaredType) receiver(v reflect.Value) Box {
	raw := d.raw.Load()
	if raw == nil {
		panic(fmt.Sprintf("rt: a method of %s was called before a value of it has been passed to a compiled package", d.t.name))
	}
	if v.Type() == d.made.Type() {
		return Box{d.t, underlying(v, raw.Type).Interface()}
	}
	return Box{d.t.pointer(), reflect.NewAt(raw.Type, v.UnsafePointer()).Interface()}
}

// holder is the underlying type of the types of holderType.
type holder struct{ Value any }

// holderKey identifies a type of holderType: the type of the values, and how many methods it had.
type holderKey struct {
	t       *Type
	methods int
}

// holderType returns a compiled type for values of t, which have the raw type. A pointer to it has the methods of t.
// Package flag creates the zero value of the type of a flag.Value to find out whether the flag has a default.
func (r *Registry) holderType(t *Type, raw reflect.Type) reflect.Type {
	key := holderKey{t, t.declaredMethods()}
	if made, ok := r.flagTypes.Load(key); ok {
		return made.(reflect.Type)
	}
	r.declared.mu.Lock()
	methods := r.compiledMethods(t)
	r.declared.mu.Unlock()
	d := named.Declaration{Name: t.name, Path: "main", Memory: reflect.TypeFor[holder]()}
	for _, m := range methods {
		d.Methods = append(d.Methods, named.MethodName{Name: m.name, Pointer: true})
	}
	made, err := r.declared.owner.New(d)
	if err == nil {
		err = made.Complete(named.Parts{}, namedMethods(methods, func(receiver reflect.Value) Box {
			if v := (*holder)(receiver.UnsafePointer()).Value; v != nil {
				return v.(boxed).box()
			}
			if raw.Kind() == reflect.Pointer {
				return Box{t, reflect.New(raw.Elem()).Interface()}
			}
			return Box{t, reflect.Zero(raw).Interface()}
		}))
	}
	if err != nil {
		panic(&EncodingError{"flag", fmt.Sprintf("the methods of %s: %s", t.name, err), err})
	}
	r.yaegiWrappers.Store(reflect.PointerTo(made.Type()), struct{}{}) // unbox finds the value
	r.flagTypes.Store(key, made.Type())
	return made.Type()
}
