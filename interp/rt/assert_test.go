package rt

import (
	"bytes"
	"errors"
	"fmt"
	"go/types"
	"io"
	"reflect"
	"runtime"
	"sort"
	"strings"
	"testing"
)

func TestTypeTests(t *testing.T) {
	w := newHarness(t)
	square, shape := w.box(Square{2}), w.typ(t, "Shape")
	tests := []struct {
		name string
		got  any
		want any
	}{
		{"Is the type", w.Is(square, w.typ(t, "Square").id), true},
		{"Is another type of the same shape", w.Is(w.box(Float(1)), w.typ(t, "Celsius").id), false},
		{"Is of a compiled value", w.Is(1, w.typ(t, "Int").id), false},
		{"Is of nil", w.Is(nil, w.typ(t, "Int").id), false},
		{"Is a composite type", w.Is(w.box([]Celsius{1}), w.typ(t, "[]Celsius").id), true},
		{"Is a pointer", w.Is(w.box(&Point{}), w.typ(t, "*Point").id), true},
		{"Is an instance", w.Is(w.box(Pair[Text, Int]{}), w.typ(t, "Pair[Text, Int]").id), true},
		{"Is another instance", w.Is(w.box(Pair[Text, Int]{}), w.typ(t, "Pair[Int, Celsius]").id), false},
		{"TypeID", w.TypeID(square), w.typ(t, "Square").id},
		{"TypeID of a compiled value", w.TypeID("x"), -1},
		{"TypeID of nil", w.TypeID(nil), -1},
		{"Implements", w.Implements(square, shape), true},
		{"Implements, a method is missing", w.Implements(square, w.typ(t, "interface{ Area() float64; Name() string }")), false},
		{"Implements, another signature", w.Implements(square, w.typ(t, "interface{ Area() float32 }")), false},
		{"Implements by pointer only", w.Implements(w.box(Shy{}), typeOf[fmt.Stringer](w)), false},
		{"Implements by pointer", w.Implements(w.box(&Shy{}), typeOf[fmt.Stringer](w)), true},
		{"Implements any", w.Implements(square, w.typ(t, "any")), true},
		{"Implements of nil", w.Implements(nil, w.typ(t, "any")), false},
		{"Implements, compiled value, interface of a cell", w.Implements(&bytes.Buffer{}, w.typ(t, "interface{ Write(p []byte) (int, error); String() string }")), true},
		{"Implements, compiled value by value", w.Implements(bytes.Buffer{}, w.typ(t, "interface{ String() string }")), false},
		{"Implements, compiled value, another signature", w.Implements(&bytes.Buffer{}, w.typ(t, "interface{ Write(p []byte) int }")), false},
		{"Implements, compiled value, type of a cell in the signature", w.Implements(&bytes.Buffer{}, w.typ(t, "interface{ Write(p Bytes) (int, error) }")), false},
		{"Implements, compiled value, unexported method", w.Implements(&bytes.Buffer{}, w.typ(t, "interface{ grow(n int) int }")), false},
		{"Implements, promoted method", w.Implements(w.box(Derived{}), w.typ(t, "interface{ Describe() string }")), true},
		{"Implements, embedded interface", w.Implements(w.box(Holder{}), shape), true},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, tt.got, tt.want)
		}
	}
	if v, ok := w.As(square, w.typ(t, "Square").id); !ok || v != (struct{ Side float64 }{2}) {
		t.Errorf("As gives %#v, %v", v, ok)
	}
	if v, ok := w.As(square, shape.id); ok || v != nil {
		t.Errorf("As of another type gives %v, %v", v, ok)
	}
}

func TestRedefinedTypesDiffer(t *testing.T) {
	first, second := newHarness(t), newHarness(t)
	if first != second {
		t.Fatal("the test needs one registry")
	}
	// two declarations of one name, as in two cells
	r := New(Config{Interpreted: first.config.Interpreted})
	a, b := redeclare(t, first, "Celsius"), redeclare(t, first, "Celsius")
	if r.ID(a) == r.ID(b) {
		t.Error("two declarations of one name have one descriptor")
	}
	x, y := r.Describe(a).Box(1.0), r.Describe(b).Box(1.0)
	if r.Equal(x, y) || x == y {
		t.Error("values of two types are equal")
	}
	got := fmt.Sprint(panicValue(func() {
		r.AssertionFailed(x, r.Describe(types.NewInterfaceType(nil, nil)), r.Describe(b), (*float64)(nil))
	}))
	if want := "interface conversion: interface {} is rt.Celsius, not rt.Celsius (types from different scopes)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAssertionFailed(t *testing.T) {
	w := newHarness(t)
	var (
		any0    any = "text"
		square  any = Square{1}
		null    any
		shape   Shape = Square{1}
		noShape Shape
		err     error = Code{1}
		shy     any   = Shy{}
	)
	tests := []struct {
		name   string
		real   func()
		x      any
		target *Type
		source *Type
	}{
		{"compiled to interpreted", func() { _ = any0.(Point) }, "text", w.typ(t, "Point"), nil},
		{"interpreted to interpreted", func() { _ = square.(Point) }, w.box(square), w.typ(t, "Point"), nil},
		{"interpreted to compiled", func() { _ = square.(string) }, w.box(square), w.typ(t, "string"), nil},
		{"nil to a type", func() { _ = null.(Point) }, nil, w.typ(t, "Point"), w.typ(t, "any")},
		{"nil to an interface", func() { _ = null.(Shape) }, nil, w.typ(t, "Shape"), nil},
		{"named interface", func() { _ = shape.(*Square2) }, w.box(shape), w.typ(t, "*Square2"), w.typ(t, "Shape")},
		{"nil named interface", func() { _ = noShape.(Square) }, nil, w.typ(t, "Square"), w.typ(t, "Shape")},
		{"error", func() { _ = err.(*Wrapped) }, w.box(err), w.typ(t, "*Wrapped"), w.typ(t, "error")},
		{"missing method", func() { _ = square.(fmt.Stringer) }, w.box(square), typeOf[fmt.Stringer](w), nil},
		{"first missing method", func() { _ = square.(sort.Interface) }, w.box(square), typeOf[sort.Interface](w), nil},
		{"missing method of a compiled value", func() { _ = any0.(Shape) }, "text", w.typ(t, "Shape"), nil},
		{"method of the pointer", func() { _ = shy.(fmt.Stringer) }, w.box(shy), typeOf[fmt.Stringer](w), nil},
		{"compiled types", func() { _ = any0.(int) }, "text", w.typ(t, "int"), nil},
		{"composite types", func() { _ = any0.(map[Text][]*Point) }, "text", w.typ(t, "map[Text][]*Point"), nil},
	}
	for _, tt := range tests {
		if tt.source == nil {
			tt.source = w.typ(t, "any")
		}
		raw := tt.target.compiled
		if raw == nil {
			raw = w.rawType(tt.target.typ, w.realType(tt.target.typ))
		}
		pointer := reflect.Zero(reflect.PointerTo(raw)).Interface()
		want, got := panicValue(tt.real), panicValue(func() { w.AssertionFailed(tt.x, tt.source, tt.target, pointer) })
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s:\n got %v\nwant %v", tt.name, got, want)
		}
		if _, ok := got.(runtime.Error); !ok {
			t.Errorf("%s: %T is not a runtime.Error", tt.name, got)
		}
		if got, want := fmt.Sprintf("%T", got), fmt.Sprintf("%T", want); got != want {
			t.Errorf("%s: the error is a %s, want %s", tt.name, got, want)
		}
	}
}

func TestEqual(t *testing.T) {
	w := newHarness(t)
	p := &Point{}
	values := []any{
		nil, 1, Int(1), Int(2), Celsius(1), Float(1), Text("1"), Point{1, 2, "n"}, Point{1, 2, "m"}, p, &Point{}, (*Point)(nil), (*Shy)(nil),
		Code{1}, Code{2}, Both{1}, Pair[Text, Int]{"a", 1}, Pair[Int, Celsius]{1, 1}, Hash{1}, Hash{2}, io.EOF, errors.New("x"),
		struct{ C Celsius }{1}, struct{ C Float }{1}, Empty{}, struct{}{}, Holder{Shape: Square{1}}.Shape, Flag(true), true,
	}
	boxed := make([]any, len(values))
	keys := map[any]int{}
	for i, x := range values {
		boxed[i] = w.box(x)
		keys[boxed[i]]++
	}
	for i, x := range values {
		for j, y := range values {
			if got := w.Equal(boxed[i], boxed[j]); got != (x == y) {
				t.Errorf("Equal(%#v, %#v) = %v", x, y, got)
			}
			if got := boxed[i] == boxed[j]; got != (x == y) {
				t.Errorf("boxes of %#v, %#v: == is %v", x, y, got)
			}
		}
		if keys[boxed[i]] != 1 {
			t.Errorf("%#v is %d keys of a map", x, keys[boxed[i]])
		}
	}
	for _, x := range []any{Ints{1}, Names{}, Action(func(Int) error { return nil }), []any{1}} {
		want := fmt.Sprint(panicValue(func() { _ = x == any(x) }))
		got := fmt.Sprint(panicValue(func() { w.Equal(w.box(x), w.box(x)) }))
		if got != want || !strings.HasPrefix(got, "runtime error: comparing uncomparable type") {
			t.Errorf("comparing %T: got %s, want %s", x, got, want)
		}
	}
}
