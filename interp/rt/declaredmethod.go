package rt

import (
	"cmp"
	"fmt"
	"go/types"
	"image"
	"image/color"
	"net/http"
	"reflect"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/quernlab/quern/interp/named"
	"github.com/quernlab/quern/interp/origin"
)

// declaredType is a type that has been made for a type of a cell.
type declaredType struct {
	made     *named.Type
	t        *Type
	names    []*types.Selection  // the methods of a pointer to it
	methods  []compiledSignature // those of them that it has
	declared int                 // declaredMethods of t when it was made
	raw      atomic.Pointer[rawType]
}

// compiledSignature is a method of a type of a cell as compiled packages see it.
type compiledSignature struct {
	name string
	path string // the import path of the package of a method that is not exported
	typ  reflect.Type
	of   *types.Signature
}

// exportedMethods returns the exported methods of t by name, and those of compiled packages that are not exported, which t has
// because it embeds an interface such as testing.TB.
func (t *Type) exportedMethods() (list []*types.Selection) {
	for _, selection := range t.methodSet().byID {
		if m := selection.Obj(); m.Exported() || !origin.Interpreted(m.Pkg()) {
			list = append(list, selection)
		}
	}
	slices.SortFunc(list, func(a, b *types.Selection) int { return cmp.Compare(a.Obj().Id(), b.Obj().Id()) })
	return list
}

// compiledMethods returns the methods with their types, without those whose types cannot be made. The caller holds
// r.declared.mu.
func (r *Registry) compiledMethods(selections []*types.Selection) (list []compiledSignature) {
	for _, selection := range selections {
		m := selection.Obj()
		typ, err := r.declared.builder.Reflect(selection.Type())
		if err != nil {
			continue
		}
		s := compiledSignature{name: origin.MethodKey(m), typ: typ, of: selection.Type().(*types.Signature)}
		if !m.Exported() {
			s.name, s.path = m.Name(), origin.ImportPath(m.Pkg())
		}
		list = append(list, s)
	}
	return list
}

// methodNames returns the methods of d for a declaration.
func (d *declaredType) methodNames() (list []named.MethodName) {
	for _, selection := range d.names {
		m, path := selection.Obj(), ""
		if !m.Exported() {
			path = origin.ImportPath(m.Pkg())
		}
		list = append(list, named.MethodName{Name: m.Name(), Path: path, Pointer: d.byPointer(m.Name())})
	}
	return list
}

// byPointer reports whether only pointers have the method.
func (d *declaredType) byPointer(name string) bool {
	return d.t.methodSet().find(name) == nil
}

// methodsOf returns the methods of d with their code.
func (r *Registry) methodsOf(d *declaredType) (methods []named.Method) {
	for _, m := range d.methods {
		method := named.Method{Name: m.name, Path: m.path, Type: m.typ, Call: func(receiver reflect.Value, in []reflect.Value) []reflect.Value {
			return callCompiled(d.receiver(receiver), m, in)
		}}
		if word := wordOf(m, d.receiverAt(m.name)); word != nil {
			method.Word = reflect.ValueOf(word)
		}
		methods = append(methods, method)
	}
	return methods
}

// receiverAt returns a function that makes a box of the receiver of a method. Its parameter is that of named.Method.Word.
func (d *declaredType) receiverAt(name string) func(unsafe.Pointer) Box {
	if d.byPointer(name) {
		return func(p unsafe.Pointer) Box {
			var x any
			*interfaceWords(&x) = [2]unsafe.Pointer{typeWord(reflect.PointerTo(d.rawType())), p}
			return Box{d.t.pointer(), x}
		}
	}
	direct, copied := named.IsDirect(d.made.Type()), false
	switch d.made.Type().Kind() {
	case reflect.Struct, reflect.Array: // others are copied by the method
		copied = true
	}
	return func(p unsafe.Pointer) Box {
		raw := d.rawType()
		if p == nil && !direct {
			panic(&named.NilReceiverError{Path: "main", Type: d.made.Type().Name(), Method: name})
		}
		if copied && !direct {
			return Box{d.t, reflect.NewAt(raw, p).Elem().Interface()}
		}
		var x any
		*interfaceWords(&x) = [2]unsafe.Pointer{typeWord(raw), p}
		return Box{d.t, x}
	}
}

// wordOf returns the code of a method that compiled packages call often, without reflection, or nil. Its first
// parameter is that of named.Method.Word.
func wordOf(m compiledSignature, box func(unsafe.Pointer) Box) any {
	name := m.name
	switch m.typ {
	case reflect.TypeFor[func() int]():
		return func(p unsafe.Pointer) int { return call0[int](box(p), name) }
	case reflect.TypeFor[func() string]():
		return func(p unsafe.Pointer) string { return call0[string](box(p), name) }
	case reflect.TypeFor[func() bool]():
		return func(p unsafe.Pointer) bool { return call0[bool](box(p), name) }
	case reflect.TypeFor[func() error]():
		return func(p unsafe.Pointer) error { return call0[error](box(p), name) }
	case reflect.TypeFor[func() any]():
		return func(p unsafe.Pointer) any { return call0[any](box(p), name) }
	case reflect.TypeFor[func(any)]():
		return func(p unsafe.Pointer, x any) { callVoid1(box(p), name, x) }
	case reflect.TypeFor[func(int, int) bool]():
		return func(p unsafe.Pointer, i, j int) bool { return call2[bool](box(p), name, i, j) }
	case reflect.TypeFor[func(int, int)]():
		return func(p unsafe.Pointer, i, j int) { callVoid2(box(p), name, i, j) }
	case reflect.TypeFor[func([]byte) (int, error)]():
		return func(p unsafe.Pointer, b []byte) (int, error) { return call1x2[int, error](box(p), name, b) }
	case reflect.TypeFor[func(string) (int, error)]():
		return func(p unsafe.Pointer, s string) (int, error) { return call1x2[int, error](box(p), name, s) }
	case reflect.TypeFor[func() (byte, error)]():
		return func(p unsafe.Pointer) (byte, error) { return call0x2[byte, error](box(p), name) }
	case reflect.TypeFor[func() ([]byte, error)]():
		return func(p unsafe.Pointer) ([]byte, error) { return call0x2[[]byte, error](box(p), name) }
	case reflect.TypeFor[func([]byte) error]():
		return func(p unsafe.Pointer, b []byte) error { return call1[error](box(p), name, b) }
	case reflect.TypeFor[func() image.Rectangle]():
		return func(p unsafe.Pointer) image.Rectangle { return call0[image.Rectangle](box(p), name) }
	case reflect.TypeFor[func(int, int) color.Color]():
		return func(p unsafe.Pointer, x, y int) color.Color { return call2[color.Color](box(p), name, x, y) }
	case reflect.TypeFor[func(http.ResponseWriter, *http.Request)]():
		return func(p unsafe.Pointer, w http.ResponseWriter, r *http.Request) { callVoid2(box(p), name, w, r) }
	}
	return nil
}

// callCompiled calls a method of b with values of compiled types.
func callCompiled(b Box, m compiledSignature, in []reflect.Value) []reflect.Value {
	f, r := b.method(m.name), b.T.registry
	defer raiseAgain()
	for i := range in {
		raw := f.value.Type().In(i + 1)
		r.meet(m.of.Params().At(i).Type(), raw, in[i].Type())
		in[i] = passed(in[i], raw)
	}
	out := f.call(b, in...)
	for i := range out {
		r.meet(m.of.Results().At(i).Type(), out[i].Type(), m.typ.Out(i))
		out[i] = passed(out[i], m.typ.Out(i))
	}
	return out
}

// meet makes the made type of values of t known, whose raw type is raw: compiled code can call its methods without an interface
// value.
func (r *Registry) meet(t types.Type, raw, made reflect.Type) {
	if raw == made {
		return
	}
	if _, known := r.made.Load(typeWord(made)); !known {
		r.register(view{r.Describe(t), raw}, made, -1) // box makes the type again, in case it has got methods
	}
}

// passed returns v as a value of type t. Lowered code has raw types.
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
	return underlying(v, t)
}

// receiver returns the receiver of a method as a box. It has the type that was made, or is a pointer to it.
func (d *declaredType) receiver(v reflect.Value) Box {
	raw := d.rawType()
	if v.Type() == d.made.Type() {
		return Box{d.t, underlying(v, raw).Interface()}
	}
	return Box{d.t.pointer(), reflect.NewAt(raw, v.UnsafePointer()).Interface()}
}

// rawType returns the type of values of d in lowered code.
func (d *declaredType) rawType() reflect.Type {
	raw := d.raw.Load()
	if raw == nil {
		panic(fmt.Sprintf("rt: a method of %s was called before a value of it has become an interface value", d.t.name))
	}
	return raw.Type
}
