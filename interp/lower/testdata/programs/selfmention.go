package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"sort"
)

type T []T
type M map[string]M
type Set map[string]Set
type Expr func(env Env) (Value, error)
type Env map[string]Value
type Value interface{}
type Rule func(...Rule) []Rule
type Step func(in <-chan Step) (Step, bool)
type Tree map[string]*Tree
type List *[]List
type Grid [3][]Grid
type V struct {
	*W
	self []V
}
type W map[int]V
type Parser func(s string) (rest string, next Parser)
type Middle func(Middle, error) (Middle, error)

func (p Parser) Run(s string) int {
	n := 0
	for p != nil {
		s, p = p(s)
		n++
	}
	return n
}
func digits(s string) (string, Parser) {
	if s == "" {
		return "", nil
	}
	return s[1:], digits
}
func (m M) MarshalText() ([]byte, error) { return []byte("m"), nil }
func (t T) String() string               { return fmt.Sprintf("T%d", len(t)) }
func (t *T) Push(x T)                    { *t = append(*t, x) }
func (m *Tree) At(k string) *Tree        { return (*m)[k] }

type byLen T

func (b byLen) Len() int           { return len(b) }
func (b byLen) Less(i, j int) bool { return len(b[i]) < len(b[j]) }
func (b byLen) Swap(i, j int)      { b[i], b[j] = b[j], b[i] }

func h() http.HandlerFunc           { return nil }
func hh() (http.HandlerFunc, error) { return nil, errors.New("no") }

func main() {
	t := T{nil, T{nil, nil}, T{T{}}}
	fmt.Println(t, len(t))
	fmt.Printf("%v %d %T\n", t, len(t[1]), t)
	t.Push(T{})
	(&t).Push(t)
	fmt.Println(t, t[4])
	sort.Sort(byLen(t))
	for _, x := range t {
		fmt.Print(len(x), " ")
	}
	fmt.Println()
	b, err := json.Marshal(Set{"a": Set{"b": nil}})
	fmt.Println(string(b), err)
	var s Set
	fmt.Println(json.Unmarshal([]byte(`{"x":{"y":{}},"z":null}`), &s), s)
	var x any = t
	switch v := x.(type) {
	case M:
		fmt.Println("m", v)
	case T:
		fmt.Println("t", len(v))
	}
	_, ok := x.(fmt.Stringer)
	fmt.Println(ok, reflect.TypeOf(x), reflect.TypeOf(x).Kind(), reflect.TypeOf(x).Elem())
	fmt.Println(reflect.DeepEqual(T{nil, T{}}, T{nil, T{}}), reflect.DeepEqual(T{nil, T{}}, T{T{}, T{}}))
	var e Expr = func(env Env) (Value, error) { return env["x"], nil }
	v, err := e(Env{"x": 3})
	fmt.Println(v, err)
	var r Rule
	r = func(rs ...Rule) []Rule { return append(rs, r) }
	fmt.Println(len(r(r, r)), len(r()), len(r(r(r)...)))
	tr := Tree{"a": &Tree{"b": nil}}
	fmt.Println(tr.At("a").At("b") == nil, len(tr))
	var l List
	ll := []List{nil, nil}
	l = &ll
	fmt.Println(len(*l))
	var g Grid
	g[1] = []Grid{g, g}
	fmt.Println(len(g[1]), g)
	w := W{1: V{self: []V{{}, {}}}}
	w[2] = V{W: &w}
	fmt.Println(len((*w[2].W)[1].self))
	fmt.Println(Parser(digits).Run("12345"))
	p := digits
	fmt.Println(Parser(p).Run("12"))
	fmt.Println(h() == nil)
	f, err := hh()
	fmt.Println(f == nil, err)
	var m Middle
	m = func(n Middle, err error) (Middle, error) { return n, err }
	a, err := m(m, errors.New("q"))
	fmt.Println(a != nil, err)
	a, err = m(nil, nil)
	fmt.Println(a == nil, err)
	ps := []Parser{digits, nil, func(s string) (string, Parser) { return "", digits }}
	for _, p := range ps {
		fmt.Print(p.Run("abc"), " ")
	}
	fmt.Println()
	mp := map[string]Parser{"d": digits}
	if q, ok := mp["d"]; ok {
		fmt.Println(q.Run("xy"))
	}
	if _, ok := mp["e"]; !ok {
		fmt.Println("none")
	}
	st := make(chan Step, 1)
	var step Step
	step = func(in <-chan Step) (Step, bool) { return nil, in == nil }
	st <- step
	_, bb := (<-st)(nil)
	fmt.Println(bb)
	defer func() { fmt.Println(recover()) }()
	var np Parser
	np("x")
}
