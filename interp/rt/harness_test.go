package rt

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"reflect"
	"sync"
	"testing"
	"unsafe"
)

// world turns values of compiled types into what lowered code has: raw values
// of types without names, and boxes. The types that shapes_test.go declares are
// taken for interpreted ones. Every output of this package can so be compared
// with what Go does with the compiled value.
type world struct {
	*Registry
	pkg *types.Package

	mu    sync.Mutex
	named map[reflect.Type]types.Type // real to checked
	real  map[*types.Named]reflect.Type
	raw   map[types.Type]reflect.Type // of a checked named type
	busy  map[types.Type]bool
	toRaw map[any]reflect.Value // pointers that have been converted, by real type and address
	toGo  map[any]reflect.Value
}

var theWorld = sync.OnceValues(func() (*world, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "shapes_test.go", nil, 0)
	if err != nil {
		return nil, err
	}
	info := &types.Info{Instances: map[*ast.Ident]types.Instance{}}
	config := types.Config{Importer: importer.Default()}
	path := reflect.TypeFor[Point]().PkgPath()
	pkg, err := config.Check(path, fset, []*ast.File{file}, info)
	if err != nil {
		return nil, err
	}
	w := &world{
		pkg:   pkg,
		named: map[reflect.Type]types.Type{},
		real:  map[*types.Named]reflect.Type{},
		raw:   map[types.Type]reflect.Type{},
		busy:  map[types.Type]bool{},
		toRaw: map[any]reflect.Value{},
		toGo:  map[any]reflect.Value{},
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
			return nil, fmt.Errorf("type %v is not in shapes_test.go", t)
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

func newWorld(t testing.TB) *world {
	t.Helper()
	w, err := theWorld()
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// checked returns the type that the checker has for a compiled one.
func (w *world) checked(t reflect.Type) types.Type {
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

// rawType returns the type that yaegi has for a checked one.
func (w *world) rawType(t types.Type, real reflect.Type) reflect.Type {
	if !w.Mentions(t) {
		return real
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return basicTypes[u.Kind()]
	case *types.Interface:
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

// recursion stands in for a struct type that is being made.
type recursion struct{ _ byte }

// rawStruct makes a struct type. A type that contains itself is made with a
// stand-in that is replaced afterwards, as yaegi does it.
func (w *world) rawStruct(t types.Type, u *types.Struct, real reflect.Type) reflect.Type {
	if known, ok := w.raw[t]; ok {
		return known
	}
	if w.busy[t] {
		return reflect.TypeFor[recursion]()
	}
	w.busy[t] = true
	defer delete(w.busy, t)
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
			if isStandIn(fields[i].Type) {
				setFieldType(made, i, replaceStandIn(fields[i].Type, made))
			}
		}
	}
	return made
}

func isStandIn(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return isStandIn(t.Elem())
	}
	return t == reflect.TypeFor[recursion]()
}

func replaceStandIn(t, by reflect.Type) reflect.Type {
	switch t.Kind() {
	case reflect.Pointer:
		return reflect.PointerTo(replaceStandIn(t.Elem(), by))
	case reflect.Slice:
		return reflect.SliceOf(replaceStandIn(t.Elem(), by))
	case reflect.Map:
		return reflect.MapOf(t.Key(), replaceStandIn(t.Elem(), by))
	}
	return by
}

// setFieldType overwrites the type of a field of a struct type made at run time.
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

// box returns the value that lowered code has for x in an interface.
func (w *world) box(x any) any {
	if x == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lowerAny(reflect.ValueOf(x))
}

func (w *world) lowerAny(v reflect.Value) any {
	base := v.Type()
	for base.Kind() == reflect.Pointer {
		base = base.Elem()
	}
	if base.PkgPath() != "" && base.PkgPath() != w.pkg.Path() {
		return v.Interface()
	}
	t := w.checked(v.Type())
	raw := w.lower(v, t).Interface()
	if !w.Mentions(t) {
		return raw
	}
	return w.Describe(t).Box(raw)
}

// open makes unexported fields readable and writable.
func open(v reflect.Value) reflect.Value {
	if !v.CanAddr() {
		c := reflect.New(v.Type()).Elem()
		c.Set(v)
		return c
	}
	return reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
}

// lower converts a real value of the checked type t to a raw one.
func (w *world) lower(v reflect.Value, t types.Type) reflect.Value {
	if !w.Mentions(t) && !holdsAny(t) {
		return v
	}
	raw := reflect.New(w.rawType(t, v.Type())).Elem()
	switch u := t.Underlying().(type) {
	case *types.Basic:
		raw.Set(v.Convert(raw.Type()))
	case *types.Interface:
		if v.IsNil() {
			break
		}
		x := w.lowerAny(v.Elem())
		if raw.Type() != anyType {
			x = w.Assign(x, w.Describe(t))
		}
		raw.Set(reflect.ValueOf(x))
	case *types.Pointer:
		if v.IsNil() {
			break
		}
		key := [2]any{v.Type(), v.UnsafePointer()}
		if known, ok := w.toRaw[key]; ok {
			known.Elem().Set(w.lowerShallow(v.Elem(), u.Elem()))
			return known
		}
		raw.Set(reflect.New(raw.Type().Elem()))
		w.toRaw[key] = raw
		w.toGo[[2]any{v.Type(), raw.UnsafePointer()}] = v
		raw.Elem().Set(w.lower(v.Elem(), u.Elem()))
	case *types.Slice:
		if v.IsNil() {
			break
		}
		raw.Set(reflect.MakeSlice(raw.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			raw.Index(i).Set(w.lower(v.Index(i), u.Elem()))
		}
	case *types.Array:
		for i := range v.Len() {
			raw.Index(i).Set(w.lower(v.Index(i), u.Elem()))
		}
	case *types.Map:
		if v.IsNil() {
			break
		}
		raw.Set(reflect.MakeMap(raw.Type()))
		for i := v.MapRange(); i.Next(); {
			raw.SetMapIndex(w.lower(i.Key(), u.Key()), w.lower(i.Value(), u.Elem()))
		}
	case *types.Struct:
		v = open(v)
		for i := range u.NumFields() {
			raw.Field(i).Set(w.lower(open(v.Field(i)), u.Field(i).Type()))
		}
	case *types.Chan:
		if !v.IsNil() {
			raw.Set(reflect.MakeChan(raw.Type(), 0))
		}
	case *types.Signature:
		if !v.IsNil() {
			raw.Set(reflect.MakeFunc(raw.Type(), func([]reflect.Value) []reflect.Value { panic("not callable in tests") }))
		}
	}
	return raw
}

// lowerShallow lowers what a pointer that is known points to, once.
func (w *world) lowerShallow(v reflect.Value, t types.Type) reflect.Value {
	key := [2]any{"busy", v.Addr().UnsafePointer()}
	if _, busy := w.toRaw[key]; busy {
		return w.toRaw[[2]any{reflect.PointerTo(v.Type()), v.Addr().UnsafePointer()}].Elem()
	}
	w.toRaw[key] = v
	defer delete(w.toRaw, key)
	return w.lower(v, t)
}

// holdsAny reports whether a type that is the same in lowered code can hold a
// box: []any, map[string]error.
func holdsAny(t types.Type) bool {
	switch t := types.Unalias(t).(type) {
	case *types.Interface:
		return true
	case *types.Named:
		return types.IsInterface(t)
	case *types.Slice:
		return holdsAny(t.Elem())
	case *types.Map:
		return holdsAny(t.Key()) || holdsAny(t.Elem())
	case *types.Pointer:
		return holdsAny(t.Elem())
	case *types.Array:
		return holdsAny(t.Elem())
	case *types.Struct:
		for f := range t.Fields() {
			if holdsAny(f.Type()) {
				return true
			}
		}
	}
	return false
}

// typ returns the descriptor of a type that is written as in shapes_test.go, without
// imported packages.
func (w *world) typ(t testing.TB, expression string) *Type {
	t.Helper()
	v, err := types.Eval(token.NewFileSet(), w.pkg, token.NoPos, expression)
	if err != nil {
		t.Fatal(err)
	}
	return w.Describe(v.Type)
}

// typeOf returns the descriptor of a compiled type.
func typeOf[T any](w *world) *Type { return w.Describe(w.checked(reflect.TypeFor[T]())) }

// panicValue returns what f panics with.
func panicValue(f func()) (cause any) {
	defer func() { cause = recover() }()
	f()
	return nil
}

// redeclare returns a type of the same name and underlying type as one of
// shapes_test.go, as a later cell would declare it.
func redeclare(t testing.TB, w *world, name string) types.Type {
	t.Helper()
	o := types.NewTypeName(0, w.pkg, name, nil)
	return types.NewNamed(o, w.pkg.Scope().Lookup(name).Type().Underlying(), nil)
}

// lowerBack stores what a method has done to the pointer in its parameter.
func (w *world) lowerBack(raw, real reflect.Value) {
	if raw.Kind() != reflect.Interface || raw.IsNil() {
		return
	}
	b, ok := w.unbox(raw.Interface())
	if p := reflect.ValueOf(b.V); ok && p.Kind() == reflect.Pointer && !p.IsNil() {
		p.Elem().Set(w.lower(real.Elem().Elem(), b.T.typ.Underlying().(*types.Pointer).Elem()))
	}
}

// addMethod gives a type a method with the signature of one of another type.
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

// checkedAny is checked for interface literals too.
func (w *world) checkedAny(t testing.TB, c reflect.Type) types.Type {
	if c.Kind() == reflect.Interface && c.Name() == "" && c != anyType {
		return w.typ(t, c.String()).Type()
	}
	return w.checked(c)
}
