package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"sort"
	"strings"
	"time"
)

type P struct{ X, Y int }

func (p P) String() string { return fmt.Sprintf("P<%d,%d>", p.X, p.Y) }

type Q struct{ X, Y int }

type C float64
type D float64

func (c C) F() D { return D(c*9/5 + 32) }

type Weekday int

const (
	Sunday Weekday = iota
	Monday
	Tuesday
)

func (d Weekday) String() string { return [...]string{"Sun", "Mon", "Tue"}[d] }

type Shape interface {
	Area() float64
	Perimeter() float64
}
type Named interface{ Name() string }
type NamedShape interface {
	Shape
	Named
}
type Rect struct{ w, h float64 }
type Circle struct{ r float64 }

func (r Rect) Area() float64         { return r.w * r.h }
func (r Rect) Perimeter() float64    { return 2 * (r.w + r.h) }
func (r Rect) Name() string          { return "rect" }
func (c *Circle) Area() float64      { return 3 * c.r * c.r }
func (c *Circle) Perimeter() float64 { return 6 * c.r }

type MyErr struct{ code int }

func (e *MyErr) Error() string        { return fmt.Sprint("myerr ", e.code) }
func (e *MyErr) Is(target error) bool { return target == errBase }

var errBase = errors.New("base")

type ValErr struct{ msg string }

func (e ValErr) Error() string { return e.msg }

type wrapErr struct {
	op  string
	err error
}

func (w wrapErr) Error() string { return w.op + ": " + w.err.Error() }
func (w wrapErr) Unwrap() error { return w.err }

func mayFail(n int) error {
	var e *MyErr
	switch n {
	case 0:
		return nil
	case 1:
		return e // typed nil
	case 2:
		return &MyErr{2}
	case 3:
		return ValErr{"val"}
	case 4:
		return wrapErr{"op", &MyErr{4}}
	}
	return fmt.Errorf("outer: %w", wrapErr{"in", ValErr{"deep"}})
}

func describe(x any) string {
	switch v := x.(type) {
	case nil:
		return "nil"
	case P:
		return "P " + v.String()
	case Q:
		return fmt.Sprint("Q ", v.X)
	case *P:
		return fmt.Sprint("*P ", v.X)
	case C, D:
		return fmt.Sprintf("temp %v", v)
	case float64:
		return "float"
	case Weekday:
		return "day " + v.String()
	case int, int64:
		return fmt.Sprintf("int %v", v)
	case []P:
		return fmt.Sprint("Ps ", len(v))
	case map[string]Q:
		return fmt.Sprint("map ", v["a"].Y)
	case func(int) P:
		return v(3).String()
	case NamedShape:
		return "named " + v.Name()
	case Shape:
		return fmt.Sprint("shape ", v.Area())
	case error:
		return "error " + v.Error()
	case fmt.Stringer:
		return "stringer " + v.String()
	case struct{ A int }:
		return fmt.Sprint("anon ", v.A)
	case chan P:
		return "chan"
	case [2]P:
		return "array"
	}
	return fmt.Sprintf("other %T", x)
}

type Writer struct{ lines []string }

func (w *Writer) Write(p []byte) (int, error) {
	w.lines = append(w.lines, strings.TrimSpace(string(p)))
	return len(p), nil
}

type upper struct{ r io.Reader }

func (u upper) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	copy(p, bytes.ToUpper(p[:n]))
	return n, err
}

type byLen []string

func (b byLen) Len() int           { return len(b) }
func (b byLen) Less(i, j int) bool { return len(b[i]) < len(b[j]) }
func (b byLen) Swap(i, j int)      { b[i], b[j] = b[j], b[i] }

type Animal interface{ Sound() string }
type Base struct{ name string }

func (b *Base) SetName(s string) { b.name = s }
func (b Base) Hello() string     { return "hello " + b.name }
func (b Base) Sound() string     { return b.name + "?" }

type Dog struct {
	Base
	age int
}

func (d Dog) Sound() string { return "woof" }

type Puppy struct {
	*Dog
	Toy fmt.Stringer
}
type WithIface struct {
	Animal
	io.Writer
}

type T struct {
	A    int    `json:"a"`
	B    string `json:"b,omitempty"`
	priv int
	In   Base2              `json:"in"`
	M    map[string]Weekday `json:"m,omitempty"`
	L    []P
	Base3
	Ptr *P
	Any any
}
type Base2 struct{ Z int }
type Base3 struct{ Q3 string }

func (d Weekday) MarshalText() ([]byte, error) { return []byte("day-" + d.String()), nil }
func (d *Weekday) UnmarshalText(b []byte) error {
	for i, s := range []string{"Sun", "Mon", "Tue"} {
		if string(b) == "day-"+s {
			*d = Weekday(i)
			return nil
		}
	}
	return fmt.Errorf("bad day %q", b)
}

func main() {
	p := P{1, 2}
	fmt.Println(p, &p, []P{p}, map[string]P{"k": p}, [1]P{p}, struct{ In P }{p}, Q{3, 4}, &Q{5, 6})
	fmt.Printf("%v %+v %#v %T %s %d\n", p, Q{1, 2}, Q{1, 2}, p, p, Q{1, 2})
	fmt.Printf("%T %T %T %T %T %T\n", C(1), []Q{}, map[P]*Q{}, func(P) Q { return Q{} }, &p, Tuesday)
	fmt.Printf("%v|%6v|%-6v|%s|%d|%q|%x\n", Monday, Monday, Monday, Monday, Monday, Monday, 255)
	fmt.Println(C(100).F(), Tuesday, []Weekday{0, 1}, map[Weekday]int{Monday: 1})
	one := 1
	for _, x := range []any{nil, p, &p, Q{7, 8}, C(1), D(2), 3.5, Monday, 3, int64(4), []P{p}, map[string]Q{"a": {1, 9}},
		func(i int) P { return P{i, i} }, Rect{1, 2}, &Circle{2}, mayFail(2), time.Second, struct{ A int }{5}, make(chan P), [2]P{}, &one == nil, 'x', []any{1}} {
		fmt.Println(describe(x))
	}
	for i := range 6 {
		err := mayFail(i)
		var me *MyErr
		var ve ValErr
		var we interface{ Unwrap() error }
		fmt.Println(i, err == nil, errors.Is(err, errBase), i != 1 && errors.As(err, &me), errors.As(err, &ve), ve.msg, errors.As(err, &we))
		if i == 5 {
			fmt.Println(err, errors.Unwrap(err))
		}
	}
	joined := errors.Join(mayFail(3), mayFail(2))
	var me *MyErr
	fmt.Println(errors.As(joined, &me), me.code, strings.ReplaceAll(joined.Error(), "\n", "|"))
	var s Shape = Rect{2, 3}
	n, ok := s.(Named)
	fmt.Println(n.Name(), ok, s.Area(), s.(Rect).w)
	_, ok = s.(*Circle)
	_, ok2 := s.(fmt.Stringer)
	fmt.Println(ok, ok2)
	shapes := []Shape{Rect{1, 1}, &Circle{1}}
	sort.Slice(shapes, func(i, j int) bool { return shapes[i].Area() > shapes[j].Area() })
	total := 0.0
	for _, s := range shapes {
		total += s.Area()
	}
	fmt.Println(total)
	func() {
		defer func() { r := recover(); _, isErr := r.(error); fmt.Println(r, isErr) }()
		fmt.Println(any(p).(Q))
	}()
	func() {
		defer func() { fmt.Println(recover()) }()
		fmt.Println(s.(fmt.Stringer))
	}()
	func() {
		defer func() { fmt.Println(recover()) }()
		var none Shape
		fmt.Println(none.Area())
	}()
	func() {
		defer func() { fmt.Println(recover()) }()
		var none any
		fmt.Println(none.(int))
	}()
	var a, b any = P{1, 2}, P{1, 2}
	var c any = Q{1, 2}
	fmt.Println(a == b, a == c, a != nil, a == P{1, 2}, any(1) == any(1.0), any(C(1)) == any(D(1)))
	m := map[any]string{P{1, 2}: "p", Q{1, 2}: "q", 1: "one", "s": "str", Monday: "mon"}
	fmt.Println(m[P{1, 2}], m[Q{1, 2}], m[1], m["s"], m[Weekday(1)], m[C(1)] == "", len(m))
	delete(m, P{1, 2})
	_, has := m[P{1, 2}]
	fmt.Println(has, len(m))
	switch a {
	case c:
		fmt.Println("q")
	case p:
		fmt.Println("p")
	}
	var nilp *P
	var st fmt.Stringer = nilp
	fmt.Println(st == nil, nilp == nil)
	w := &Writer{}
	fmt.Fprintf(w, "x=%d\n", 5)
	fmt.Fprintln(io.MultiWriter(w, io.Discard), "multi")
	fmt.Println(w.lines)
	data, err := io.ReadAll(upper{strings.NewReader("abc")})
	fmt.Println(string(data), err)
	words := byLen{"ccc", "a", "bb"}
	sort.Sort(words)
	fmt.Println(words)
	sort.Sort(sort.Reverse(words))
	fmt.Println(words)
	d := Dog{Base{"rex"}, 3}
	d.SetName("max")
	fmt.Println(d.Hello(), d.Sound(), d.Base.Sound(), d.name)
	pup := Puppy{&d, p}
	pup.SetName("bob")
	fmt.Println(pup.Hello(), d.name, pup.age, pup.Toy)
	var an Animal = pup
	fmt.Println(an.Sound())
	wi := WithIface{d, w}
	fmt.Fprintln(wi, "through embedded writer", wi.Sound(), w.lines)
	f := p.String
	p.X = 100
	g := P.String
	h := (*Base).SetName
	h(&d.Base, "zed")
	k := Shape.Area
	fmt.Println(f(), g(p), d.name, k(Rect{3, 3}))
	t := T{A: 1, priv: 2, In: Base2{3}, M: map[string]Weekday{"x": Monday}, L: []P{{1, 2}}, Base3: Base3{"q"}, Ptr: &P{5, 6}, Any: Q{1, 1}}
	js, err := json.Marshal(t)
	fmt.Println(string(js), err)
	var back T
	err = json.Unmarshal(js, &back)
	fmt.Printf("%+v %v %v\n", back.M, back.In, err)
	fmt.Println(back.A, back.L, back.Q3, back.Ptr, back.Any)
	err = json.Unmarshal([]byte(`{"m":{"x":"nope"}}`), &back)
	fmt.Println(err)
	fmt.Println(reflect.TypeOf(p), reflect.TypeOf(p).Name(), reflect.TypeOf(&p).Elem().Name(), reflect.TypeOf(t).Field(0).Tag.Get("json"), reflect.TypeOf(p).Kind())
	fmt.Println(reflect.ValueOf(p).NumField(), reflect.DeepEqual([]P{p}, []P{p}), reflect.DeepEqual(P{1, 2}, Q{1, 2}))
	var sb strings.Builder
	fmt.Fprint(&sb, p, Monday, 3)
	fmt.Println(sb.String(), fmt.Sprint(p, p), fmt.Sprintln(Monday, "x"))
	e := fmt.Errorf("ctx %v: %w", p, ValErr{"v"})
	fmt.Println(e, errors.Unwrap(e) == ValErr{"v"}, errors.Unwrap(e).(ValErr).msg)
	var ch = make(chan any, 2)
	ch <- p
	ch <- Monday
	fmt.Println(<-ch, (<-ch).(Weekday)+1)
	arr := []any{p, Monday}
	arr = append(arr, Q{1, 1}, C(3))
	fmt.Println(arr...)
	mp := map[string]any{"p": p, "list": []any{Monday, nil}}
	fmt.Println(mp)
	panicErr := func() (err error) {
		defer func() { err, _ = recover().(error) }()
		panic(&MyErr{9})
	}()
	fmt.Println(panicErr)
}
