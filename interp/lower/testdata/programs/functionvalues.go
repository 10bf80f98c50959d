package main

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
)

// Functions and methods of cells and of compiled packages as values.

type point struct{ x, y int }

func (p point) sum(n ...int) int {
	for _, k := range n {
		p.x += k
	}
	return p.x + p.y
}
func (p *point) move(dx int)                      { p.x += dx }
func (p point) both() (point, error)              { p.y++; return p, errors.New("e") }
func (p *point) chain(s string, f float64) *point { p.y = len(s) + int(f); return p }

type level int

func (l level) String() string { return "level " + strconv.Itoa(int(l)) }

type list []string

func (l list) join(sep string) string { return strings.Join(l, sep) }
func (l *list) add(s ...string)       { *l = append(*l, s...) }

type outer struct {
	*point
	level
	in inner
}
type inner struct{ list }

type stack[T any] struct{ items []T }

func (s *stack[T]) push(x ...T)      { s.items = append(s.items, x...) }
func (s stack[T]) top() (x T, n int) { return s.items[len(s.items)-1], len(s.items) }

func apply[T, R any](list []T, f func(T) R) (r []R) {
	for _, x := range list {
		r = append(r, f(x))
	}
	return r
}

func try(name string, f func()) {
	defer func() { fmt.Println(name, recover()) }()
	f()
}

func compiled() {
	fmt.Println(apply([]string{"a", "b"}, strings.ToUpper), apply([]int{1, 2}, strconv.Itoa))
	parse := strconv.Atoi
	n, err := parse("x1")
	fmt.Println(n, err)
	fmt.Println(strings.IndexFunc("ab1", unicode.IsDigit), strings.Map(unicode.ToUpper, "xyz"))
	functions := map[string]func(float64) float64{"sqrt": math.Sqrt, "tanh": math.Tanh}
	fmt.Println(functions["sqrt"](2), functions["tanh"](0.5))
	power := []func(float64, float64) float64{math.Pow, math.Max}
	fmt.Println(power[0](2, 10), power[1](2, 10))
	print := fmt.Println
	print("a", 1, point{1, 2}, level(3))
	print([]any{1, "x"}...)
	print()
	format := fmt.Sprintf
	fmt.Println(format("%v-%s", 1, level(2)), format("x"))
	var fail func(string) error = errors.New
	fmt.Println(fail("oops"), errors.Is != nil)
	lookup := os.LookupEnv
	_, ok := lookup("SURELY_NOT_SET_1")
	fmt.Println(ok)
	sorted := sort.Slice
	values := []int{3, 1, 2}
	sorted(values, func(i, j int) bool { return values[i] < values[j] })
	fmt.Println(values)
	seconds := time.Duration.Seconds
	fmt.Println(seconds(1500*time.Millisecond), apply([]time.Duration{time.Second}, time.Duration.String))
}

func compiledMethods() {
	var b strings.Builder
	write, text := b.WriteString, b.String
	n, err := write("hello")
	fmt.Println(n, err, text(), b.Len())
	full := (*strings.Builder).WriteString
	n, err = full(&b, " world")
	fmt.Println(n, err, text())
	buffer := bytes.NewBufferString("line\nmore")
	read := buffer.ReadString
	fmt.Println(read('\n'))
	fmt.Println(read('\n'))
	duration := 90 * time.Second
	minutes := duration.Minutes
	duration = 0
	fmt.Println(minutes())
	replace := strings.NewReplacer("a", "b").Replace
	fmt.Println(replace("banana"))
	var mu sync.Mutex
	lock, unlock := mu.Lock, mu.Unlock
	lock()
	fmt.Println(mu.TryLock())
	unlock()
	func() {
		(*sync.Mutex).Lock(&mu)
		defer (*sync.Mutex).Unlock(&mu)
		fmt.Println(mu.TryLock())
	}()
	fmt.Println(mu.TryLock())
	var once sync.Once
	do := once.Do
	do(func() { fmt.Println("once") })
	do(func() { fmt.Println("twice") })
	date := time.Date(2024, 2, 29, 1, 2, 3, 0, time.UTC)
	format, before := date.Format, time.Time.Before
	fmt.Println(format(time.DateOnly), before(date, date.Add(1)))
	year := func(f func(time.Time) int, t time.Time) int { return f(t) }
	fmt.Println(year(time.Time.Year, date))
}

func cellMethods() {
	p := point{1, 2}
	sum, move := p.sum, p.move
	move(10)
	fmt.Println(sum(), p.sum(), sum(1, 2), sum([]int{5}...))
	fmt.Println(point.sum(p), point.sum(p, 1, 2), (*point).sum(&p, 7))
	(*point).move(&p, 1)
	both := point.both
	q, err := both(p)
	fmt.Println(q, err, p)
	both2 := (*point).both
	fmt.Println(both2(&p))
	fmt.Println(*(*point).chain(&p, "abc", 1.5))
	l := list{"a"}
	add := l.add
	add("b", "c")
	fmt.Println(l.join("-"), list.join(l, "+"), (*list).join(&l, "*"))
	(*list).add(&l)
	(*list).add(&l, "d")
	fmt.Println(apply([]level{1, 2}, level.String), len(l))
	var s any = level(4)
	fmt.Println(level.String(s.(level)))

	o := outer{&point{1, 1}, 5, inner{list{"x"}}}
	f, g := o.sum, o.String
	o.move(5)
	o.level++
	fmt.Println(f(), g(), o.sum(), o.String(), outer.String(o), (*outer).String(&o), outer.sum(o, 1), (*outer).sum(&o, 2))
	outer.move(o, 1)
	(*outer).move(&o, 1)
	h := o.in.add
	h("y")
	fmt.Println(o.x, o.in.join(","), inner.join(o.in, ";"))
	m := outer.move
	m(o, 3)
	fmt.Println(o.x)

	var st stack[string]
	push := st.push
	push("a", "b")
	(*stack[string]).push(&st, "c")
	top := st.top
	fmt.Println(top())
	fmt.Println(stack[string].top(st))
	fmt.Println(apply([]*stack[int]{{[]int{4}}}, func(s *stack[int]) int { x, _ := s.top(); return x }))
}

func generic[T fmt.Stringer](x T) (string, string) {
	f, g := x.String, T.String
	return f(), g(x)
}

type recoverer struct{ name string }

func (r recoverer) rescue()   { fmt.Println(r.name, recover()) }
func (r *recoverer) rescue2() { fmt.Println(r.name, recover()) }

func panics() {
	var p *point
	try("value", func() { f := p.sum; fmt.Println(f != nil) })
	try("pointer", func() { f := p.move; fmt.Println(f != nil); f(1) })
	try("expression", func() { f := (*point).sum; f(p) })
	try("embedded", func() { f := outer{}.sum; f() })
	try("embedded pointer", func() { f := outer{}.move; fmt.Println("bound"); f(1) })
	try("builder", func() { var b *strings.Builder; f := b.Len; fmt.Println("bound"); f() })
	try("time", func() { var t *time.Time; f := t.Year; f() })
	try("instance", func() { f := (*stack[int]).top; f(nil) })
	try("convert", func() { f := (*time.Time).Year; f(nil) })
	try("recover", func() {
		r := recoverer{"r"}
		f, g := r.rescue, recoverer.rescue
		func() { defer f(); panic(1) }()
		func() { defer g(r); panic(2) }()
		func() { defer r.rescue2(); panic(3) }()
		h := (*recoverer).rescue2
		func() { defer h(&r); panic(4) }()
		func() { defer (*recoverer).rescue(&r); panic(5) }()
		k := (*recoverer).rescue
		func() { defer k(&r); panic(6) }()
	})
}

func later() {
	var b strings.Builder
	for i := range 3 {
		defer (*strings.Builder).Len(&b)
		defer (*strings.Builder).WriteString(&b, strconv.Itoa(i))
	}
	defer func() { fmt.Println(b.String()) }()
	done := make(chan bool)
	finish := func(c chan bool) { c <- true }
	go finish(done)
	<-done
	var wg sync.WaitGroup
	wg.Add(1)
	go wg.Done()
	wait := wg.Wait
	wait()
}

func main() {
	compiled()
	compiledMethods()
	cellMethods()
	fmt.Println(generic(level(7)))
	fmt.Println(generic(time.Second))
	panics()
	later()
}
