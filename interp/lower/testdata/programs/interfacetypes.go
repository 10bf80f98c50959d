package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"text/template"
)

// What package reflect says of interface types, and of types that mention them.

type I interface {
	Get(n int) (string, error)
	hidden()
}
type J interface {
	fmt.Stringer
	Area() float64
}
type K interface {
	J
	io.Reader
}
type Z interface{ IsZero() bool }
type zero int

func (z zero) IsZero() bool { return z == 7 }

type T struct {
	F  I
	G  J
	Z  Z `json:"z,omitempty"`
	L  interface{ M() }
	fn func(J) I
}
type impl struct{ n int }

func (i impl) Get(n int) (string, error) { return fmt.Sprint(i.n, n), nil }
func (i impl) hidden()                   {}

type sq float64

func (s sq) Area() float64   { return float64(s * s) }
func (s sq) String() string  { return "sq" }
func (s sq) Take(j J, i I) J { return j }

func local[A any](a A) any {
	type node struct {
		v    A
		next *node
	}
	return &node{v: a}
}
func local2[A, B any]() any {
	type pair[X any] struct{ x X }
	return 1
}

type E interface {
	error
	Code() int
}
type myErr int

func (m myErr) Error() string { return "e" }
func (m myErr) Code() int     { return int(m) }

type Named[K comparable, V any] map[K][]V

func show(t reflect.Type) {
	fmt.Println(t, t.Kind(), t.Name(), t.PkgPath(), t.NumMethod(), t.Size())
	for m := range t.Methods() {
		fmt.Println("  ", m.Name, m.Type, m.PkgPath, m.Index, m.IsExported())
	}
}

func main() {
	show(reflect.TypeFor[I]())
	show(reflect.TypeFor[J]())
	show(reflect.TypeFor[K]())
	show(reflect.TypeOf((*J)(nil)).Elem())
	show(reflect.TypeOf((*J)(nil)))
	show(reflect.TypeFor[interface{ M() }]())
	t := reflect.TypeFor[T]()
	for f := range t.Fields() {
		fmt.Println(f.Name, f.Type, f.Type.Kind(), f.Type.NumMethod())
	}
	fmt.Println(reflect.TypeFor[sq]().Implements(reflect.TypeFor[J]()), reflect.TypeFor[impl]().Implements(reflect.TypeFor[J]()), reflect.TypeFor[impl]().Implements(reflect.TypeFor[I]()))
	var j J = sq(2)
	fmt.Printf("%T %T %v %T\n", j, &j, reflect.TypeOf(&j).Elem(), T{})
	fmt.Printf("%T %T %T %T\n", local(1), local("a"), local(impl{}), local([]J{}))
	fmt.Printf("%v %T %v\n", local2[int, string](), Named[string, J]{}, reflect.TypeFor[Named[I, map[string]J]]())
	m, ok := reflect.TypeFor[J]().MethodByName("Area")
	fmt.Println(m.Name, m.Type, ok)
	fmt.Println(reflect.TypeFor[sq]().Method(2).Type, reflect.TypeFor[sq]().Method(2).Type.In(1).NumMethod())
	v := reflect.ValueOf(&j).Elem()
	fmt.Println(v.NumMethod(), v.Method(0).Call(nil)[0], v.MethodByName("String").Call(nil)[0], v.Kind(), v.Elem().Kind(), v.Type())
	b, err := json.Marshal([]T{{Z: zero(7)}, {Z: zero(6)}, {}})
	fmt.Println(string(b), err)
	var x struct {
		J J
		Z Z
		A any
	}
	err = json.Unmarshal([]byte(`{"J": 3}`), &x)
	fmt.Println(err)
	err = json.Unmarshal([]byte(`{"J": null, "Z": {"a": 1}}`), &x)
	fmt.Println(err)
	var e E
	fmt.Println(errors.As(fmt.Errorf("w: %w", myErr(3)), &e), e)
	var f func(J) I
	fmt.Printf("%T %T %T\n", f, []J{nil}, map[string]I{})
	ft := reflect.TypeOf(f)
	fmt.Println(ft.In(0).NumMethod(), ft.Out(0).NumMethod(), ft.In(0) == reflect.TypeFor[J]())
	mk := reflect.MakeFunc(reflect.TypeFor[func(J) string](), func(in []reflect.Value) []reflect.Value {
		return []reflect.Value{reflect.ValueOf(in[0].Type().String() + in[0].Elem().Type().String())}
	}).Interface().(func(J) string)
	fmt.Println(mk(j))
	tt := template.Must(template.New("").Parse("{{.G.Area}} {{.F.Get 3}}\n"))
	var out strings.Builder
	fmt.Println(tt.Execute(&out, T{G: sq(3), F: impl{4}}), out.String())
	nv := reflect.New(reflect.TypeFor[J]()).Elem()
	nv.Set(reflect.ValueOf(sq(5)))
	fmt.Println(nv.Interface().(J).Area(), nv.Type(), nv.NumMethod())
	sl := reflect.MakeSlice(reflect.TypeFor[[]J](), 1, 1)
	sl.Index(0).Set(reflect.ValueOf(sq(6)))
	fmt.Println(sl.Interface().([]J)[0].Area(), sl)
	fmt.Printf("%v %+v %#v\n", T{G: sq(1)}, struct{ J }{sq(1)}, struct{ G J }{sq(1)})
	st := reflect.StructOf([]reflect.StructField{{Name: "A", Type: reflect.TypeFor[J]()}})
	fmt.Println(st)
	fmt.Println(reflect.TypeFor[interface {
		fmt.Stringer
		Area() float64
	}]().AssignableTo(reflect.TypeFor[J]()), reflect.TypeFor[J]().Implements(reflect.TypeFor[fmt.Stringer]()), reflect.TypeFor[J]().ConvertibleTo(reflect.TypeFor[I]()))
}
