package rt

import (
	"go/types"
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
	names    []*types.Selection // the methods of a pointer to it; nil when it is complete
	declared int                // declaredMethods of t when it was made
}

// compiledSignature is a method of a type of a cell as compiled packages see it.
type compiledSignature struct {
	name string
	path string // the import path of the package of a method that is not exported
	typ  reflect.Type
	of   *types.Signature
}

// exportedMethods returns the exported methods of t, and those of compiled packages that are not exported, which t has
// because it embeds an interface such as testing.TB.
func (t *Type) exportedMethods() (list []*types.Selection) {
	for selection := range t.methodSet().Methods() {
		if m := selection.Obj(); m.Exported() || !origin.Interpreted(m.Pkg()) {
			list = append(list, selection)
		}
	}
	return list
}

// compiledMethods returns the methods with their types, without those whose types cannot be made. The caller holds
// r.declared.mu.
func (r *Registry) compiledMethods(selections []*types.Selection) (list []compiledSignature) {
	for _, selection := range selections {
		m := selection.Obj()
		typ, err := r.declared.builder.Reflect(m.Type())
		if err != nil {
			continue
		}
		s := compiledSignature{name: origin.MethodKey(m), typ: typ, of: m.Type().(*types.Signature)}
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

// methodsOf returns methods of d with their code.
func (r *Registry) methodsOf(d *declaredType, signatures []compiledSignature) (methods []named.Method) {
	for _, m := range signatures {
		c := &compiledCall{t: d.t, memory: d.made.Type(), compiledSignature: m}
		if d.byPointer(m.name) {
			c.t, c.memory = d.t.pointer(), reflect.PointerTo(c.memory)
		}
		in := slices.Insert(slices.Collect(m.typ.Ins()), 0, reflect.TypeFor[unsafe.Pointer]())
		f := reflect.FuncOf(in, slices.Collect(m.typ.Outs()), m.typ.IsVariadic())
		methods = append(methods, named.Method{Name: m.name, Path: m.path, Type: m.typ, Word: reflect.MakeFunc(f, c.call)})
	}
	return methods
}

// compiledCall is a method of a made type for calls from compiled packages.
type compiledCall struct {
	compiledSignature
	t      *Type
	memory reflect.Type // the made type that has the method
	found  atomic.Pointer[foundMethod]
}

// foundMethod is a Method until another method is registered.
type foundMethod struct {
	*Method
	registered int64
}

// call runs the method. The first argument is the data word of the receiver; see named.Method.Word.
func (c *compiledCall) call(in []reflect.Value) []reflect.Value {
	defer raiseAgain()
	r, m, word := c.t.registry, c.method(), in[0].UnsafePointer()
	in = in[1:]
	for m.Code == nil {
		x := m.Value(word)
		if m = r.Method(x, c.name); m == nil {
			return call(r.Bound(x, c.name), in)
		}
		word = interfaceWords(&x)[1]
	}
	if m.Receiver != nil {
		word = m.Receiver(word)
	} else if word == nil && c.memory.Kind() != reflect.Pointer && !named.IsDirect(c.memory) {
		panic(&named.NilReceiverError{Path: "main", Type: c.memory.Name(), Method: c.name})
	}
	lowered := m.Code.Type()
	for i := range in {
		in[i] = retyped(in[i], lowered.In(i+1))
	}
	out := m.Code.Call(word, in)
	for i := range out {
		out[i] = retyped(out[i], c.typ.Out(i))
	}
	return out
}

// call calls f, whose variadic parameter gets a slice.
func call(f reflect.Value, in []reflect.Value) []reflect.Value {
	if f.Type().IsVariadic() {
		return f.CallSlice(in)
	}
	return f.Call(in)
}

// method returns what call runs.
func (c *compiledCall) method() *Method {
	r := c.t.registry
	registered := r.registered.Load()
	if found := c.found.Load(); found != nil && found.registered == registered {
		return found.Method
	}
	m := c.t.find(c.name, c.memory)
	if m.Code != nil {
		lowered := m.Code.Type()
		for i := range c.typ.NumIn() {
			r.meet(c.of.Params().At(i).Type(), lowered.In(i+1), c.typ.In(i))
		}
		for i := range c.typ.NumOut() {
			r.meet(c.of.Results().At(i).Type(), lowered.Out(i), c.typ.Out(i))
		}
	}
	c.found.Store(&foundMethod{m, registered})
	return m
}

// meet makes the made type of values of t known, whose raw type is raw: compiled code can have values of it that have never been in
// an interface of a cell.
func (r *Registry) meet(t types.Type, raw, made reflect.Type) {
	if raw == made {
		return
	}
	if _, known := r.made.Load(typeWord(made)); !known {
		r.register(view{r.Describe(t), raw}, made, -1) // box makes the type again, in case it has got methods
	}
}
