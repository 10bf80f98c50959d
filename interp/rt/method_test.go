package rt

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestMethod(t *testing.T) {
	w := newHarness(t)
	f, receiver, boxed := w.Method(w.box(Celsius(3)), "String")
	if !boxed || f.(func(any) string)(receiver) != "3.0°C" {
		t.Errorf("String of a boxed value: %T, boxed %v", f, boxed)
	}
	f, receiver, boxed = w.Method(w.box(Variadic{10}), "Sum")
	if got := f.(func(any, []int) int)(receiver, []int{1, 2}); !boxed || got != 13 {
		t.Errorf("a variadic method of a boxed value gives %d", got)
	}
	f, receiver, boxed = w.Method(bytes.NewBufferString("text"), "String")
	if boxed || receiver != nil || f.(func() string)() != "text" {
		t.Errorf("String of a compiled value: %T, boxed %v", f, boxed)
	}
	f, _, _ = w.Method(Variadic{10}, "Sum")
	if got := f.(func([]int) int)([]int{1, 2}); got != 13 {
		t.Errorf("a variadic method of a compiled value gives %d", got)
	}
	for _, x := range []any{nil} {
		want := panicValue(func() { var s fmt.Stringer; _ = s.String() })
		got := panicValue(func() { w.Method(x, "String") })
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("a method of nil: %v, want %v", got, want)
		}
	}
	got := panicValue(func() { w.Method(w.box(Point{}), "Absent") })
	if _, ok := got.(missingMethodError); !ok || !strings.Contains(fmt.Sprint(got), "no method Absent is registered for rt.Point") {
		t.Errorf("a missing method: %v", got)
	}
}

// TestPromotedMethods calls methods that lowered code has not registered: those of embedded
// fields, and those of T for *T.
func TestPromotedMethods(t *testing.T) {
	w := newHarness(t)
	fresh := New(Config{Interpreted: w.config.Interpreted})
	for _, name := range []string{"Shy", "Base", "Square", "Point"} {
		typ := w.pkg.Scope().Lookup(name).Type()
		for name, m := range w.Describe(typ).methods.Range {
			fresh.Register(fresh.ID(typ), name.(string), m.(*method).function)
		}
	}
	shy := fresh.Describe(w.pkg.Scope().Lookup("Shy").Type())
	fresh.Register(shy.pointer().id, "String", func(x any) string { return fmt.Sprint("shy ", x.(*struct{ N int }).N) })

	deep := Deep{Shy: &Shy{4}, Base: Base{5, "b"}, Buffer: bytes.NewBufferString("compiled"), Shape: Square{3}}
	raw := w.Value(w.box(deep))
	square := fresh.Describe(w.pkg.Scope().Lookup("Square").Type()).Box(struct{ Side float64 }{3})
	v := reflect.New(reflect.TypeOf(raw)).Elem()
	v.Set(reflect.ValueOf(raw))
	v.Field(3).Set(reflect.ValueOf(square))
	d := fresh.Describe(w.pkg.Scope().Lookup("Deep").Type())
	for _, b := range []Box{{d, v.Interface()}, {d.pointer(), v.Addr().Interface()}} {
		if got := call0[string](b, "Describe"); got != "b#5" {
			t.Errorf("%s: a method of a value gives %q", b.T, got)
		}
		if got := call0[float64](b, "Area"); got != 9 {
			t.Errorf("%s: a method of an interface gives %v", b.T, got)
		}
		if got := call0[int](b, "Len"); got != len("compiled") {
			t.Errorf("%s: a method of a compiled type gives %v", b.T, got)
		}
		if got, err := call1x2[int, error](b, "Write", []byte("!")); got != 1 || err != nil {
			t.Errorf("%s: Write gives %v, %v", b.T, got, err)
		}
		deep.Buffer.Truncate(len("compiled"))
		if _, missing := panicValue(func() { call0[string](b, "String") }).(error); !missing {
			t.Errorf("%s: String is ambiguous and was called", b.T)
		}
	}
	if got := call0[string](Box{fresh.Describe(w.pkg.Scope().Lookup("Shy").Type()).pointer(), &struct{ N int }{7}}, "String"); got != "shy 7" {
		t.Errorf("String of *Shy gives %q", got)
	}
	base := fresh.Describe(w.pkg.Scope().Lookup("Base").Type()).pointer()
	p := &struct {
		ID   int `json:"id"`
		Name string
	}{1, "p"}
	if got := call0[string](Box{base, p}, "Describe"); got != "p#1" {
		t.Errorf("Describe of *Base gives %q", got)
	}
	p = nil
	if got := panicValue(func() { call0[string](Box{base, p}, "Describe") }); fmt.Sprint(got) != "value method rt.Base.Describe called using nil *Base pointer" {
		t.Errorf("Describe of a nil *Base panics with %v", got)
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
	r.Register(d.id, "String", func(any) string { return "now" })
	after := d.Box(struct{ X, Y int }{1, 2})
	if s, ok := after.(fmt.Stringer); !ok || s.String() != "now" || !r.Implements(before, stringer) {
		t.Error("the added method is not found")
	}
	old, both := map[any]int{before: 5}, map[any]int{before: 5, after: 6} // both: stored while a goroutine ran
	for range 2 {
		if retyper := r.Retype(false); retyper != nil {
			retyper.Visit(reflect.ValueOf(&old).Elem())
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
	r.Register(d.id, "Error", func(x any) string { return "e" })
	x := d.Box(struct{ N int }{1}).(error)
	b.Run("Method", func(b *testing.B) {
		for b.Loop() {
			f, receiver, _ := r.Method(x, "Error")
			f.(func(any) string)(receiver)
		}
	})
	b.Run("error", func(b *testing.B) {
		for b.Loop() {
			_ = x.Error()
		}
	})
	b.Run("compiled", func(b *testing.B) {
		y := bytes.NewBufferString("x")
		for b.Loop() {
			f, _, _ := r.Method(y, "Len")
			f.(func() int)()
		}
	})
}
