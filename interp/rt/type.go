package rt

import (
	"go/types"
	"reflect"
	"slices"
	"sync/atomic"

	"github.com/quernlab/quern/interp/origin"
)

// Type is the descriptor of a Go type at run time. Descriptors are canonical: two types have
// the same descriptor if and only if they are identical. So descriptors are compared by
// address.
type Type struct {
	id       int // first, so that reflect.DeepEqual distinguishes two descriptors immediately
	registry *Registry
	typ      types.Type
	name     string

	made     atomic.Pointer[madeType]     // the type of values in interfaces; nil before the first one, see box
	declared atomic.Pointer[declaredType] // the last complete type that has been made for it; nil if there is none
	methods  atomic.Pointer[[]registeredMethod]
	set      atomic.Pointer[methodSet] // nil for an interface

	embedded []*types.TypeName // types whose methods may be promoted; nil for an interface
	revised  atomic.Int64      // of a named type: how often one of its methods got another receiver or signature

	compiled reflect.Type // the compiled form of an interface, or nil

	holds []*Type // descriptors to keep alive for values of the type, once no later cell can mention it

	pointerTo atomic.Pointer[Type] // the descriptor of the pointer type, computed on demand

	parts atomic.Pointer[shape] // see shape; nil after a Sweep, if no later cell can mention the type
}

// shape has the descriptors of the components of a type. They are nil if a component is the same in lowered code.
type shape struct {
	elem, key *Type
	fields    []field
}

// field is one field of a struct type as it was declared. In lowered code all fields are
// exported and none is embedded; only the order is the same.
type field struct {
	name     string
	tag      reflect.StructTag
	exported bool
	embedded bool
	typ      *Type // nil if the type is the same in lowered code
}

// registeredMethod is a method with its name in method tables.
type registeredMethod struct {
	name string
	code MethodCode
	of   *types.Signature // nil if that is not known
}

// ID returns the identifier of the type in its registry.
func (t *Type) ID() int { return t.id }

// Type returns the type as go/types represents it.
func (t *Type) Type() types.Type { return t.typ }

// String returns the name of the type as %T prints it: main.P, []main.P,
// map[string]*main.P.
func (t *Type) String() string { return t.name }

// newType returns a new descriptor for t. The caller holds r.mu.
func (r *Registry) newType(id int, t types.Type) *Type {
	d := &Type{id: id, registry: r, typ: t, name: typeString(t)}
	if types.IsInterface(t) {
		d.findCompiled()
	} else {
		d.embedded = embeddedNames(nil, t)
		d.refresh()
	}
	return d
}

// findCompiled finds the compiled form of a named interface.
func (t *Type) findCompiled() {
	named, ok := t.typ.(*types.Named)
	if !ok {
		return
	}
	name, pkg := named.Obj().Name(), named.Obj().Pkg()
	if pkg == nil {
		if name == "error" {
			t.compiled = errorType
		}
		return
	}
	symbols := t.registry.config.Packages[pkg.Path()+"/"+pkg.Name()]
	if v, ok := symbols[name]; ok && v.Kind() == reflect.Pointer && v.Type().Elem().Kind() == reflect.Interface {
		t.compiled = v.Type().Elem()
	}
}

// shape computes the descriptors of the components on demand: types can be recursive, and
// most are never formatted.
func (t *Type) shape() *shape {
	if known := t.parts.Load(); known != nil {
		return known
	}
	r, s := t.registry, &shape{}
	switch u := t.typ.Underlying().(type) {
	case *types.Map:
		s.key, s.elem = r.child(u.Key()), r.child(u.Elem())
	case interface{ Elem() types.Type }: // a pointer, slice, array or channel
		s.elem = r.child(u.Elem())
	case *types.Struct:
		s.fields = make([]field, 0, u.NumFields())
		for i := range u.NumFields() {
			f := u.Field(i)
			s.fields = append(s.fields, field{
				name:     f.Name(),
				tag:      reflect.StructTag(u.Tag(i)),
				exported: f.Exported(),
				embedded: f.Embedded(),
				typ:      r.child(f.Type()),
			})
		}
	}
	t.parts.Store(s)
	return s
}

// register adds a method. If the method set does not have it yet, because a later cell has
// declared it, the set is computed again.
func (t *Type) register(m registeredMethod) {
	before, known := t.setMethod(m)
	if types.IsInterface(t.typ) {
		return
	}
	if pointer, ok := types.Unalias(t.typ).(*types.Pointer); ok {
		_, byValue := t.registry.Describe(pointer.Elem()).setMethod(registeredMethod{name: m.name})
		known = known || byValue
		if byValue {
			t.revise()
		}
	}
	if before.of != nil && m.of != nil && !types.Identical(before.of, m.of) {
		t.revise()
	}
	t.changed()
	if !known {
		t.registry.refreshEmbedding(typeName(t.typ))
	}
}

// revise is called when a method of t has got another receiver or signature. Its number of methods is the same, but values need another
// type.
func (t *Type) revise() {
	name := typeName(t.typ)
	if name == nil {
		return
	}
	base := t.registry.Describe(name.Type())
	base.revised.Add(1)
	base.changed()
	base.pointer().changed()
	t.registry.refreshEmbedding(name)
}

// setMethod adds a method, replaces it, or removes it if it has no code. It returns the one before, if there was one.
func (t *Type) setMethod(m registeredMethod) (before registeredMethod, known bool) {
	t.registry.methods.Lock()
	defer t.registry.methods.Unlock()
	var list []registeredMethod
	if old := t.methods.Load(); old != nil {
		list = *old
	}
	at := slices.IndexFunc(list, func(other registeredMethod) bool { return other.name == m.name })
	if at >= 0 {
		before = list[at]
	}
	switch {
	case at < 0 && m.code == nil:
		return before, false
	case at < 0:
		list = append(list, m) // readers of the old list do not see it
	case m.code == nil:
		list = slices.Delete(slices.Clone(list), at, at+1)
	default:
		list = slices.Clone(list)
		list[at] = m
	}
	t.methods.Store(&list)
	return before, at >= 0
}

// registered returns the code of a method that has been registered, or nil.
func (t *Type) registered(name string) MethodCode {
	if list := t.methods.Load(); list != nil {
		for _, m := range *list {
			if m.name == name {
				return m.code
			}
		}
	}
	return nil
}

// refreshEmbedding computes the method sets of the types that embed the named type again, because it may have a new method.
func (r *Registry) refreshEmbedding(name *types.TypeName) {
	r.mu.Lock()
	var list []*Type
	for _, id := range r.embedding[name] {
		if t := r.find(id); t != nil {
			list = append(list, t)
		}
	}
	r.mu.Unlock()
	for _, t := range list {
		t.changed()
	}
}

// declaredMethods returns a number that grows when a type gets a method that t may have: how many methods these types declare so far, and
// how often one of them got another receiver or signature. Cells only add and replace methods.
func (t *Type) declaredMethods() (n int) {
	n = t.registry.numMethods(typeName(t.typ))
	for _, name := range t.embedded {
		n += t.registry.numMethods(name)
	}
	return n
}

// numMethods is declaredMethods for the methods of a named type, and 0 if name is nil.
func (r *Registry) numMethods(name *types.TypeName) (n int) {
	if name == nil {
		return 0
	}
	if named, ok := name.Type().(*types.Named); ok {
		n = named.NumMethods()
	}
	if d, ok := r.byType.Load(name.Type()); ok {
		n += int(d.(*Type).revised.Load())
	}
	return n
}

// callable returns the code of a method that t itself declares, or nil. A method that has been neither called nor registered is
// compiled; callable panics with an *UncompiledMethodError if that fails.
func (t *Type) callable(name string) MethodCode {
	if code := t.registered(name); code != nil {
		return code
	}
	if types.IsInterface(t.typ) || t.registry.compiler == nil { // or code without packages
		return nil
	}
	selection := t.methodSet().find(name)
	if selection == nil {
		return nil
	}
	if err := t.registry.compiler(selection.Obj().(*types.Func)); err != nil {
		panic(&UncompiledMethodError{t.name, selection.Obj().Name(), err})
	}
	return t.registered(name)
}

// typeName returns the name of t or of its pointer target, or nil if that is not named.
func typeName(t types.Type) *types.TypeName {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	if n, ok := types.Unalias(t).(*types.Named); ok {
		return n.Obj()
	}
	return nil
}

// embeddedNames appends the names of the types whose methods t, or its pointer target, may
// have because it embeds them.
func embeddedNames(names []*types.TypeName, t types.Type) []*types.TypeName {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return names
	}
	for f := range s.Fields() {
		if name := typeName(f.Type()); f.Embedded() && !slices.Contains(names, name) {
			names = embeddedNames(append(names, name), f.Type())
		}
	}
	return names
}

// methodSet returns the method set. A method that t declares may take the place of a promoted one.
func (t *Type) methodSet() *methodSet {
	set := t.set.Load()
	if set.MethodSet == nil || set.declared != t.declaredMethods() {
		return t.refresh()
	}
	return set
}

// changed computes the method set again if a cell has declared methods since then.
func (t *Type) changed() {
	if t.set.Load().declared != t.declaredMethods() {
		t.refresh()
		t.registry.declared.version.Add(1)
	}
}

// refresh computes the method set.
func (t *Type) refresh() *methodSet {
	declared := t.declaredMethods()
	set := &methodSet{types.NewMethodSet(t.typ), declared}
	t.set.Store(set)
	t.registry.implements.Clear()
	return set
}

// methodSet is the method set of a type.
type methodSet struct {
	*types.MethodSet     // nil after a Sweep, if no later cell can mention the type: few values need it then
	declared         int // see declaredMethods
}

// find returns the method with the given name in a cell, or nil.
func (s *methodSet) find(name string) *types.Selection {
	if m := s.Lookup(nil, name); m != nil {
		return m
	}
	for m := range s.Methods() {
		if origin.MethodKey(m.Obj()) == name {
			return m
		}
	}
	return nil
}

// implementsInterface reports whether t, which is not an interface, has all methods of the
// interface i.
func (t *Type) implementsInterface(i *Type) bool {
	key := implementsKey{t, i}
	if known, ok := t.registry.implements.Load(key); ok {
		return known.(bool)
	}
	ok := t.missingMethod(i) == ""
	t.registry.implements.Store(key, ok)
	return ok
}

// missingMethod returns the name of the first method of the interface i that t does not
// have, or "".
func (t *Type) missingMethod(i *Type) string {
	set := t.methodSet()
	for _, m := range sortedMethods(i.typ.Underlying().(*types.Interface)) {
		have := set.Lookup(m.Pkg(), m.Name())
		if have == nil || !types.Identical(have.Obj().Type(), m.Type()) {
			return m.Name()
		}
	}
	return ""
}
