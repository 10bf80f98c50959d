package rt

import (
	"go/types"
	"iter"
	"reflect"
	"slices"
	"strings"

	"github.com/quernlab/quern/interp/origin"
)

// typeWrapper is the reflect.Type of a type that mentions an interpreted one. Its names,
// methods and fields are those of the declaration, its layout is that of the raw value.
// Functions of package reflect that take a type use only its layout.
type typeWrapper struct {
	reflect.Type // of the raw value
	d            *Type
}

func (typeWrapper) compiledName() string { return "*reflect.rtype" }

// TypeOf is reflect.TypeOf.
func (r *representations) TypeOf(x any) reflect.Type {
	if x == nil {
		return nil
	}
	w, _ := r.viewOf(reflect.ValueOf(x))
	return r.reflectType(w)
}

// TypeFor is reflect.TypeFor for the type t; p is a raw nil pointer to it.
func (r *Registry) TypeFor(t *Type, p any) reflect.Type {
	return r.reflectType(view{r.child(t.typ), reflect.TypeOf(p).Elem()})
}

func (r *representations) reflectType(w view) reflect.Type {
	if w.d == nil {
		return compiledType(w.t)
	}
	return typeWrapper{w.t, w.d}
}

// TypeImplements is t.Implements(u). Lowered code does not call that method, because a
// compiled t does not know the methods of an interface declared in a cell.
func (r *Registry) TypeImplements(t, u reflect.Type) bool {
	if other, ok := u.(typeWrapper); ok && u.Kind() == reflect.Interface {
		if _, ok := t.(typeWrapper); !ok {
			return r.missingCompiled(t, other.d) == ""
		}
	}
	return t.Implements(u)
}

// TypeAssignableTo is t.AssignableTo(u).
func (r *Registry) TypeAssignableTo(t, u reflect.Type) bool {
	if other, ok := u.(typeWrapper); ok {
		if _, ok := t.(typeWrapper); !ok {
			return other.Kind() == reflect.Interface && r.TypeImplements(t, u)
		}
	}
	return t.AssignableTo(u)
}

func (t typeWrapper) view() view               { return view{t.d, t.Type} }
func (t typeWrapper) wrap(w view) reflect.Type { return t.d.registry.reflectType(w) }
func (t typeWrapper) Name() string             { return t.view().name() }
func (t typeWrapper) String() string           { return t.d.name }
func (t typeWrapper) Comparable() bool         { return types.Comparable(t.d.typ) }
func (t typeWrapper) NumMethod() int           { return len(t.exported()) }
func (t typeWrapper) ConvertibleTo(u reflect.Type) bool {
	if other, ok := u.(typeWrapper); ok {
		return types.ConvertibleTo(t.d.typ, other.d.typ)
	}
	return t.Type.ConvertibleTo(u)
}

// requireKind panics with the text of package reflect unless the type is of one of the kinds.
func (t typeWrapper) requireKind(text string, kinds ...reflect.Kind) {
	if !slices.Contains(kinds, t.Kind()) {
		panic("reflect: " + text + " " + t.d.name)
	}
}

// Elem implements reflect.Type.
func (t typeWrapper) Elem() reflect.Type {
	t.requireKind("Elem of invalid type", reflect.Array, reflect.Chan, reflect.Map, reflect.Pointer, reflect.Slice)
	return t.wrap(t.view().elem())
}

// Key implements reflect.Type.
func (t typeWrapper) Key() reflect.Type {
	t.requireKind("Key of non-map type", reflect.Map)
	return t.wrap(t.view().key())
}

// Len implements reflect.Type.
func (t typeWrapper) Len() int {
	t.requireKind("Len of non-array type", reflect.Array)
	return t.Type.Len()
}

// ChanDir implements reflect.Type.
func (t typeWrapper) ChanDir() reflect.ChanDir {
	t.requireKind("ChanDir of non-chan type", reflect.Chan)
	return t.Type.ChanDir()
}

// NumField implements reflect.Type.
func (t typeWrapper) NumField() int {
	t.requireKind("NumField of non-struct type", reflect.Struct)
	return t.Type.NumField()
}

// PkgPath implements reflect.Type.
func (t typeWrapper) PkgPath() string {
	if named, ok := t.d.typ.(*types.Named); ok && named.Obj().Pkg() != nil {
		return origin.ImportPath(named.Obj().Pkg())
	}
	return ""
}

// Implements reports whether the type implements the interface type u, which is compiled
// or declared in a cell.
func (t typeWrapper) Implements(u reflect.Type) bool {
	if u == nil {
		panic("reflect: nil type passed to Type.Implements")
	}
	if u.Kind() != reflect.Interface {
		panic("reflect: non-interface type passed to Type.Implements")
	}
	if other, ok := u.(typeWrapper); ok {
		return types.Implements(t.d.typ, other.d.typ.Underlying().(*types.Interface))
	}
	for i := range u.NumMethod() {
		want := u.Method(i)
		have := t.find(want.Name)
		if have == nil || !t.d.registry.sameSignature(want.Type, 0, have.Type().(*types.Signature)) {
			return false
		}
	}
	return true
}

// AssignableTo reports whether a value of the type is assignable to u.
func (t typeWrapper) AssignableTo(u reflect.Type) bool {
	if other, ok := u.(typeWrapper); ok {
		return types.AssignableTo(t.d.typ, other.d.typ)
	}
	if u.Kind() == reflect.Interface {
		return t.Implements(u)
	}
	return false
}

// exported returns the exported methods in the order of their names. For an interface it
// returns all methods.
func (t typeWrapper) exported() []*types.Func {
	if i, ok := t.d.typ.Underlying().(*types.Interface); ok {
		return sortedMethods(i)
	}
	var methods []*types.Func
	for _, selection := range t.d.set.Load().byID {
		methods = append(methods, selection.Obj().(*types.Func))
	}
	slices.SortFunc(methods, func(a, b *types.Func) int { return strings.Compare(a.Name(), b.Name()) })
	return slices.DeleteFunc(methods, func(m *types.Func) bool { return !m.Exported() })
}

func (t typeWrapper) find(name string) *types.Func {
	for _, m := range t.exported() {
		if m.Name() == name {
			return m
		}
	}
	return nil
}

// Method returns the exported method i. The first parameter of its Func is the raw
// receiver as an interface value.
func (t typeWrapper) Method(i int) reflect.Method {
	name := t.exported()[i].Name()
	m := reflect.Method{Name: name, Index: i}
	if registered, ok := t.d.callable(name); ok {
		m.Func, m.Type = registered.value, registered.value.Type()
	}
	return m
}

// Methods implements reflect.Type.
func (t typeWrapper) Methods() iter.Seq[reflect.Method] {
	return func(yield func(reflect.Method) bool) {
		for i := range t.NumMethod() {
			if !yield(t.Method(i)) {
				return
			}
		}
	}
}

// MethodByName returns the exported method of that name.
func (t typeWrapper) MethodByName(name string) (reflect.Method, bool) {
	for i, m := range t.exported() {
		if m.Name() == name {
			return t.Method(i), true
		}
	}
	return reflect.Method{}, false
}

// Field returns field i as it was declared.
func (t typeWrapper) Field(i int) reflect.StructField {
	t.requireKind("Field of non-struct type", reflect.Struct)
	if uint(i) >= uint(t.NumField()) {
		panic("reflect: Field index out of bounds")
	}
	declared, w := t.view().field(i)
	f := t.Type.Field(i)
	f.Name, f.Tag, f.Anonymous = declared.name, declared.tag, declared.embedded
	f.Type, f.PkgPath = t.wrap(w), ""
	if !declared.exported {
		f.PkgPath = origin.ImportPath(t.d.typ.Underlying().(*types.Struct).Field(i).Pkg())
	}
	return f
}

// Fields implements reflect.Type.
func (t typeWrapper) Fields() iter.Seq[reflect.StructField] {
	return func(yield func(reflect.StructField) bool) {
		for i := range t.NumField() {
			if !yield(t.Field(i)) {
				return
			}
		}
	}
}

// FieldByIndex implements reflect.Type.
func (t typeWrapper) FieldByIndex(index []int) reflect.StructField {
	var f reflect.StructField
	var typ reflect.Type = t
	for i, n := range index {
		if i > 0 && typ.Kind() == reflect.Pointer {
			typ = typ.Elem()
		}
		f = typ.Field(n)
		typ = f.Type
	}
	return f
}

// FieldByName returns the field with that name, which may be promoted.
func (t typeWrapper) FieldByName(name string) (reflect.StructField, bool) {
	t.requireKind("FieldByName of non-struct type", reflect.Struct)
	for f := range t.Fields() {
		if f.Name == name {
			return f, true
		}
	}
	var pkg *types.Package
	if named, ok := t.d.typ.(*types.Named); ok {
		pkg = named.Obj().Pkg()
	}
	object, index, _ := types.LookupFieldOrMethod(t.d.typ, false, pkg, name)
	if _, ok := object.(*types.Var); !ok {
		return reflect.StructField{}, false
	}
	f := t.FieldByIndex(index)
	f.Index = index
	return f, true
}

// FieldByNameFunc returns the only field of the struct itself whose name matches.
func (t typeWrapper) FieldByNameFunc(match func(string) bool) (reflect.StructField, bool) {
	t.requireKind("FieldByNameFunc of non-struct type", reflect.Struct)
	var found []reflect.StructField
	for f := range t.Fields() {
		if match(f.Name) {
			found = append(found, f)
		}
	}
	if len(found) != 1 {
		return reflect.StructField{}, false
	}
	return found[0], true
}

// In implements reflect.Type.
func (t typeWrapper) In(i int) reflect.Type { return t.wrap(t.signature("In").in(i)) }

// NumIn implements reflect.Type.
func (t typeWrapper) NumIn() int { return t.signature("NumIn").s.Params().Len() }

// NumOut implements reflect.Type.
func (t typeWrapper) NumOut() int { return t.signature("NumOut").s.Results().Len() }

// IsVariadic implements reflect.Type.
func (t typeWrapper) IsVariadic() bool { return t.signature("IsVariadic").s.Variadic() }

// signature returns the signature of a function type. method is the name of the calling
// method, for the panic if the type is not a function type.
func (t typeWrapper) signature(method string) signature {
	t.requireKind(method+" of non-func type", reflect.Func)
	return t.d.registry.signatureOf(t.view())
}

// Ins implements reflect.Type.
func (t typeWrapper) Ins() iter.Seq[reflect.Type] { return each(t.NumIn(), t.In) }

// Out implements reflect.Type.
func (t typeWrapper) Out(i int) reflect.Type { return t.wrap(t.signature("Out").out(i)) }

// Outs implements reflect.Type.
func (t typeWrapper) Outs() iter.Seq[reflect.Type] { return each(t.NumOut(), t.Out) }

func each(n int, get func(int) reflect.Type) iter.Seq[reflect.Type] {
	return func(yield func(reflect.Type) bool) {
		for i := range n {
			if !yield(get(i)) {
				return
			}
		}
	}
}
