package layout

import (
	"encoding"
	"fmt"
	"reflect"
	"runtime"
	"testing"
	"unsafe"
)

type stub struct{}

func (s *stub) MarshalText() ([]byte, error) {
	return fmt.Appendf(nil, "at %d", *(*int)(unsafe.Pointer(s))), nil
}

func TestNamed(t *testing.T) {
	m := reflect.TypeFor[*stub]().Method(0)
	text := Method{m.Name, reflect.TypeFor[func() ([]byte, error)](), m.Func.UnsafePointer()}
	for _, like := range []reflect.Type{
		reflect.TypeFor[int](), reflect.TypeFor[string](), reflect.TypeFor[[]int](), reflect.TypeFor[[2]*int](), reflect.TypeFor[map[string]int](),
		reflect.TypeFor[chan int](), reflect.TypeFor[struct{ A, B int }](), reflect.StructOf([]reflect.StructField{{Name: "X", Type: reflect.TypeFor[*int]()}}),
	} {
		made := Named(like, "main.T", []Method{text}, []Method{text})
		if made.Name() != "T" || made.String() != "main.T" || made.PkgPath() != "main" || made.Kind() != like.Kind() || made.Size() != like.Size() {
			t.Errorf("%s: got name %q, string %q, path %q, kind %s", like, made.Name(), made, made.PkgPath(), made.Kind())
		}
		p := reflect.PointerTo(made)
		if p.String() != "*main.T" || p.Elem() != made || reflect.PointerTo(p).Elem() != p {
			t.Errorf("%s: the pointer is %s to %s", like, p, p.Elem())
		}
		marshaler := reflect.TypeFor[encoding.TextMarshaler]()
		if !made.Implements(marshaler) || !p.Implements(marshaler) || made.Implements(reflect.TypeFor[fmt.Stringer]()) {
			t.Errorf("%s: methods %d and %d", like, made.NumMethod(), p.NumMethod())
		}
		if other := Named(like, "main.T", nil, nil); other == made || other.NumMethod() != 0 || other.AssignableTo(made) {
			t.Errorf("%s: a second type is the first", like)
		}
		for range 100 {
			_ = reflect.MakeSlice(reflect.SliceOf(made), 100, 100)
			_ = reflect.MakeMap(reflect.MapOf(reflect.TypeFor[string](), made))
		}
		runtime.GC()
	}
	made := Named(reflect.TypeFor[int](), "main.Number", []Method{text}, []Method{text})
	x := reflect.New(made)
	x.Elem().SetInt(7)
	for _, v := range []reflect.Value{x, x.Elem()} {
		if got, err := v.Interface().(encoding.TextMarshaler).MarshalText(); string(got) != "at 7" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
	}
	if got := fmt.Sprintf("%T %v", x.Elem().Interface(), x.Elem().Interface()); got != "main.Number 7" {
		t.Errorf("got %q", got)
	}
}
