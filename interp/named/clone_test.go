package named

import (
	"reflect"
	"testing"
)

// hidden are the unexported methods of compiled types, which package reflect does not list: functions with the receiver first.
type hidden map[reflect.Type]map[string]any

// cloner copies compiled types: the copies have the same names, fields and methods, and the methods call those of the
// originals.
type cloner struct {
	owner  Owner
	hidden hidden
	made   map[reflect.Type]*Type
}

// clone makes copies of the types, which may mention each other.
func (c *cloner) clone(t testing.TB, all ...reflect.Type) {
	t.Helper()
	c.made = map[reflect.Type]*Type{}
	for _, original := range all {
		d := Declaration{Name: original.String(), Path: original.PkgPath(), Memory: original}
		for _, m := range c.methods(original) {
			d.Methods = append(d.Methods, m.MethodName)
		}
		made, err := c.owner.New(d)
		if err != nil {
			t.Fatal(err)
		}
		c.made[original] = made
	}
	for _, original := range all {
		var methods []Method
		for _, m := range c.methods(original) {
			methods = append(methods, Method{Name: m.Name, Type: c.signature(m.f.Type()), Call: c.call(m.f)})
		}
		if err := c.made[original].Complete(c.parts(original), methods); err != nil {
			t.Fatal(err)
		}
	}
}

// clonedMethod is a method of a compiled type: a function with the receiver first.
type clonedMethod struct {
	MethodName
	f reflect.Value
}

func (c *cloner) methods(t reflect.Type) (list []clonedMethod) {
	if t.Kind() == reflect.Interface {
		return nil
	}
	p := reflect.PointerTo(t)
	for m := range p.Methods() {
		if own, ok := t.MethodByName(m.Name); ok {
			list = append(list, clonedMethod{MethodName{Name: m.Name}, own.Func})
		} else {
			list = append(list, clonedMethod{MethodName{Name: m.Name, Pointer: true}, m.Func})
		}
	}
	for _, of := range []reflect.Type{t, p} {
		for name, f := range c.hidden[of] {
			list = append(list, clonedMethod{MethodName{Name: name, Pointer: of == p}, reflect.ValueOf(f)})
		}
	}
	return list
}

// signature returns the type of a method without the receiver.
func (c *cloner) signature(f reflect.Type) reflect.Type {
	var in, out []reflect.Type
	for i := 1; i < f.NumIn(); i++ {
		in = append(in, c.typ(f.In(i)))
	}
	for i := range f.NumOut() {
		out = append(out, c.typ(f.Out(i)))
	}
	return reflect.FuncOf(in, out, f.IsVariadic())
}

func (c *cloner) parts(t reflect.Type) (p Parts) {
	switch t.Kind() {
	case reflect.Struct:
		p.Fields = []reflect.StructField{}
		for f := range t.Fields() {
			f.Type = c.typ(f.Type)
			p.Fields = append(p.Fields, f)
		}
	case reflect.Interface:
		for m := range t.Methods() {
			p.Methods = append(p.Methods, Method{Name: m.Name, Path: m.PkgPath, Type: c.typ(m.Type)})
		}
	default:
		p.Type = c.literal(t)
	}
	return p
}

// typ returns the copy of t, or t with copies in place of the originals.
func (c *cloner) typ(t reflect.Type) reflect.Type {
	if made := c.made[t]; made != nil {
		return made.Type()
	}
	if t.Name() != "" {
		return t
	}
	return c.literal(t)
}

// literal returns the underlying type of t with copies in place of the originals.
func (c *cloner) literal(t reflect.Type) reflect.Type {
	switch t.Kind() {
	case reflect.Pointer:
		return reflect.PointerTo(c.typ(t.Elem()))
	case reflect.Slice:
		return reflect.SliceOf(c.typ(t.Elem()))
	case reflect.Array:
		return reflect.ArrayOf(t.Len(), c.typ(t.Elem()))
	case reflect.Map:
		return reflect.MapOf(c.typ(t.Key()), c.typ(t.Elem()))
	case reflect.Chan:
		return reflect.ChanOf(t.ChanDir(), c.typ(t.Elem()))
	case reflect.Func:
		var in, out []reflect.Type
		for p := range t.Ins() {
			in = append(in, c.typ(p))
		}
		for r := range t.Outs() {
			out = append(out, c.typ(r))
		}
		return reflect.FuncOf(in, out, t.IsVariadic())
	}
	if t.Name() != "" { // a number or a string
		return nil
	}
	return t
}

// call returns the code of a copy of the method f.
func (c *cloner) call(f reflect.Value) func(reflect.Value, []reflect.Value) []reflect.Value {
	return func(receiver reflect.Value, in []reflect.Value) []reflect.Value {
		args := []reflect.Value{reinterpret(receiver, f.Type().In(0))}
		for i, x := range in {
			args = append(args, reinterpret(x, f.Type().In(i+1)))
		}
		var out []reflect.Value
		if f.Type().IsVariadic() {
			out = f.CallSlice(args)
		} else {
			out = f.Call(args)
		}
		for i := range out {
			out[i] = reinterpret(out[i], c.typ(f.Type().Out(i)))
		}
		return out
	}
}

// reinterpret returns v as a value of type t, which has the same memory layout.
func reinterpret(v reflect.Value, t reflect.Type) reflect.Value {
	if v.Type() == t {
		return v
	}
	if v.Kind() == reflect.Interface {
		x := reflect.New(t).Elem()
		if !v.IsNil() {
			x.Set(v.Elem())
		}
		return x
	}
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	return reflect.NewAt(t, p.UnsafePointer()).Elem()
}
