package rt

import (
	"errors"
	"fmt"
	"go/types"
	"iter"
	"reflect"
	"slices"

	"github.com/quernlab/quern/interp/origin"
)

// Package reflect sees the types of cells as they were declared, but an interface of a cell has no methods for it. This file has what
// cells call instead where that matters, and where functions of cells have no address.

// TypeFor is reflect.TypeFor for the type t; p is a raw nil pointer to it.
func (r *Registry) TypeFor(t *Type, p any) reflect.Type {
	w := view{r.child(t.typ), reflect.TypeOf(p).Elem()}
	if w.d == nil {
		return w.t
	}
	return typeOfWord(r.makeType(w).word)
}

// isOwn reports whether t comes from package reflect. A cell can declare a type that embeds a reflect.Type.
func isOwn(t reflect.Type) bool { return reflect.TypeOf(t) == reflect.TypeOf(errorType) }

// commonType returns the type that package reflect takes for t as an argument: it asks for it by unexported methods.
func commonType(t reflect.Type) reflect.Type {
	if t == nil || isOwn(t) {
		return t
	}
	return reflect.SliceOf(t).Elem()
}

// interfaceOf returns the descriptor of t if that is an interface of a cell, and nil otherwise.
func (r *representations) interfaceOf(t reflect.Type) *Type {
	if t == nil || !isOwn(t) || t.Kind() != reflect.Interface {
		return nil
	}
	if m := r.madeAs(typeWord(t)); m != nil && m.t.compiled == nil {
		return m.t
	}
	return nil
}

// TypeImplements is t.Implements(u).
func (r *Registry) TypeImplements(t, u reflect.Type) bool {
	if !isOwn(t) {
		return t.Implements(u)
	}
	u = commonType(u)
	of, in := r.interfaceOf(t), r.interfaceOf(u)
	switch {
	case in == nil && (of == nil || u == nil || u.Kind() != reflect.Interface):
		return t.Implements(u)
	case in != nil && of == nil:
		if m := r.madeAs(typeWord(t)); m != nil {
			return m.t.implementsInterface(in)
		}
		return r.missingCompiled(t, in) == ""
	case in != nil:
		return types.Implements(of.typ, in.typ.Underlying().(*types.Interface))
	}
	methods := of.typ.Underlying().(*types.Interface)
	for want := range u.Methods() {
		have, _, _ := types.LookupFieldOrMethod(methods, false, nil, want.Name)
		if m, ok := have.(*types.Func); !ok || !r.sameSignature(want.Type, 0, m.Signature()) {
			return false
		}
	}
	return true
}

// toInterface reports whether a conversion from t to u depends on the methods of an interface of a cell, and whether it is possible.
func (r *Registry) toInterface(t, u reflect.Type) (possible, depends bool) {
	depends = r.interfaceOf(u) != nil || r.interfaceOf(t) != nil && u.Kind() == reflect.Interface
	return depends && (t == u || r.TypeImplements(t, u)), depends
}

// TypeAssignableTo is t.AssignableTo(u).
func (r *Registry) TypeAssignableTo(t, u reflect.Type) bool {
	if !isOwn(t) {
		return t.AssignableTo(u)
	}
	u = commonType(u)
	if possible, depends := r.toInterface(t, u); depends {
		return possible
	}
	return t.AssignableTo(u)
}

// TypeConvertibleTo is t.ConvertibleTo(u).
func (r *Registry) TypeConvertibleTo(t, u reflect.Type) bool {
	if !isOwn(t) {
		return t.ConvertibleTo(u)
	}
	u = commonType(u)
	if possible, depends := r.toInterface(t, u); depends {
		return possible
	}
	return t.ConvertibleTo(u)
}

// TypeNumMethod is t.NumMethod().
func (r *Registry) TypeNumMethod(t reflect.Type) int {
	if d := r.interfaceOf(t); d != nil {
		return d.typ.Underlying().(*types.Interface).NumMethods()
	}
	return t.NumMethod()
}

// TypeMethod is t.Method(i).
func (r *Registry) TypeMethod(t reflect.Type, i int) reflect.Method {
	d := r.interfaceOf(t)
	if d == nil {
		return t.Method(i)
	}
	methods := sortedMethods(d.typ.Underlying().(*types.Interface))
	if uint(i) >= uint(len(methods)) {
		panic("reflect: Method index out of range")
	}
	m := methods[i]
	result := reflect.Method{Name: m.Name(), Index: i}
	if !m.Exported() {
		result.PkgPath = origin.ImportPath(m.Pkg())
	}
	s := m.Signature()
	made, err := r.declaredType(r.Describe(types.NewSignatureType(nil, nil, nil, s.Params(), s.Results(), s.Variadic())))
	if err != nil {
		panic(fmt.Errorf("reflect: cannot make the type of the method %s of %s: %w", m.Name(), d.name, err))
	}
	result.Type = made
	return result
}

// TypeMethodByName is t.MethodByName(name).
func (r *Registry) TypeMethodByName(t reflect.Type, name string) (reflect.Method, bool) {
	if r.interfaceOf(t) == nil {
		return t.MethodByName(name)
	}
	for m := range r.TypeMethods(t) {
		if m.Name == name {
			return m, true
		}
	}
	return reflect.Method{}, false
}

// TypeMethods is t.Methods().
func (r *Registry) TypeMethods(t reflect.Type) iter.Seq[reflect.Method] {
	if r.interfaceOf(t) == nil {
		return t.Methods()
	}
	return func(yield func(reflect.Method) bool) {
		for i := range r.TypeNumMethod(t) {
			if !yield(r.TypeMethod(t, i)) {
				return
			}
		}
	}
}

// requireImplements panics if x cannot be stored in a variable of type t, an interface of a cell whose methods it does not have.
func (r *Registry) requireImplements(context string, x reflect.Value, t reflect.Type) {
	if !r.fits(x, t) {
		panic(context + ": value of type " + x.Type().String() + " is not assignable to type " + t.String())
	}
}

// ValueSet is v.Set(x).
func (r *Registry) ValueSet(v, x reflect.Value) {
	if v.Kind() == reflect.Interface && v.CanSet() {
		r.requireImplements("reflect.Set", x, v.Type())
	}
	v.Set(x)
}

// ValueSetMapIndex is v.SetMapIndex(key, elem).
func (r *Registry) ValueSetMapIndex(v, key, elem reflect.Value) {
	if v.Kind() == reflect.Map {
		r.requireImplements("reflect.Value.SetMapIndex", key, v.Type().Key())
		r.requireImplements("reflect.Value.SetMapIndex", elem, v.Type().Elem())
	}
	v.SetMapIndex(key, elem)
}

// ValueMapIndex is v.MapIndex(key).
func (r *Registry) ValueMapIndex(v, key reflect.Value) reflect.Value {
	if v.Kind() == reflect.Map {
		r.requireImplements("reflect.Value.MapIndex", key, v.Type().Key())
	}
	return v.MapIndex(key)
}

// ValueSetIterKey is v.SetIterKey(i).
func (r *Registry) ValueSetIterKey(v reflect.Value, i *reflect.MapIter) {
	if v.Kind() == reflect.Interface && v.CanSet() {
		r.requireImplements("reflect.MapIter.SetKey", i.Key(), v.Type())
	}
	v.SetIterKey(i)
}

// ValueSetIterValue is v.SetIterValue(i).
func (r *Registry) ValueSetIterValue(v reflect.Value, i *reflect.MapIter) {
	if v.Kind() == reflect.Interface && v.CanSet() {
		r.requireImplements("reflect.MapIter.SetValue", i.Value(), v.Type())
	}
	v.SetIterValue(i)
}

// ValueSend is v.Send(x).
func (r *Registry) ValueSend(v, x reflect.Value) {
	if v.Kind() == reflect.Chan {
		r.requireImplements("reflect.Value.Send", x, v.Type().Elem())
	}
	v.Send(x)
}

// ValueTrySend is v.TrySend(x).
func (r *Registry) ValueTrySend(v, x reflect.Value) bool {
	if v.Kind() == reflect.Chan {
		r.requireImplements("reflect.Value.Send", x, v.Type().Elem())
	}
	return v.TrySend(x)
}

// ReflectAppend is reflect.Append.
func (r *Registry) ReflectAppend(s reflect.Value, x ...reflect.Value) reflect.Value {
	if s.Kind() == reflect.Slice {
		for _, x := range x {
			r.requireImplements("reflect.Set", x, s.Type().Elem())
		}
	}
	return reflect.Append(s, x...)
}

// ReflectMakeFunc is reflect.MakeFunc.
func (r *Registry) ReflectMakeFunc(t reflect.Type, f func([]reflect.Value) []reflect.Value) reflect.Value {
	if !isOwn(t) || t.Kind() != reflect.Func || !slices.ContainsFunc(slices.Collect(t.Outs()), func(t reflect.Type) bool { return r.interfaceOf(t) != nil }) {
		return reflect.MakeFunc(t, f)
	}
	return reflect.MakeFunc(t, func(in []reflect.Value) []reflect.Value {
		out := f(in)
		for i := range min(len(out), t.NumOut()) {
			r.requireImplements("reflect.MakeFunc", out[i], t.Out(i))
		}
		return out
	})
}

// ReflectSelect is reflect.Select.
func (r *Registry) ReflectSelect(cases []reflect.SelectCase) (int, reflect.Value, bool) {
	for _, c := range cases {
		if c.Dir == reflect.SelectSend && c.Chan.Kind() == reflect.Chan {
			r.requireImplements("reflect.Select", c.Send, c.Chan.Type().Elem())
		}
	}
	return reflect.Select(cases)
}

// ValueConvert is v.Convert(t).
func (r *Registry) ValueConvert(v reflect.Value, t reflect.Type) reflect.Value {
	t = commonType(t)
	if (r.interfaceOf(t) != nil || v.IsValid() && r.interfaceOf(v.Type()) != nil) && !r.TypeConvertibleTo(v.Type(), t) {
		panic("reflect.Value.Convert: value of type " + v.Type().String() + " cannot be converted to type " + t.String())
	}
	return v.Convert(t)
}

// ValueCanConvert is v.CanConvert(t).
func (r *Registry) ValueCanConvert(v reflect.Value, t reflect.Type) bool {
	t = commonType(t)
	return v.CanConvert(t) && r.TypeConvertibleTo(v.Type(), t)
}

// ValueNumMethod is v.NumMethod().
func (r *Registry) ValueNumMethod(v reflect.Value) int {
	if v.Kind() == reflect.Interface {
		return r.TypeNumMethod(v.Type())
	}
	return v.NumMethod()
}

// ValueMethod is v.Method(i).
func (r *Registry) ValueMethod(v reflect.Value, i int) reflect.Value {
	if v.Kind() == reflect.Interface && r.interfaceOf(v.Type()) != nil {
		return r.methodOfInterface(v, r.TypeMethod(v.Type(), i))
	}
	return r.guarded(v, v.Method(i))
}

// ValueMethodByName is v.MethodByName(name).
func (r *Registry) ValueMethodByName(v reflect.Value, name string) reflect.Value {
	if v.Kind() == reflect.Interface && r.interfaceOf(v.Type()) != nil {
		m, ok := r.TypeMethodByName(v.Type(), name)
		if !ok {
			return reflect.Value{}
		}
		return r.methodOfInterface(v, m)
	}
	return r.guarded(v, v.MethodByName(name))
}

// ValueMethods is v.Methods().
func (r *Registry) ValueMethods(v reflect.Value) iter.Seq2[reflect.Method, reflect.Value] {
	return func(yield func(reflect.Method, reflect.Value) bool) {
		for i := range r.ValueNumMethod(v) {
			if !yield(r.TypeMethod(v.Type(), i), r.ValueMethod(v, i)) {
				return
			}
		}
	}
}

// methodOfInterface returns the method m of the value in an interface of a cell.
func (r *Registry) methodOfInterface(v reflect.Value, m reflect.Method) reflect.Value {
	switch {
	case v.IsNil():
		panic("reflect: Method on nil interface value")
	case !m.IsExported():
		return reflect.MakeFunc(m.Type, func([]reflect.Value) []reflect.Value { panic("reflect: Call of unexported method") })
	}
	return r.guarded(v.Elem(), v.Elem().MethodByName(m.Name))
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

// ValueCall is v.Call(in).
func (r *Registry) ValueCall(v reflect.Value, in []reflect.Value) []reflect.Value {
	r.checkCall(v, in)
	if v.Kind() == reflect.Func && v.Type().IsVariadic() {
		last := v.Type().NumIn() - 1
		for i := last; i < len(in); i++ {
			if t := v.Type().In(last).Elem(); !r.fits(in[i], t) {
				panic("reflect: cannot use " + in[i].Type().String() + " as type " + t.String() + " in Call")
			}
		}
	}
	return v.Call(in)
}

// ValueCallSlice is v.CallSlice(in).
func (r *Registry) ValueCallSlice(v reflect.Value, in []reflect.Value) []reflect.Value {
	r.checkCall(v, in)
	return v.CallSlice(in)
}

// checkCall panics if an argument does not implement an interface of a cell.
func (r *Registry) checkCall(v reflect.Value, in []reflect.Value) {
	if v.Kind() != reflect.Func || len(in) < v.Type().NumIn()-1 {
		return
	}
	for i := range min(len(in), v.Type().NumIn()) {
		if t := v.Type().In(i); !r.fits(in[i], t) {
			panic("reflect: Call using " + in[i].Type().String() + " as type " + t.String())
		}
	}
}

// CheckArgument panics if the interface value x, with which package reflect calls a function or a method, does not implement t.
func (r *Registry) CheckArgument(x reflect.Value, t *Type) {
	if !x.IsNil() && !r.Implements(x.Elem().Interface(), t) {
		panic("reflect: Call using " + x.Elem().Type().String() + " as type " + t.name)
	}
}

// fits reports whether x has the methods of t, if that is an interface of a cell.
func (r *Registry) fits(x reflect.Value, t reflect.Type) bool {
	return !x.IsValid() || r.interfaceOf(t) == nil || r.TypeAssignableTo(x.Type(), t)
}

// ErrorsAs is errors.As. An interface of a cell has no methods for package errors.
func (r *Registry) ErrorsAs(err error, target any) bool {
	pointer := reflect.ValueOf(target)
	if err == nil || pointer.Kind() != reflect.Pointer || pointer.IsNil() {
		return errors.As(err, target)
	}
	d := r.interfaceOf(pointer.Type().Elem())
	if d == nil {
		return errors.As(err, target)
	}
	return r.errorsAs(err, target, func(err error) bool {
		if !r.Implements(err, d) {
			return false
		}
		pointer.Elem().Set(reflect.ValueOf(err))
		return true
	})
}

func (r *representations) errorsAs(err error, target any, set func(error) bool) bool {
	for {
		if set(err) {
			return true
		}
		if as, ok := err.(interface{ As(any) bool }); ok && as.As(target) {
			return true
		}
		switch wrapper := err.(type) { //nolint:errorlint // this walks the chain itself
		case interface{ Unwrap() error }:
			if err = wrapper.Unwrap(); err == nil {
				return false
			}
		case interface{ Unwrap() []error }:
			for _, err := range wrapper.Unwrap() {
				if err != nil && r.errorsAs(err, target, set) {
					return true
				}
			}
			return false
		default:
			return false
		}
	}
}
