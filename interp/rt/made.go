package rt

import (
	"errors"
	"fmt"
	"go/types"
	"iter"
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/quernlab/quern/interp/lower/layout"
	"github.com/quernlab/quern/interp/named"
	"github.com/quernlab/quern/interp/origin"
)

// An interface value of a cell has the type that the cell declared, made at run time: compiled packages see its name, fields
// and methods. Lowered code calculates with raw values, whose types have neither names nor methods. The two have the same
// memory, so a conversion only replaces the type word of an interface value.

// madeType connects a type that has been made with the descriptor and the raw type.
type madeType struct {
	t       *Type
	word    unsafe.Pointer // of an interface with the made type
	raw     unsafe.Pointer // of an interface with the raw type
	version int64          // of declaredTypes
}

// declaredTypes creates and caches these types.
type declaredTypes struct {
	known       sync.Map // *Type to reflect.Type
	made        sync.Map // named reflect.Type to *declaredType
	separate    sync.Map // view to *declaredType, see separateType
	interfaces  sync.Map // *Type to reflect.Type, see newInterface
	owner       named.Owner
	retyped     atomic.Int64 // version at the last Retype
	retypedMaps atomic.Int64 // the same for Retype(true)
	version     atomic.Int64 // changes when a type gets methods, so that makeType finds out whether it has the type of a value

	making     sync.Mutex // held while a type is made
	mu         sync.Mutex // guards the fields below
	builder    layout.Builder
	incomplete []incompleteInterface
	signatures map[*Type]methodSignature // see methodType
}

// incompleteInterface is an interface type without its methods, which may mention types that are being made.
type incompleteInterface struct {
	made *named.Type
	of   *types.Interface
}

// interfaceWords returns the type word and the data word of x.
func interfaceWords(x *any) *[2]unsafe.Pointer { return (*[2]unsafe.Pointer)(unsafe.Pointer(x)) }

// typeWord returns the type word of an interface with the type t.
func typeWord(t reflect.Type) unsafe.Pointer { return interfaceWords((*any)(unsafe.Pointer(&t)))[1] }

// typeOfWord is the reverse of typeWord.
func typeOfWord(word unsafe.Pointer) reflect.Type {
	var x any
	interfaceWords(&x)[0] = word
	return reflect.TypeOf(x)
}

// box returns the raw value v, of the type t, as an interface value.
func (t *Type) box(v any) any {
	m, words := t.made.Load(), interfaceWords(&v)
	if m == nil || m.raw != words[0] || m.version != t.registry.declared.version.Load() {
		m = t.registry.makeType(view{t, reflect.TypeOf(v)})
	}
	words[0] = m.word
	return v
}

// unbox returns the descriptor and the raw value of x, if x has a type of a cell.
func (r *representations) unbox(x any) (Box, bool) {
	words := interfaceWords(&x)
	if words[0] == nil {
		return Box{}, false
	}
	m := r.madeAs(words[0])
	if m == nil {
		return Box{}, false
	}
	words[0] = m.raw
	return Box{m.t, x}, true
}

// madeAs returns what is known of the type with this word, and nil for a compiled type.
func (r *representations) madeAs(word unsafe.Pointer) *madeType {
	if known, ok := r.made.Load(word); ok {
		return known.(*madeType)
	}
	m, final := derived(r, typeOfWord(word))
	if !final {
		return m
	}
	known, _ := r.made.LoadOrStore(word, m)
	return known.(*madeType)
}

// derived returns what madeAs does for an unnamed type that package reflect has made of a type of a cell. final is false if a later
// cell may mention that type.
func derived(r *representations, t reflect.Type) (m *madeType, final bool) {
	if t.Name() != "" {
		return nil, true
	}
	registry := r.owner(t)
	if registry == nil {
		return nil, true
	}
	if t.Kind() == reflect.Pointer {
		if of := r.known(t.Elem()); of != nil {
			of.t.pointer() // has a descriptor now
		}
	}
	registry.mu.Lock()
	defer registry.mu.Unlock()
	for _, d := range registry.live {
		if registry.sameType(t, d.typ) {
			return &madeType{t: d, word: typeWord(t), raw: typeWord(r.rawOf(t))}, true
		}
	}
	return nil, false
}

// known returns what has been stored for t by register, or by madeAs.
func (r *representations) known(t reflect.Type) *madeType {
	m, _ := r.made.Load(typeWord(t))
	known, _ := m.(*madeType)
	return known
}

// owner returns the registry of a type of a cell in t, and nil if there is none.
func (r *representations) owner(t reflect.Type) (found *Registry) {
	if m := r.known(t); m != nil {
		return m.t.registry
	}
	if t.Name() != "" {
		return nil
	}
	components(t, func(part reflect.Type) reflect.Type {
		if found == nil {
			found = r.owner(part)
		}
		return part
	})
	return found
}

// rawOf returns the type in lowered code of the values of t.
func (r *representations) rawOf(t reflect.Type) reflect.Type {
	if m := r.known(t); m != nil {
		return typeOfWord(m.raw)
	}
	if t.Name() != "" {
		return t
	}
	return components(t, r.rawOf)
}

// components returns the unnamed type t with other components, which replace returns. A struct remains as it is: raw ones may be
// recursive.
func components(t reflect.Type, replace func(reflect.Type) reflect.Type) reflect.Type {
	all := func(list iter.Seq[reflect.Type]) (made []reflect.Type) {
		for t := range list {
			made = append(made, replace(t))
		}
		return made
	}
	switch t.Kind() {
	case reflect.Pointer:
		return reflect.PointerTo(replace(t.Elem()))
	case reflect.Slice:
		return reflect.SliceOf(replace(t.Elem()))
	case reflect.Array:
		return reflect.ArrayOf(t.Len(), replace(t.Elem()))
	case reflect.Chan:
		return reflect.ChanOf(t.ChanDir(), replace(t.Elem()))
	case reflect.Map:
		return reflect.MapOf(replace(t.Key()), replace(t.Elem()))
	case reflect.Func:
		return reflect.FuncOf(all(t.Ins()), all(t.Outs()), t.IsVariadic())
	}
	return t
}

// makeType makes the type for values of w, or finds it.
func (r *Registry) makeType(w view) *madeType {
	r.declared.making.Lock()
	defer r.declared.making.Unlock()
	for {
		version := r.declared.version.Load()
		t := r.typeFor(w)
		if t == w.t {
			t = r.separateType(w)
		}
		outdated := r.outdated(w, t)
		if outdated == nil {
			r.register(w, t, version)
			return w.d.made.Load()
		}
		r.declared.forget(outdated)
	}
}

// typeFor returns the type for values of w.
func (r *Registry) typeFor(w view) reflect.Type {
	if w.d == nil || !w.sameKind() {
		return w.t
	}
	switch w.d.typ.(type) {
	case *types.Pointer:
		return reflect.PointerTo(r.typeFor(w.elem()))
	case *types.Slice:
		return reflect.SliceOf(r.typeFor(w.elem()))
	case *types.Array:
		return reflect.ArrayOf(w.t.Len(), r.typeFor(w.elem()))
	case *types.Chan:
		return reflect.ChanOf(w.t.ChanDir(), r.typeFor(w.elem()))
	case *types.Map:
		return reflect.MapOf(r.typeFor(w.key()), r.typeFor(w.elem()))
	}
	t, err := r.declaredType(w.d)
	unsupported, exhausted := (*named.UnsupportedError)(nil), (*named.ExhaustedError)(nil)
	if errors.As(err, &unsupported) || errors.As(err, &exhausted) {
		panic(&MethodsError{w.d.name, err})
	}
	if err != nil || t == w.t || !sameLayout(w.t, t, map[[2]reflect.Type]bool{}) || r.isTaken(t, w.d) {
		return r.separateType(w)
	}
	return t
}

// sameKind reports whether the raw type is of the kind of the declared one. It is not for parts of some types of compiled packages,
// such as unique.Handle, which are others in lowered code.
func (w view) sameKind() bool {
	k := w.kind()
	switch w.d.typ.Underlying().(type) {
	case *types.Pointer:
		return k == reflect.Pointer
	case *types.Slice:
		return k == reflect.Slice
	case *types.Array:
		return k == reflect.Array
	case *types.Chan:
		return k == reflect.Chan
	case *types.Map:
		return k == reflect.Map
	case *types.Struct:
		return k == reflect.Struct
	case *types.Signature:
		return k == reflect.Func
	case *types.Interface:
		return k == reflect.Interface
	}
	return true
}

// isTaken reports whether another type than d has the made type t.
func (r *Registry) isTaken(t reflect.Type, d *Type) bool {
	known, ok := r.made.Load(typeWord(t))
	return ok && known.(*madeType) != nil && known.(*madeType).t != d
}

// separateType returns a type for values of w that no other type has. The fields of a struct have types that typeFor returns for
// them, and other components are raw types.
func (r *Registry) separateType(w view) reflect.Type {
	if known, ok := r.declared.separate.Load(w); ok {
		if d := known.(*declaredType); d.declared == w.d.declaredMethods() {
			return d.made.Type()
		}
	}
	d := &declaredType{t: w.d, declared: w.d.declaredMethods(), names: w.d.allMethods()}
	declaration := named.Declaration{Name: w.d.name, Path: "main", Memory: w.t, Methods: d.methodNames()}
	if name := typeName(w.d.typ); name != nil {
		declaration.Path = origin.ImportPath(name.Pkg())
	}
	made, err := r.declared.owner.New(declaration)
	if err == nil {
		d.made = made
		r.declared.made.Store(made.Type(), d)
		r.declared.separate.Store(w, d) // fields may mention it
		parts := named.Parts{Fields: r.separateFields(w, declaration.Path)}
		r.declared.mu.Lock()
		methods := r.compiledMethods(d.names)
		r.completeInterfaces()
		r.declared.mu.Unlock()
		if err = made.Complete(parts, r.methodsOf(d, methods)); err != nil && parts.Fields != nil {
			err = made.Complete(named.Parts{}, r.methodsOf(d, methods))
		}
		d.names = nil
	}
	if err != nil {
		r.declared.separate.Delete(w)
		panic(&MethodsError{w.d.name, err})
	}
	w.d.declared.Store(d)
	return made.Type()
}

// separateFields returns the fields of a struct, and nil for other types and for those that have other fields in lowered code,
// such as weak.Pointer.
func (r *Registry) separateFields(w view, path string) []reflect.StructField {
	if w.kind() != reflect.Struct || len(w.d.shape().fields) != w.t.NumField() {
		return nil
	}
	fields := make([]reflect.StructField, w.t.NumField())
	for i := range fields {
		f, of := w.field(i)
		fields[i] = reflect.StructField{Name: f.name, Tag: f.tag, Anonymous: f.embedded, Type: r.typeFor(of)}
		if !f.exported {
			fields[i].PkgPath = path
		}
	}
	return fields
}

// newDeclared makes the named type for n, whose memory is like that of memory. The builder calls it.
func (r *Registry) newDeclared(t types.Type, memory reflect.Type) (*named.Type, error) {
	d := &declaredType{t: r.Describe(t)}
	d.declared = d.t.declaredMethods()
	d.names = d.t.allMethods()
	declaration := named.Declaration{Name: d.t.name, Path: "main", Memory: memory, Methods: d.methodNames(), Literal: true}
	if n, ok := t.(*types.Named); ok {
		declaration.Path, declaration.Literal = origin.ImportPath(n.Obj().Pkg()), false
	}
	made, err := r.declared.owner.New(declaration)
	if err != nil {
		return nil, err
	}
	d.made = made
	r.declared.made.Store(made.Type(), d)
	return made, nil
}

// newInterface makes the type for the interface t. completeInterfaces gives it its methods. The builder calls it.
func (r *Registry) newInterface(t types.Type) reflect.Type {
	d := r.Describe(t)
	if made, ok := r.declared.interfaces.Load(d); ok {
		return made.(reflect.Type)
	}
	of := t.Underlying().(*types.Interface)
	raw := reflect.TypeFor[layout.Interface]()
	if of.NumMethods() == 0 {
		raw = reflect.TypeFor[any]()
	}
	declaration := named.Declaration{Name: d.name, Path: "main", Memory: raw, Literal: true}
	if name := typeName(t); name != nil {
		declaration.Path, declaration.Literal = origin.ImportPath(name.Pkg()), false
	}
	made, err := r.declared.owner.New(declaration)
	if err != nil {
		panic(err)
	}
	r.declared.incomplete = append(r.declared.incomplete, incompleteInterface{made, of})
	r.declared.interfaces.Store(d, made.Type())
	word := typeWord(made.Type())
	r.made.Store(word, &madeType{t: d, word: word, raw: typeWord(raw)})
	return made.Type()
}

// completeInterfaces gives the types of newInterface their methods. The caller holds r.declared.mu.
func (r *Registry) completeInterfaces() {
	for len(r.declared.incomplete) > 0 {
		next := r.declared.incomplete[0]
		r.declared.incomplete = r.declared.incomplete[1:]
		var parts named.Parts
		for m := range next.of.Methods() {
			s, ok := r.compiledMethod(m, true)
			if !ok {
				s.typ = reflect.TypeFor[func()]() // the types of cells do not have the method then, and named.Table makes their tables
			}
			parts.Methods = append(parts.Methods, named.Method{Name: m.Name(), Path: s.path, Type: s.typ})
		}
		if err := next.made.Complete(parts, nil); err != nil {
			panic(err)
		}
	}
}

// InterfaceType returns the type of the interface t of a cell, and that of a compiled one.
func (r *Registry) InterfaceType(t *Type) reflect.Type {
	if t.compiled != nil {
		return t.compiled
	}
	if made, ok := r.declared.interfaces.Load(t); ok {
		return made.(reflect.Type)
	}
	made, err := r.declaredType(t)
	if err != nil {
		panic(&MethodsError{t.name, err})
	}
	return made
}

// completeDeclared gives a type of newDeclared its parts and methods. The builder calls it.
func (r *Registry) completeDeclared(_ types.Type, made *named.Type, parts named.Parts) error {
	known, _ := r.declared.made.Load(made.Type())
	d := known.(*declaredType)
	err := made.Complete(parts, r.methodsOf(d, r.compiledMethods(d.names)))
	d.names = nil
	if err == nil {
		d.t.declared.Store(d)
	}
	return err
}

// declaredType returns the created type for t.
func (r *Registry) declaredType(t *Type) (reflect.Type, error) {
	if made, ok := r.declared.known.Load(t); ok {
		return made.(reflect.Type), nil
	}
	r.declared.mu.Lock()
	defer r.declared.mu.Unlock()
	made, err := r.declared.builder.Reflect(t.typ)
	r.completeInterfaces()
	if err == nil {
		r.declared.known.Store(t, made)
	}
	return made, err
}

// Close releases what is shared with other sessions of the process. No code of the
// session's cells may run any more.
func (r *Registry) Close() { r.declared.owner.Close() }

// forget makes declaredType make the types and all that mention them again.
func (t *declaredTypes) forget(all []*types.Named) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.known.Clear()
	t.builder.Forget(all...)
}

// sameLayout reports whether values of the two types, and of those that they mention, have the same memory layout.
func sameLayout(a, b reflect.Type, seen map[[2]reflect.Type]bool) bool {
	pair := [2]reflect.Type{a, b}
	if a == b || seen[pair] {
		return true
	}
	seen[pair] = true
	if a.Kind() != b.Kind() || a.Size() != b.Size() || a.Align() != b.Align() {
		return false
	}
	switch a.Kind() {
	case reflect.Struct:
		if a.NumField() != b.NumField() {
			return false
		}
		for i := range a.NumField() {
			f, g := a.Field(i), b.Field(i)
			if f.Offset != g.Offset || !sameLayout(f.Type, g.Type, seen) {
				return false
			}
		}
	case reflect.Map:
		return sameLayout(a.Key(), b.Key(), seen) && sameLayout(a.Elem(), b.Elem(), seen)
	case reflect.Array, reflect.Slice, reflect.Pointer, reflect.Chan:
		return sameLayout(a.Elem(), b.Elem(), seen)
	case reflect.Func:
		if a.NumIn() != b.NumIn() || a.NumOut() != b.NumOut() {
			return true // another representation of the function, whose parameters nothing compares
		}
		return sameLayouts(a, b, 0, seen)
	}
	return true
}

// sameLayouts is sameLayout for the parameters and results of functions with as many of them. b has others before the parameters of a.
func sameLayouts(a, b reflect.Type, others int, seen map[[2]reflect.Type]bool) bool {
	for i := range a.NumIn() {
		if !sameLayout(a.In(i), b.In(i+others), seen) {
			return false
		}
	}
	for i := range a.NumOut() {
		if !sameLayout(a.Out(i), b.Out(i), seen) {
			return false
		}
	}
	return true
}

// parts calls visit for the type of values of w, for which t has been made, and for each type of a cell that it contains.
func parts(w view, t reflect.Type, visit func(w view, t reflect.Type)) {
	seen := map[reflect.Type]bool{}
	var walk func(w view, t reflect.Type)
	walk = func(w view, t reflect.Type) {
		if w.d == nil || t == w.t || seen[t] {
			return // t == w.t: it has no name, and its components may be others than those of w.d
		}
		seen[t] = true
		visit(w, t)
		switch t.Kind() {
		case reflect.Struct:
			for i := range t.NumField() {
				_, f := w.field(i)
				walk(f, t.Field(i).Type)
			}
		case reflect.Map:
			walk(w.key(), t.Key())
			walk(w.elem(), t.Elem())
		case reflect.Array, reflect.Slice, reflect.Pointer, reflect.Chan:
			walk(w.elem(), t.Elem())
		case reflect.Func:
			s, r := w.d.typ.Underlying().(*types.Signature), w.d.registry
			if w.kind() != reflect.Func || w.t.NumIn() != t.NumIn() || w.t.NumOut() != t.NumOut() {
				return // the function has another representation
			}
			for i := range t.NumIn() {
				walk(view{r.child(s.Params().At(i).Type()), w.t.In(i)}, t.In(i))
			}
			for i := range t.NumOut() {
				walk(view{r.child(s.Results().At(i).Type()), w.t.Out(i)}, t.Out(i))
			}
		}
	}
	walk(w, t)
}

// outdated returns the declared types in the made type t, of values of w, that have got methods since they were made.
func (r *Registry) outdated(w view, t reflect.Type) (list []*types.Named) {
	parts(w, t, func(w view, t reflect.Type) {
		d, ok := r.declared.made.Load(t)
		if n, named := types.Unalias(w.d.typ).(*types.Named); ok && named && d.(*declaredType).declared != w.d.declaredMethods() {
			list = append(list, n)
		}
	})
	return list
}

// register makes the parts of the made type t known, which values of w have.
func (r *Registry) register(w view, t reflect.Type, version int64) {
	parts(w, t, func(part view, t reflect.Type) {
		m := &madeType{part.d, typeWord(t), typeWord(part.t), version}
		if known, ok := r.made.Load(m.word); !ok || known.(*madeType) == nil || known.(*madeType).t == m.t {
			r.made.Store(m.word, m)
		}
		if part.d == w.d {
			w.d.made.Store(m)
		}
	})
}

// A MethodsError reports a type of a cell that cannot have the methods that compiled packages would call.
type MethodsError struct {
	Type string
	Err  error
}

func (e *MethodsError) Error() string {
	return fmt.Sprintf("compiled packages cannot call the methods of %s: %s", e.Type, e.Err)
}

// Unwrap returns the reason.
func (e *MethodsError) Unwrap() error { return e.Err }

// RuntimeError makes it a runtime.Error.
func (*MethodsError) RuntimeError() {}
