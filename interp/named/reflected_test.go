package named

import (
	"reflect"
	"testing"
)

func TestSetField(t *testing.T) {
	s := reflect.StructOf([]reflect.StructField{
		{Name: "A", Type: reflect.TypeFor[int32]()}, {Name: "B", Type: reflect.TypeFor[*int](), Tag: `of:"TestSetField"`},
	})
	SetField(s, 1, reflect.TypeFor[*string]())
	SetEmbedded(s, 0)
	if f := s.Field(1); f.Type != reflect.TypeFor[*string]() || f.Anonymous || !s.Field(0).Anonymous {
		t.Errorf("got %v and %v", s.Field(0), f)
	}
}

func TestSetParts(t *testing.T) {
	unique := func(tag string) reflect.Type {
		return reflect.StructOf([]reflect.StructField{{Name: "A", Type: reflect.TypeFor[int](), Tag: reflect.StructTag(tag)}})
	}
	x, y := unique("x"), unique("y")
	for _, tt := range []struct{ t, parts reflect.Type }{
		{reflect.PointerTo(x), reflect.PointerTo(y)},
		{reflect.SliceOf(x), reflect.SliceOf(y)},
		{reflect.ChanOf(reflect.BothDir, x), reflect.ChanOf(reflect.BothDir, y)},
		{reflect.ArrayOf(3, x), reflect.ArrayOf(3, y)},
		{reflect.MapOf(x, x), reflect.MapOf(y, y)},
	} {
		SetParts(tt.t, tt.parts)
		if tt.t.Elem() != y || tt.t.Kind() == reflect.Map && tt.t.Key() != y || tt.t.Kind() == reflect.Array && tt.t.Len() != 3 {
			t.Errorf("%s: got element %s", tt.t.Kind(), tt.t.Elem())
		}
	}
	f := reflect.FuncOf([]reflect.Type{x, reflect.SliceOf(unique("z"))}, []reflect.Type{x}, true)
	SetParts(f, reflect.FuncOf([]reflect.Type{y, reflect.TypeFor[[]int]()}, []reflect.Type{y}, true))
	if f.In(0) != y || f.In(1) != reflect.TypeFor[[]int]() || f.Out(0) != y || !f.IsVariadic() {
		t.Errorf("got %v %v %v", f.In(0), f.In(1), f.Out(0))
	}
	SetString(f, "func(...)")
	SetString(reflect.TypeFor[func(bool) (a, b int)](), "compiled")
	if f.String() != "func(...)" || reflect.TypeFor[func(bool) (a, b int)]().String() != "func(bool) (int, int)" {
		t.Errorf("got %s", f)
	}
}
