package main

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
)

type Celsius float64

func (c Celsius) String() string { return fmt.Sprintf("%.1fC", float64(c)) }

type Address struct {
	Street string `json:"street"`
	zip    int
}
type User struct {
	Name string `json:"name" validate:"required"`
	Age  int    `json:"age" validate:"min=18"`
	Temp Celsius
	Address
	tags []string
	Next *User
	Any  any
	Err  error
}

func (u User) Greet(s string) string { return s + " " + u.Name }
func (u *User) Rename(n string)      { u.Name = n }
func (u User) hidden()               {}
func (u User) Multi(a int, b ...string) (int, error) {
	return a + len(b), errors.New(strings.Join(b, ","))
}

type Shape interface{ Area() float64 }
type Sq float64

func (s Sq) Area() float64 { return float64(s * s) }

func walk(x any, indent string) {
	v := reflect.ValueOf(x)
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	t := v.Type()
	fmt.Println(indent, t, t.Name(), t.Kind(), t.NumField(), t.PkgPath())
	for i := 0; i < t.NumField(); i++ {
		f := t.Field(i)
		fv := v.Field(i)
		fmt.Println(indent, f.Name, f.Type, f.Tag.Get("json"), f.Anonymous, f.IsExported(), fv.Kind(), fv.CanSet(), fv.CanInterface())
		if fv.CanInterface() {
			fmt.Printf("%s %v %T\n", indent, fv.Interface(), fv.Interface())
		}
		if f.Type.Kind() == reflect.Struct && f.IsExported() {
			walk(fv.Interface(), indent+"  ")
		}
	}
}

func main() {
	u := User{Name: "Ann", Age: 3, Temp: 36.6, Address: Address{"Main", 5}, Any: Celsius(3), Err: errors.New("e")}
	walk(u, "")
	walk(&u, "")
	v := reflect.ValueOf(u)
	fmt.Println(v.NumMethod(), v.Type().NumMethod(), reflect.ValueOf(&u).NumMethod())
	for i := 0; i < v.NumMethod(); i++ {
		fmt.Println(v.Type().Method(i).Name, v.Type().Method(i).Type, v.Method(i).Type())
	}
	out := v.MethodByName("Greet").Call([]reflect.Value{reflect.ValueOf("hi")})
	fmt.Println(out[0], out[0].String(), len(out))
	out = v.MethodByName("Multi").Call([]reflect.Value{reflect.ValueOf(1), reflect.ValueOf("a"), reflect.ValueOf("b")})
	fmt.Println(out[0].Int(), out[1].Interface().(error))
	m := v.MethodByName("Nope")
	fmt.Println(m.IsValid())
	p := reflect.ValueOf(&u)
	p.MethodByName("Rename").Call([]reflect.Value{reflect.ValueOf("Bob")})
	fmt.Println(u.Name)
	p.Elem().FieldByName("Age").SetInt(44)
	p.Elem().FieldByName("Temp").Set(reflect.ValueOf(Celsius(1)))
	fmt.Println(u.Age, u.Temp, p.Elem().FieldByName("Street"), p.Elem().FieldByName("zip").Int(), p.Elem().FieldByName("nope").IsValid())
	fmt.Println(v.Field(2), v.Field(2).Interface().(fmt.Stringer).String(), v.FieldByName("Temp").Type())
	s := reflect.ValueOf([]Shape{Sq(2), Sq(3)})
	for i := 0; i < s.Len(); i++ {
		fmt.Println(s.Index(i), s.Index(i).Kind(), s.Index(i).Elem().Type(), s.Index(i).Interface().(Shape).Area())
	}
	mm := reflect.ValueOf(map[string]Celsius{"a": 1})
	for _, k := range mm.MapKeys() {
		fmt.Println(k, mm.MapIndex(k), mm.MapIndex(k).Type())
	}
	it := mm.MapRange()
	for it.Next() {
		fmt.Println(it.Key(), it.Value().Interface())
	}
	nv := reflect.New(reflect.TypeOf(u))
	nv.Elem().Field(0).SetString("new")
	fmt.Println(nv.Elem().Interface().(User).Name, nv.Type(), nv.Interface().(*User).Greet("yo"))
	sl := reflect.MakeSlice(reflect.TypeOf([]Celsius{}), 0, 3)
	sl = reflect.Append(sl, reflect.ValueOf(Celsius(4)))
	fmt.Println(sl, sl.Interface().([]Celsius)[0])
	fn := reflect.ValueOf(strings.ToUpper)
	fmt.Println(fn.Call([]reflect.Value{reflect.ValueOf("x")})[0])
	sh := reflect.TypeOf((*Shape)(nil)).Elem()
	fmt.Println(sh, reflect.TypeOf(Sq(1)).Implements(sh), reflect.TypeOf(u).Implements(sh), sh.Kind(), sh.NumMethod(), sh.Method(0).Name)
	fmt.Println(reflect.TypeOf(u) == reflect.TypeOf(User{}), reflect.TypeOf(u) == reflect.TypeOf(&u), v.Type() == reflect.TypeOf(u))
	fmt.Println(reflect.Zero(reflect.TypeOf(u)).Interface().(User).Name == "", reflect.DeepEqual(u, u))
	var nilp *User
	fmt.Println(reflect.ValueOf(nilp).IsNil(), reflect.ValueOf(nil).IsValid(), reflect.Indirect(p).Type())
	f2 := reflect.MakeFunc(reflect.TypeOf(func(a, b int) int { return 0 }), func(a []reflect.Value) []reflect.Value {
		return []reflect.Value{reflect.ValueOf(int(a[0].Int() + a[1].Int()))}
	})
	fmt.Println(f2.Interface().(func(int, int) int)(1, 2))
	var e error = &MyErr{3}
	fmt.Println(reflect.TypeOf(e), reflect.ValueOf(e).Elem().Field(0), reflect.ValueOf(e).Type().Elem().Name())
	cv := reflect.ValueOf(3.5).Convert(reflect.TypeOf(Celsius(0)))
	fmt.Println(cv, cv.Type(), cv.Interface())
	defer func() { fmt.Println(recover()) }()
	reflect.ValueOf(u).Field(0).SetString("x")
}

type MyErr struct{ Code int }

func (m *MyErr) Error() string { return "myerr" }
