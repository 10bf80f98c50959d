package layout

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"reflect"
	"runtime"
	"slices"
	"testing"
	"time"
)

const source = `package main
import "time"
type Node struct { left, right *Node; kids []*Node; byName map[string]Node; f func(*Node) *Node; in struct { n *Node }; t time.Time; v int }
type List struct { root Elem; n int }
type Elem struct { next, prev *Elem; list *List; V any }
type A struct { b *B; c [2]C }
type B struct { a []A; e error }
type C struct { b *B; x float64 }
type Flat struct { a int; b []string }
type Holder struct { n *Node; flat Flat }
type Ring struct { h Holder2 }
type Holder2 struct { r *Ring; f Flat; k Kids }
type Kids []*Ring
type State func(*Machine) State
type Machine struct { s State; m *Machine }
type Slice []Slice
type Map map[string]Map
type Pointer *Pointer
type Chan chan Chan
type Array [2]*Array
type Visitor func(n int) (Visitor, error)
type Rule func(...Rule) []Rule
type Literal []struct { in Literal; s string }
type One []Two
type Two map[string]One
type Plain []Node
type Declared struct { Flat; *Tagged; low int; next *Declared; Name string "k:\"v\"" }
type Tagged struct { A int }
`

// standard checks each package of the standard library from source once.
var standard = importer.ForCompiler(token.NewFileSet(), "source", nil)

func checked(t *testing.T, imports types.Importer) func(name string) *types.Named {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "x.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	config := types.Config{Importer: imports}
	pkg, err := config.Check("main", fset, []*ast.File{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return func(name string) *types.Named { return pkg.Scope().Lookup(name).Type().(*types.Named) }
}

func newBuilder() *Builder {
	return &Builder{
		Interpreted: func(n *types.Named) bool { return n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "main" },
		Packages:    map[string]map[string]reflect.Value{"time/time": {"Time": reflect.ValueOf((*time.Time)(nil))}},
	}
}

func TestRecursive(t *testing.T) {
	lookup, b := checked(t, standard), newBuilder()
	for name, want := range map[string]bool{
		"Node": true, "List": true, "Elem": true, "A": true, "B": true, "C": true,
		"Flat": false, "Holder": false, "Ring": true, "Holder2": true, "Kids": false,
		"Slice": true, "Map": true, "Pointer": true, "Chan": true, "Array": true, "Visitor": true, "Rule": true,
		"Literal": true, "One": true, "Two": true, "Plain": false, "State": true,
	} {
		if got := b.Recursive(lookup(name)); got != want {
			t.Errorf("Recursive(%s) = %t, want %t", name, got, want)
		}
	}
}

func TestType(t *testing.T) {
	lookup, b := checked(t, standard), newBuilder()
	made := func(name string) reflect.Type {
		typ, err := b.Type(lookup(name))
		if err != nil {
			t.Fatal(err)
		}
		return typ
	}
	at := func(typ reflect.Type, name string) reflect.Type {
		f, ok := typ.FieldByName(name)
		if !ok {
			t.Fatalf("%s has no field %s", typ, name)
		}
		return f.Type
	}
	node := made("Node")
	list, elem := made("List"), made("Elem")
	a, bb, c := made("A"), made("B"), made("C")
	ring, holder := made("Ring"), made("Holder2")
	for _, tt := range []struct {
		name      string
		got, want reflect.Type
	}{
		{"pointer", at(node, "Xleft"), reflect.PointerTo(node)},
		{"second pointer", at(node, "Xright"), reflect.PointerTo(node)},
		{"slice", at(node, "Xkids"), reflect.SliceOf(reflect.PointerTo(node))},
		{"map value", at(node, "XbyName").Elem(), node},
		{"function", at(node, "Xf").In(0), reflect.PointerTo(node)},
		{"function result", at(node, "Xf").Out(0), reflect.PointerTo(node)},
		{"literal struct", at(at(node, "Xin"), "Xn"), reflect.PointerTo(node)},
		{"compiled", at(node, "Xt"), reflect.TypeFor[time.Time]()},
		{"by value", at(list, "Xroot"), elem},
		{"the other way", at(elem, "Xlist"), reflect.PointerTo(list)},
		{"any", at(elem, "V"), reflect.TypeFor[any]()},
		{"three", at(a, "Xc").Elem(), c},
		{"three, back", at(c, "Xb"), reflect.PointerTo(bb)},
		{"three, slice", at(bb, "Xa").Elem(), a},
		{"error", at(bb, "Xe"), reflect.TypeFor[error]()},
		{"value in a cycle", at(ring, "Xh"), holder},
		{"named slice", at(holder, "Xk"), reflect.SliceOf(reflect.PointerTo(ring))},
		{"function type that mentions itself", at(made("Machine"), "Xs"), made("State")},
		{"its parameter", made("State").In(0), reflect.PointerTo(made("Machine"))},
		{"its result", made("State").Out(0), made("State")},
		{"the same again", made("Node"), node},
		{"slice of itself", made("Slice").Elem(), made("Slice")},
		{"map to itself", made("Map").Elem(), made("Map")},
		{"key of a map to itself", made("Map").Key(), reflect.TypeFor[string]()},
		{"pointer to itself", made("Pointer").Elem(), made("Pointer")},
		{"channel of itself", made("Chan").Elem(), made("Chan")},
		{"array of pointers to itself", made("Array").Elem(), reflect.PointerTo(made("Array"))},
		{"one of two results", made("Visitor").Out(0), made("Visitor")},
		{"the other result", made("Visitor").Out(1), reflect.TypeFor[error]()},
		{"variadic", made("Rule").In(0), reflect.SliceOf(made("Rule"))},
		{"in a literal struct", made("Literal").Elem().Field(0).Type, made("Literal")},
		{"two, slice", made("One").Elem(), made("Two")},
		{"two, map", made("Two").Elem(), made("One")},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, tt.got, tt.want)
		}
	}
}

// TestUse builds a list of the created types and runs the garbage collector: the sizes and pointers of a
// type whose fields were replaced must be correct.
func TestUse(t *testing.T) {
	lookup, b := checked(t, standard), newBuilder()
	node, err := b.Type(lookup("Node"))
	if err != nil {
		t.Fatal(err)
	}
	const n = 10000
	head := reflect.Zero(reflect.PointerTo(node))
	for i := range n {
		v := reflect.New(node)
		v.Elem().FieldByName("Xv").SetInt(int64(i))
		v.Elem().FieldByName("Xleft").Set(head)
		kids := v.Elem().FieldByName("Xkids")
		kids.Set(reflect.Append(kids, v))
		head = v
		if i%1000 == 0 {
			runtime.GC()
		}
	}
	sum, count := int64(0), 0
	for v := head; !v.IsNil(); v = v.Elem().FieldByName("Xleft") {
		sum += v.Elem().FieldByName("Xkids").Index(0).Elem().FieldByName("Xv").Int()
		count++
	}
	if want := int64(n * (n - 1) / 2); sum != want || count != n {
		t.Errorf("got sum %d of %d, want %d of %d", sum, count, want, n)
	}
	key := reflect.MakeMap(reflect.MapOf(reflect.PointerTo(node), reflect.TypeFor[int]()))
	key.SetMapIndex(head, reflect.ValueOf(1))
	if got := key.MapIndex(head).Int(); got != 1 {
		t.Errorf("got %d, want 1", got)
	}
}

func TestUnknownType(t *testing.T) {
	lookup, b := checked(t, standard), newBuilder()
	b.Packages = nil
	if _, err := b.Type(lookup("Node")); err == nil {
		t.Error("no error for a type that the tables do not have")
	}
}

// TestUseWithoutStruct uses values of recursive types that are not structs.
func TestUseWithoutStruct(t *testing.T) {
	lookup, b := checked(t, standard), newBuilder()
	made := func(name string) reflect.Type {
		typ, err := b.Type(lookup(name))
		if err != nil {
			t.Fatal(err)
		}
		return typ
	}
	const n = 200
	list, tree := reflect.Zero(made("Slice")), reflect.Zero(made("Map"))
	for i := range n {
		list = reflect.Append(reflect.MakeSlice(made("Slice"), 0, 1), list)
		m := reflect.MakeMap(made("Map"))
		m.SetMapIndex(reflect.ValueOf("x"), tree)
		tree = m
		if i%50 == 0 {
			runtime.GC()
		}
	}
	depth := 0
	for ; list.Len() > 0; list = list.Index(0) {
		depth++
	}
	if depth != n {
		t.Errorf("got a list of depth %d, want %d", depth, n)
	}
	depth = 0
	for ; tree.Len() > 0; tree = tree.MapIndex(reflect.ValueOf("x")) {
		depth++
	}
	if depth != n {
		t.Errorf("got a map of depth %d, want %d", depth, n)
	}
	visitor := made("Visitor")
	f := reflect.MakeFunc(visitor, func(args []reflect.Value) []reflect.Value {
		return []reflect.Value{reflect.Zero(visitor), reflect.Zero(visitor.Out(1))}
	})
	if out := f.Call([]reflect.Value{reflect.ValueOf(1)}); !out[0].IsNil() {
		t.Errorf("got %v, want nil", out[0])
	}
	c := reflect.MakeChan(made("Chan"), 1)
	c.Send(c)
	if got, _ := c.Recv(); got.Pointer() != c.Pointer() {
		t.Error("a channel that was sent over itself is received as another channel")
	}
}

// TestDeclared checks the fields of types as they were declared, and that values of the lowered types can
// be used as values of these types.
func TestDeclared(t *testing.T) {
	named := checked(t, standard)
	raw, err := newBuilder().Reflect(named("Declared"))
	if err != nil {
		t.Fatal(err)
	}
	b := newBuilder()
	b.Declared = true
	made, err := b.Reflect(named("Declared"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for f := range made.Fields() {
		got = append(got, fmt.Sprint(f.Name, " ", f.Anonymous, " ", f.PkgPath, " ", f.Tag.Get("k")))
	}
	if want := []string{"Flat true  ", "Tagged true  ", "low false main ", "next false main ", "Name false  v"}; !slices.Equal(got, want) {
		t.Errorf("fields %q, want %q", got, want)
	}
	if f, ok := made.FieldByName("A"); !ok || len(f.Index) != 2 {
		t.Errorf("the promoted field A is %v, %v", f, ok)
	}
	if made.Field(3).Type.Elem() != made {
		t.Errorf("next points to %v", made.Field(3).Type.Elem())
	}
	x := reflect.New(raw)
	x.Elem().Field(2).SetInt(7)
	x.Elem().Field(4).SetString("n")
	y := reflect.NewAt(made, x.UnsafePointer()).Elem()
	if y.FieldByName("low").Int() != 7 || y.FieldByName("Name").String() != "n" || raw.Size() != made.Size() {
		t.Errorf("%v is used as %v", x.Elem(), y)
	}
	runtime.GC()
	if again, err := b.Reflect(named("Flat")); err != nil || again.Field(0).Name != "a" || again.Field(0).IsExported() {
		t.Errorf("a type without embedded fields is %v, %v", again, err)
	}
}
