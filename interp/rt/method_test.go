package rt

import (
	"bytes"
	"fmt"
	"go/types"
	"reflect"
	"strings"
	"testing"
)

func TestMethod(t *testing.T) {
	w := newHarness(t)
	if got := callMethod(w.Registry, w.box(Celsius(3)), "String"); got != "3.0°C" {
		t.Errorf("String of a type of a cell gives %v", got)
	}
	if got := callMethod(w.Registry, w.box(Variadic{10}), "Sum", []int{1, 2}); got != 13 {
		t.Errorf("a variadic method of a type of a cell gives %v", got)
	}
	if m := w.Method(bytes.NewBufferString("text"), "String"); m != nil {
		t.Errorf("String of a compiled type is %v", m)
	}
	if got := callMethod(w.Registry, bytes.NewBufferString("text"), "String"); got != "text" {
		t.Errorf("String of a compiled type gives %v", got)
	}
	if got := callMethod(w.Registry, Variadic{10}, "Sum", []int{1, 2}); got != 13 {
		t.Errorf("a variadic method of a compiled type gives %v", got)
	}
	want := panicValue(func() { var s fmt.Stringer; _ = s.String() })
	if got := panicValue(func() { w.Bound(nil, "String") }); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("a method of nil: %v, want %v", got, want)
	}
	got := panicValue(func() { w.Method(w.box(Point{}), "Absent") })
	if _, ok := got.(missingMethodError); !ok || !strings.Contains(fmt.Sprint(got), "rt.Point has no method Absent any more") {
		t.Errorf("a missing method: %v", got)
	}
}

// TestCompiledMethodsGrowth makes the methods of structs with an embedded type: twice as many methods are twice as much work.
func TestCompiledMethodsGrowth(t *testing.T) {
	allocated := func(methods int) float64 {
		pkg := types.NewPackage("cell", "cell")
		inner := types.NewNamed(types.NewTypeName(0, pkg, "Inner", nil), types.NewStruct(nil, nil), nil)
		for i := range methods {
			receiver := types.NewParam(0, pkg, "", inner)
			inner.AddMethod(types.NewFunc(0, pkg, fmt.Sprint("M", i), types.NewSignatureType(receiver, nil, nil, nil, nil, false)))
		}
		embedded := types.NewStruct([]*types.Var{types.NewField(0, pkg, "Inner", inner, true)}, nil)
		outer := types.NewNamed(types.NewTypeName(0, pkg, "Outer", nil), embedded, nil)
		r := New(Config{Interpreted: func(n *types.Named) bool { return n.Obj().Pkg() == pkg }})
		selections := r.Describe(outer).allMethods()
		return testing.AllocsPerRun(1, func() {
			if list := r.compiledMethods(selections); len(list) != methods {
				t.Errorf("%d methods, want %d", len(list), methods)
			}
		})
	}
	if few, many := allocated(100), allocated(200); many > 3*few {
		t.Errorf("100 methods allocate %v objects, and 200 allocate %v", few, many)
	}
}

// TestPromotedMethods calls methods that no code has been registered for: those of embedded fields, and those of T for *T.
func TestPromotedMethods(t *testing.T) {
	w := newHarness(t)
	fresh := New(Config{Interpreted: w.config.Interpreted})
	for _, name := range []string{"Shy", "Base", "Square", "Point"} {
		typ := w.pkg.Scope().Lookup(name).Type()
		if list := w.Describe(typ).methods.Load(); list != nil {
			for _, m := range *list {
				fresh.Register(fresh.ID(typ), m.name, m.code, nil)
			}
		}
	}
	describe := func(name string) *Type { return fresh.Describe(w.pkg.Scope().Lookup(name).Type()) }
	shy := describe("Shy")
	fresh.Register(shy.pointer().id, "String", codeOf(&struct{ N int }{}, func(x any) string { return fmt.Sprint("shy ", x.(*struct{ N int }).N) }), nil)

	deep := Deep{Shy: &Shy{4}, Base: Base{5, "b"}, Buffer: bytes.NewBufferString("compiled"), Shape: Square{3}}
	raw := w.Value(w.box(deep))
	square := describe("Square").Box(struct{ Side float64 }{3})
	v := reflect.New(reflect.TypeOf(raw)).Elem()
	v.Set(reflect.ValueOf(raw))
	store(fresh, v.Field(3), describe("Shape"), square)
	d := describe("Deep")
	base := &struct {
		ID   int `json:"id"`
		Name string
	}{1, "p"}
	none := reflect.Zero(reflect.TypeOf(base)).Interface()
	values := map[string]any{
		"Deep": d.Box(v.Interface()), "*Deep": d.pointer().Box(v.Addr().Interface()),
		"*Shy": shy.pointer().Box(&struct{ N int }{7}), "*Base": describe("Base").pointer().Box(base), "nil *Base": describe("Base").pointer().Box(none),
		"empty Deep": d.Box(reflect.Zero(v.Type()).Interface()), "nil *Deep": d.pointer().Box(reflect.Zero(reflect.PointerTo(v.Type())).Interface()),
	}
	const nilPointer = "runtime error: invalid memory address or nil pointer dereference"
	for _, row := range []struct {
		of, method string
		argument   []any
		want       any // a result, or the text of a panic
	}{
		{"Deep", "Describe", nil, "b#5"},
		{"*Deep", "Describe", nil, "b#5"},
		{"Deep", "Area", nil, 9.0}, // of an interface
		{"*Deep", "Area", nil, 9.0},
		{"Deep", "Len", nil, len("compiled")}, // of a compiled type
		{"*Deep", "Len", nil, len("compiled")},
		{"*Deep", "Write", []any{[]byte("!")}, 1},
		{"Deep", "String", nil, "rt.Deep has no method String any more: a later cell has changed its methods, or those of a type that it embeds"}, // it is ambiguous
		{"*Shy", "String", nil, "shy 7"},
		{"*Base", "Describe", nil, "p#1"},
		{"nil *Base", "Describe", nil, "value method rt.Base.Describe called using nil *Base pointer"},
		{"nil *Deep", "Describe", nil, nilPointer},
		{"empty Deep", "Area", nil, nilPointer},
		{"empty Deep", "Len", nil, nilPointer}, // (*bytes.Buffer)(nil).Len
	} {
		var got any
		if cause := panicValue(func() { got = callMethod(fresh, values[row.of], row.method, row.argument...) }); cause != nil {
			got = fmt.Sprint(cause)
		}
		if got != row.want {
			t.Errorf("%s of %s gives %v, want %v", row.method, row.of, got, row.want)
		}
	}
}

// TestMethodAddedLater declares a method in a later cell than its type.
func TestMethodAddedLater(t *testing.T) {
	w := newHarness(t)
	r := New(Config{Interpreted: w.config.Interpreted})
	typ := redeclare(t, w, "Point")
	d := r.Describe(typ)
	stringer := r.Describe(w.checked(reflect.TypeFor[fmt.Stringer]()))
	before := d.Box(struct{ X, Y int }{1, 2})
	if _, ok := before.(fmt.Stringer); ok || r.Implements(before, stringer) {
		t.Fatal("the type is a Stringer too early")
	}
	addMethod(typ, w.pkg.Scope().Lookup("Celsius").Type(), "String")
	r.Register(d.id, "String", codeOf(struct{ X, Y int }{}, func(any) string { return "now" }), nil)
	after := d.Box(struct{ X, Y int }{1, 2})
	if s, ok := after.(fmt.Stringer); !ok || s.String() != "now" || !r.Implements(before, stringer) {
		t.Error("the added method is not found")
	}
	old, both := map[any]int{before: 5}, map[any]int{before: 5, after: 6} // both: stored while a goroutine ran
	for i := range 2 {
		retyper := r.Retype(false)
		if (retyper != nil) != (i == 0) {
			t.Errorf("call %d of Retype returns %v", i, retyper)
		}
		if retyper == nil {
			continue
		}
		if all, err := retyper.Visit(reflect.ValueOf(&old).Elem()); all || err != nil {
			t.Errorf("the map has been visited, or it is not known that it has been skipped: %v", err)
		}
	}
	retyper := r.Retype(true)
	if retyper == nil {
		t.Fatal("the maps are not visited later")
	}
	retyper.Visit(reflect.ValueOf(&old).Elem())
	retyper.Visit(reflect.ValueOf(&both).Elem())
	if len(old) != 1 || old[after] != 5 || len(both) != 1 || both[after] != 6 || r.Retype(true) != nil || r.Retype(false) != nil {
		t.Errorf("the maps are %v, %v", old, both)
	}
	if got := fmt.Sprint(before, after); got != "{1 2} now" { // Retype has not seen the first one
		t.Errorf("the values print as %q", got)
	}
	if !r.Equal(before, after) {
		t.Error("a value is not equal to itself across the change")
	}
}

// TestSharedCode makes versions of a type of which the second one has a method more: the code of the other one is the same.
func TestSharedCode(t *testing.T) {
	w := newHarness(t)
	r := New(Config{Interpreted: w.config.Interpreted})
	typ := redeclare(t, w, "Point")
	d := r.Describe(typ)
	type point = struct{ X, Y int }
	add := func(from, name string, code func(any) string) reflect.Type {
		addMethod(typ, w.pkg.Scope().Lookup(from).Type(), name)
		r.Register(d.id, name, codeOf(point{}, code), nil)
		return reflect.TypeOf(d.Box(point{1, 2}))
	}
	first := add("Celsius", "String", func(x any) string { return fmt.Sprint(x.(point).X) })
	second := add("Base", "Describe", func(x any) string { return "described" })
	a, _ := first.MethodByName("String")
	b, ok := second.MethodByName("String")
	other, _ := second.MethodByName("Describe")
	if first == second || !ok || a.Func.Pointer() != b.Func.Pointer() || b.Func.Pointer() == other.Func.Pointer() {
		t.Errorf("the code of String is at %#x and %#x, and that of Describe at %#x", a.Func.Pointer(), b.Func.Pointer(), other.Func.Pointer())
	}
	if got := fmt.Sprint(d.Box(point{3, 4})); got != "3" {
		t.Errorf("the value prints as %q", got)
	}
}

func BenchmarkBox(b *testing.B) {
	w := newHarness(b)
	d, raw := w.typ(b, "Square"), w.Value(w.box(Square{1}))
	for b.Loop() {
		d.Box(raw)
	}
}

func BenchmarkIs(b *testing.B) {
	w := newHarness(b)
	id, x, e := w.typ(b, "Square").id, w.box(Square{1}), w.box(Code{1})
	b.Run("box", func(b *testing.B) {
		for b.Loop() {
			w.Is(x, id)
		}
	})
	b.Run("variant", func(b *testing.B) {
		for b.Loop() {
			w.Is(e, id)
		}
	})
	b.Run("compiled", func(b *testing.B) {
		for b.Loop() {
			w.Is("text", id)
		}
	})
	b.Run("compiledPointer", func(b *testing.B) {
		p := &bytes.Buffer{}
		for b.Loop() {
			w.Is(p, id)
		}
	})
}

func BenchmarkImplements(b *testing.B) {
	w := newHarness(b)
	shape, x := w.typ(b, "Shape"), w.box(Square{1})
	for b.Loop() {
		w.Implements(x, shape)
	}
}

func BenchmarkDispatch(b *testing.B) {
	w := newHarness(b)
	r := New(Config{Interpreted: w.config.Interpreted})
	d := r.Describe(w.pkg.Scope().Lookup("Code").Type())
	r.Register(d.id, "Error", codeOf(struct{ N int }{}, func(x any) string { return "e" }), nil)
	x := d.Box(struct{ N int }{1}).(error)
	b.Run("error", func(b *testing.B) {
		for b.Loop() {
			_ = x.Error()
		}
	})
	b.Run("compiled", func(b *testing.B) {
		y := bytes.NewBufferString("x")
		for b.Loop() {
			r.Bound(y, "Len").Call(nil)
		}
	})
}
