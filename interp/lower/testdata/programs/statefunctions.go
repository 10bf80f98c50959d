package main

import (
	"fmt"
	"sort"
	"strings"
)

type lexer struct {
	in    string
	pos   int
	toks  []string
	state stateFn
}
type stateFn func(*lexer) stateFn

func lexText(l *lexer) stateFn {
	if l.pos >= len(l.in) {
		return nil
	}
	if l.in[l.pos] == ' ' {
		l.pos++
		return lexText
	}
	return lexWord
}
func lexWord(l *lexer) stateFn {
	s := l.pos
	for l.pos < len(l.in) && l.in[l.pos] != ' ' {
		l.pos++
	}
	l.toks = append(l.toks, l.in[s:l.pos])
	return lexText
}
func (l *lexer) method() stateFn { return lexText }
func lexEmit(t string) stateFn {
	return func(l *lexer) stateFn { l.toks = append(l.toks, t); return lexText }
}
func (l *lexer) step() stateFn       { l.toks = append(l.toks, "step"); return nil }
func (l *lexer) m2(x *lexer) stateFn { l.toks = append(l.toks, "m2"); return nil }

func run(l *lexer) {
	for l.state = lexText; l.state != nil; {
		l.state = l.state(l)
	}
}

type F func(F) F
type Opt func(*cfg) Opt
type cfg struct{ v int }

func V(n int) Opt {
	return func(c *cfg) Opt { old := c.v; c.v = n; return V(old) }
}

type T []T
type M map[string]M
type P *P
type C chan C
type Tree map[string]interface{}
type A [2]*A
type Visitor func(n int) (w Visitor, err error)
type G[X any] func(X) G[X]
type S struct{ next map[string]S2 }
type S2 []S
type Handler func(next Handler, depth int, args ...string) Handler
type Nested func() []Nested
type MF map[string]func(MF) int

func depth(t T) int {
	d := 0
	for _, c := range t {
		if n := depth(c); n > d {
			d = n
		}
	}
	return d + 1
}
func (t T) Count() int {
	n := 1
	for _, c := range t {
		n += c.Count()
	}
	return n
}
func (m M) Keys() []string {
	var out []string
	for k, v := range m {
		out = append(out, k)
		out = append(out, v.Keys()...)
	}
	sort.Strings(out)
	return out
}
func (s stateFn) Name() string { return fmt.Sprint("state ", s != nil) }

type walker interface{ Visit(int) walker }
type wf func(int) walker

func (f wf) Visit(n int) walker { return f(n) }

func main() {
	l := &lexer{in: "a bc  def"}
	run(l)
	fmt.Println(strings.Join(l.toks, ","))
	m := map[string]stateFn{"text": lexText, "word": lexWord}
	for s := m["text"]; s != nil; s = s(l) {
	}
	var list []stateFn
	list = append(list, lexText, lexWord, lexEmit("x"))
	for _, s := range list {
		r := s(l)
		fmt.Println(r != nil, r.Name())
	}
	l.pos = 0
	st := lexEmit("q")
	st = st(l)
	st(l)
	fmt.Println(l.toks)
	var x any = st
	s2, ok := x.(stateFn)
	fmt.Println(s2 != nil, ok)
	fmt.Printf("%T\n", x)
	mv := l.m2
	st = mv
	fmt.Println(st(l) == nil)
	st = (*lexer).method
	fmt.Println(st(l) != nil)
	st = stateFn(func(*lexer) stateFn { return nil })
	fmt.Println(st(l) == nil)
	func() {
		defer func() { fmt.Println(recover()) }()
		st = nil
		st(l)
	}()

	var id F
	id = func(f F) F { return f }
	fmt.Println(id(id)(id) != nil)
	c := &cfg{}
	prev := V(3)(c)
	fmt.Println(c.v)
	prev(c)
	fmt.Println(c.v)

	t := T{T{}, T{T{}, nil}}
	fmt.Println(depth(t), t.Count(), len(t), t)
	t = append(t, t)
	fmt.Println(len(t[2]))
	mm := M{"a": {"b": nil, "c": {}}, "d": nil}
	fmt.Println(mm.Keys(), len(mm["a"]), mm)
	var p P
	p = &p
	fmt.Println(*p == p, **p == p)
	ch := make(C, 1)
	ch <- ch
	fmt.Println(<-ch == ch)
	var a A
	a[0] = &a
	fmt.Println(a[0][0] == &a)
	var v Visitor = func(n int) (Visitor, error) { return nil, fmt.Errorf("n %d", n) }
	w, err := v(3)
	fmt.Println(w == nil, err)
	var g G[int]
	g = func(n int) G[int] { fmt.Println("g", n); return g }
	g(1)(2)(3)
	s := S{map[string]S2{"x": {S{}, S{}}}}
	fmt.Println(len(s.next["x"]))
	var h Handler = func(next Handler, d int, args ...string) Handler {
		fmt.Println(d, args)
		return next
	}
	fmt.Println(h(h, 1, "a", "b")(nil, 2) == nil)
	var ne Nested
	ne = func() []Nested { return []Nested{ne, nil} }
	fmt.Println(len(ne()[0]()), ne()[1] == nil)
	mf := MF{"n": func(m MF) int { return len(m) }}
	fmt.Println(mf["n"](mf))
	var wk walker
	wk = wf(func(n int) walker {
		if n == 0 {
			return nil
		}
		return wf(func(int) walker { return nil })
	})
	fmt.Println(wk.Visit(1) != nil, wk.Visit(0) == nil)
}
