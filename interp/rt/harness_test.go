package rt

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"github.com/quernlab/quern/interp/lower/layout"
)

// harness converts values of compiled types to values of lowered code: raw values of
// types without names, and boxes. It treats the types in shapes_test.go and
// shapes_json_test.go as interpreted. So tests can compare the output of this package with
// what Go does with the compiled value.
type harness struct {
	*Registry
	pkg *types.Package

	mu           sync.Mutex
	named        map[reflect.Type]types.Type // compiled to checked type
	real         map[*types.Named]reflect.Type
	raw          map[types.Type]reflect.Type // checked named type to raw type
	inProgress   map[types.Type]bool
	rawPointers  map[any]reflect.Value // converted pointers, by real type and address
	realPointers map[any]reflect.Value
}

var sharedHarness = sync.OnceValues(func() (*harness, error) {
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range []string{"shapes_test.go", "shapes_json_test.go"} {
		file, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	info := &types.Info{Instances: map[*ast.Ident]types.Instance{}}
	config := types.Config{Importer: importer.Default()}
	path := reflect.TypeFor[Point]().PkgPath()
	pkg, err := config.Check(path, fset, files, info)
	if err != nil {
		return nil, err
	}
	w := &harness{
		pkg:          pkg,
		named:        map[reflect.Type]types.Type{},
		real:         map[*types.Named]reflect.Type{},
		raw:          map[types.Type]reflect.Type{},
		inProgress:   map[types.Type]bool{},
		rawPointers:  map[any]reflect.Value{},
		realPointers: map[any]reflect.Value{},
	}
	w.Registry = New(Config{
		Interpreted: func(n *types.Named) bool { return n.Obj().Pkg() == pkg },
		Packages:    testPackages,
	})
	instances := map[string]types.Type{}
	for _, i := range info.Instances {
		instances[typeString(i.Type)] = i.Type
	}
	for _, x := range realTypes {
		t := reflect.TypeOf(x)
		if named, ok := pkg.Scope().Lookup(t.Name()).(*types.TypeName); ok {
			w.named[t] = named.Type()
		} else if i, ok := instances[t.String()]; ok {
			w.named[t] = i
		} else {
			return nil, fmt.Errorf("type %v is not declared in shapes_test.go or shapes_json_test.go", t)
		}
		w.real[w.named[t].(*types.Named)] = t
	}
	shape := pkg.Scope().Lookup("Shape").Type().(*types.Named)
	w.real[shape] = reflect.TypeFor[Shape]()
	for _, x := range realTypes {
		t := reflect.TypeOf(x)
		w.registerMethods(t)
		w.registerMethods(reflect.PointerTo(t))
	}
	return w, nil
})

func newHarness(t testing.TB) *harness {
	t.Helper()
	w, err := sharedHarness()
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// checked returns the types.Type of a compiled type.
func (w *harness) checked(t reflect.Type) types.Type {
	if n, ok := w.named[t]; ok {
		return n
	}
	switch t.Kind() {
	case reflect.Pointer:
		return types.NewPointer(w.checked(t.Elem()))
	case reflect.Slice:
		return types.NewSlice(w.checked(t.Elem()))
	case reflect.Array:
		return types.NewArray(w.checked(t.Elem()), int64(t.Len()))
	case reflect.Map:
		return types.NewMap(w.checked(t.Key()), w.checked(t.Elem()))
	case reflect.Chan:
		direction := map[reflect.ChanDir]types.ChanDir{reflect.BothDir: types.SendRecv, reflect.SendDir: types.SendOnly, reflect.RecvDir: types.RecvOnly}
		return types.NewChan(direction[t.ChanDir()], w.checked(t.Elem()))
	case reflect.Func:
		tuple := func(n int, at func(int) reflect.Type) *types.Tuple {
			var vars []*types.Var
			for i := range n {
				vars = append(vars, types.NewParam(0, nil, "", w.checked(at(i))))
			}
			return types.NewTuple(vars...)
		}
		return types.NewSignatureType(nil, nil, nil, tuple(t.NumIn(), t.In), tuple(t.NumOut(), t.Out), t.IsVariadic())
	case reflect.Struct:
		if t.Name() == "" {
			var fields []*types.Var
			var tags []string
			for f := range t.Fields() {
				fields = append(fields, types.NewField(0, w.pkg, f.Name, w.checked(f.Type), f.Anonymous))
				tags = append(tags, string(f.Tag))
			}
			return types.NewStruct(fields, tags)
		}
	case reflect.Interface:
		if t == anyType {
			return types.NewInterfaceType(nil, nil)
		}
		if t == errorType {
			return types.Universe.Lookup("error").Type()
		}
		if n, ok := w.pkg.Scope().Lookup(t.Name()).(*types.TypeName); ok && t.PkgPath() == w.pkg.Path() {
			return n.Type()
		}
	default:
		if t.PkgPath() == "" {
			return types.Universe.Lookup(t.Name()).Type()
		}
	}
	for _, imported := range w.pkg.Imports() {
		if imported.Path() == t.PkgPath() {
			return imported.Scope().Lookup(t.Name()).Type()
		}
	}
	panic("no checked type for " + t.String())
}

// rawType returns the type in lowered code of the checked type t.
func (w *harness) rawType(t types.Type, real reflect.Type) reflect.Type {
	if !w.Mentions(t) {
		return real
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return basicTypes[u.Kind()]
	case *types.Interface:
		if u.NumMethods() > 0 {
			return reflect.TypeFor[layout.Interface]()
		}
		return anyType
	case *types.Pointer:
		return reflect.PointerTo(w.rawType(u.Elem(), real.Elem()))
	case *types.Slice:
		return reflect.SliceOf(w.rawType(u.Elem(), real.Elem()))
	case *types.Array:
		return reflect.ArrayOf(int(u.Len()), w.rawType(u.Elem(), real.Elem()))
	case *types.Map:
		return reflect.MapOf(w.rawType(u.Key(), real.Key()), w.rawType(u.Elem(), real.Elem()))
	case *types.Chan:
		return reflect.ChanOf(reflect.BothDir, w.rawType(u.Elem(), real.Elem()))
	case *types.Signature:
		var in, out []reflect.Type
		for i := range u.Params().Len() {
			in = append(in, w.rawType(u.Params().At(i).Type(), real.In(i)))
		}
		for i := range u.Results().Len() {
			out = append(out, w.rawType(u.Results().At(i).Type(), real.Out(i)))
		}
		return reflect.FuncOf(in, out, u.Variadic())
	case *types.Struct:
		return w.rawStruct(t, u, real)
	}
	panic("no raw type for " + t.String())
}

var basicTypes = map[types.BasicKind]reflect.Type{}

func init() {
	for _, x := range []any{false, 0, int8(0), int16(0), int32(0), int64(0), uint(0), uint8(0), uint16(0), uint32(0),
		uint64(0), uintptr(0), float32(0), 0.0, complex64(0), complex128(0), ""} {
		t := reflect.TypeOf(x)
		basicTypes[types.Universe.Lookup(t.Name()).Type().(*types.Basic).Kind()] = t
	}
}

// placeholder replaces a struct type that is still being created.
type placeholder struct{ _ byte }

// rawStruct creates a struct type. A type that contains itself is created with a
// placeholder that is replaced afterwards, as in yaegi.
func (w *harness) rawStruct(t types.Type, u *types.Struct, real reflect.Type) reflect.Type {
	if known, ok := w.raw[t]; ok {
		return known
	}
	if w.inProgress[t] {
		return reflect.TypeFor[placeholder]()
	}
	w.inProgress[t] = true
	defer delete(w.inProgress, t)
	var fields []reflect.StructField
	for i := range u.NumFields() {
		name := u.Field(i).Name()
		if !u.Field(i).Exported() {
			name = "X" + name
		}
		fields = append(fields, reflect.StructField{
			Name: name, Type: w.rawType(u.Field(i).Type(), real.Field(i).Type), Tag: reflect.StructTag(u.Tag(i)),
		})
	}
	made := reflect.StructOf(fields)
	if _, ok := t.(*types.Named); ok {
		w.raw[t] = made
		for i := range fields {
			if containsPlaceholder(fields[i].Type) {
				setFieldType(made, i, replacePlaceholder(fields[i].Type, made))
			}
		}
	}
	return made
}

func containsPlaceholder(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return containsPlaceholder(t.Elem())
	}
	return t == reflect.TypeFor[placeholder]()
}

func replacePlaceholder(t, by reflect.Type) reflect.Type {
	switch t.Kind() {
	case reflect.Pointer:
		return reflect.PointerTo(replacePlaceholder(t.Elem(), by))
	case reflect.Slice:
		return reflect.SliceOf(replacePlaceholder(t.Elem(), by))
	case reflect.Map:
		return reflect.MapOf(t.Key(), replacePlaceholder(t.Elem(), by))
	}
	return by
}

// setFieldType overwrites the type of a field in a struct type created at run time.
func setFieldType(t reflect.Type, i int, field reflect.Type) {
	type structField struct {
		name, typ unsafe.Pointer
		offset    uintptr
	}
	type structType struct {
		common [48]byte
		path   unsafe.Pointer
		fields []structField
	}
	word := func(t reflect.Type) unsafe.Pointer {
		x := reflect.Zero(reflect.PointerTo(t)).Interface()
		pointer := *(*unsafe.Pointer)(unsafe.Pointer(&x))
		return *(*unsafe.Pointer)(unsafe.Add(pointer, 48)) // the element of a pointer type
	}
	(*structType)(word(t)).fields[i].typ = word(field)
}

// typ returns the descriptor of a type expression, in the scope of shapes_test.go without
// its imports.
func (w *harness) typ(t testing.TB, expression string) *Type {
	t.Helper()
	v, err := types.Eval(token.NewFileSet(), w.pkg, token.NoPos, expression)
	if err != nil {
		t.Fatal(err)
	}
	return w.Describe(v.Type)
}

// typeOf returns the descriptor of a compiled type.
func typeOf[T any](w *harness) *Type { return w.Describe(w.checked(reflect.TypeFor[T]())) }

// panicValue returns the panic value of f, or nil.
func panicValue(f func()) (cause any) {
	defer func() { cause = recover() }()
	f()
	return nil
}

// redeclare returns a new type with the name and underlying type of one in
// shapes_test.go, as if a later cell declared it again.
func redeclare(t testing.TB, w *harness, name string) types.Type {
	t.Helper()
	o := types.NewTypeName(0, w.pkg, name, nil)
	return types.NewNamed(o, w.pkg.Scope().Lookup(name).Type().Underlying(), nil)
}

// addMethod adds a method to a type, with the signature of that method of another type.
func addMethod(to, from types.Type, name string) {
	named := from.(*types.Named)
	for m := range named.Methods() {
		if m.Name() == name {
			s := m.Signature()
			recv := types.NewParam(0, m.Pkg(), "", to)
			to.(*types.Named).AddMethod(types.NewFunc(0, m.Pkg(), name, types.NewSignatureType(recv, nil, nil, s.Params(), s.Results(), s.Variadic())))
		}
	}
}

var anyType = reflect.TypeFor[any]()

// testCode is a method whose code is a function of this test.
type testCode struct {
	raw      reflect.Type  // of the receiver
	function reflect.Value // its first parameter is the receiver, as an any
}

// codeOf returns the code of a method. receiver is a raw value of the type of the receiver.
func codeOf(receiver, function any) MethodCode {
	return testCode{reflect.TypeOf(receiver), reflect.ValueOf(function)}
}

func (c testCode) Type() reflect.Type {
	t := c.function.Type()
	in := slices.Collect(t.Ins())
	in[0] = reflect.TypeFor[unsafe.Pointer]()
	return reflect.FuncOf(in, slices.Collect(t.Outs()), false)
}

func (c testCode) Call(receiver unsafe.Pointer, arguments []reflect.Value) []reflect.Value {
	var x any
	*interfaceWords(&x) = [2]unsafe.Pointer{typeWord(c.raw), receiver}
	return c.function.Call(append([]reflect.Value{reflect.ValueOf(&x).Elem()}, arguments...))
}

func (c testCode) Receiver(variable unsafe.Pointer) unsafe.Pointer {
	x := reflect.NewAt(c.raw, variable).Elem().Interface()
	return interfaceWords(&x)[1]
}

// callMethod calls a method of x, a value of a type of a cell, as package vm does.
func callMethod(r *Registry, x any, name string, arguments ...any) any {
	for {
		m, word := r.Method(x, name), interfaceWords(&x)[1]
		if m == nil {
			break
		}
		if m.Code == nil {
			x = m.Value(word)
			continue
		}
		if m.Receiver != nil {
			word = m.Receiver(word)
		}
		return m.Code.Call(word, valuesOf(arguments))[0].Interface()
	}
	return call(r.Bound(x, name), valuesOf(arguments))[0].Interface()
}

func valuesOf(list []any) (values []reflect.Value) {
	for _, x := range list {
		values = append(values, reflect.ValueOf(x))
	}
	return values
}
