package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"time"
)

// Calls that pass structs and arrays: what a function changes of its parameters, its caller does not see, and what anybody else changes
// of the caller's variables, the function does not see.

type point struct{ x, y int }

type body struct {
	at   point
	name string
	tags []string
	when time.Time
	grid [2][2]int
}

var shared = body{at: point{1, 2}, name: "shared", tags: []string{"a"}}

func sum(p point) int               { return p.x + p.y }
func moved(p point) point           { p.x += 10; return p }
func same(p point) point            { return p }
func copied(p point) (point, point) { q := p; q.x = 7; return p, q }
func address(p point) *point        { return &p }
func closure(p point) func() int    { return func() int { p.x++; return p.x } }
func named(p point) (q point)       { q = p; q.y = -1; return }
func fields(b body) string          { return fmt.Sprint(b.at.x, b.name, len(b.tags)) }
func inner(b body) point            { return b.at }
func cells(g [3]int) int            { return g[0]*100 + g[1]*10 + g[2] }
func changed(g [3]int) [3]int       { g[1] = 9; return g }
func total(g [3]int) (n int) {
	for _, x := range g {
		n += x
	}
	return n
}
func ofSlice(g [3]int) []int    { return g[:] }
func later(b, c body) bool      { return b.when.Before(c.when) || b.when.Equal(c.when) && b.name < c.name }
func longer(b body, n int) bool { return len(strings.ToUpper(b.name)) > n && !math.IsNaN(float64(n)) }
func variadic(list ...point) (n int) {
	for _, p := range list {
		n += sum(p)
	}
	return n
}
func maximum(p, q point) point {
	if sum(p) > sum(q) {
		return p
	}
	return q
}
func local(p point) int {
	q := point{p.y, p.x}
	q.x *= 2
	r := [2]point{p, q}
	r[0].x = 5
	return r[0].x + r[1].x + q.x + p.x
}
func recursive(p point) point {
	if p.x == 0 {
		return p
	}
	return recursive(point{p.x - 1, p.y + 1})
}
func again(p point) int {
	if p.x > 3 {
		return p.x
	}
	p.x++
	return again(p) + p.x
}
func blank(_ point, p point) int { return p.y }

// These change the variable of the caller while its parameter has the old value.
func global(b body) string                { shared.name = "new"; return b.name }
func through(p point, q *point) int       { q.x = 50; return p.x }
func element(p point, s []point) int      { s[0].x = 60; return p.x }
func call(p point, f func()) int          { f(); return p.x }
func entry(p point, m map[string]int) int { m["a"]++; return p.x }
func sends(p point, c chan int) int       { c <- p.x; return p.x }
func appends(p point, s []point) int      { _ = append(s[:0], point{70, 70}); return p.x }
func copies(p point, s []point) int       { copy(s, []point{{80, 80}}); return p.x }
func deferred(p point, q *point) (n int)  { defer func() { n = p.x }(); q.x = 90; return 0 }
func panics(p point, s []int) int         { return s[p.x] }
func through2(p point, q *point) (n int) {
	for range 2 {
		n += p.x
		q.x++
	}
	return n
}
func ranges(g [2]int, p *[2]int) (n int) {
	for i := range g {
		p[1] = 5
		n += g[i]
	}
	return n
}
func prints(p point, q *point) string { q.x = 100; return fmt.Sprint(p) }
func iterates(p point, seq func(func(int) bool)) (n int) {
	for range seq {
		n += p.x
	}
	return n
}

func (p point) sum() int             { return p.x + p.y }
func (p point) plus(q point) point   { return point{p.x + q.x, p.y + q.y} }
func (p point) scaled(k int) point   { p.x *= k; p.y *= k; return p }
func (p *point) move(q point) *point { p.x += q.x; p.y += q.y; return p }
func (p point) moves(q *point) int   { q.x = 110; return p.x }
func (b body) describe() string      { return b.name + fmt.Sprint(b.at.sum()) }
func (p point) String() string       { return fmt.Sprintf("(%d,%d)", p.x, p.y) }

type adder interface{ plus(point) point }
type mover interface{ moves(*point) int }

type pair[T any] struct{ a, b T }

func (p pair[T]) swapped() pair[T]          { return pair[T]{p.b, p.a} }
func first[T any](p pair[T]) T              { return p.a }
func apply[T, U any](x T, f func(T) U) U    { return f(x) }
func less[T cmp.Ordered](p, q pair[T]) bool { return cmp.Less(p.a, q.a) || cmp.Compare(p.b, q.b) < 0 }

func points(yield func(point) bool) {
	p := point{1, 1}
	for range 3 {
		if !yield(p) {
			return
		}
		p.x++
	}
}

func values() {
	p := point{1, 2}
	fmt.Println(sum(p), moved(p), p, same(p), *address(p), closure(p)(), named(p), p)
	a, b := copied(p)
	a.y = 100
	fmt.Println(a, b, p, local(p), recursive(point{5, 0}), again(p), blank(p, p), p)
	g := [3]int{1, 2, 3}
	s := ofSlice(g)
	s[0] = 100
	fmt.Println(cells(g), changed(g), total(g), g, s)
	x := same(p)
	x.x = 9
	y := maximum(p, x)
	y.y = 8
	fmt.Println(p, x, y, variadic(p, x, y), fields(shared), longer(shared, 3))
	at := inner(shared)
	at.x = 33
	fmt.Println(at, shared.at, shared.describe())
	ps := []point{{3, 1}, {1, 2}, {2, 3}}
	q := same(ps[1])
	q.x = 20
	fmt.Println(ps, q, moved(ps[0]), ps)
}

func aliases() {
	fmt.Println(global(shared), shared.name)
	p := point{1, 2}
	fmt.Println(through(p, &p), p)
	s := []point{{1, 2}, {3, 4}}
	fmt.Println(element(s[0], s), s)
	fmt.Println(call(p, func() { p.x = 40 }), p)
	m := map[string]int{}
	fmt.Println(entry(p, m), m)
	c := make(chan int, 1)
	fmt.Println(sends(p, c), <-c)
	fmt.Println(appends(s[0], s), s)
	fmt.Println(copies(s[0], s), s)
	fmt.Println(deferred(p, &p), p)
	fmt.Println(through2(p, &p), p)
	g := [2]int{1, 2}
	fmt.Println(ranges(g, &g), g)
	fmt.Println(prints(p, &p), p)
	fmt.Println(iterates(p, func(yield func(int) bool) { yield(p.x); p.x = 1000; yield(1) }), p)
	fmt.Println(p.moves(&p), p)
	var i mover = p
	fmt.Println(i.moves(&p), p)
	i = &p
	fmt.Println(i.moves(&p), p)
	f := through
	p.x = 5
	fmt.Println(f(p, &p), p)
	h := point.moves
	p.x = 6
	fmt.Println(h(p, &p), p)
	k := p.moves
	p.x = 7
	fmt.Println(k(&p), p)
	l := (*point).sum
	fmt.Println(l(&p), func(p, q point) int { return p.x - q.y }(p, p))
}

func methods() {
	p, q := point{1, 2}, point{3, 4}
	fmt.Println(p.plus(q).plus(p).scaled(2).plus(q.scaled(3)), p, q)
	fmt.Println(p.move(q).plus(p), p, q, p.move(p).move(p.plus(q)), p)
	var a adder = p
	b := a.plus(p)
	b.x = 0
	fmt.Println(a, b, a.plus(a.(point)))
	a = &q
	fmt.Println(a.plus(q), q)
	list := []adder{p, &p, q}
	for _, x := range list {
		fmt.Print(x.plus(p), " ")
	}
	fmt.Println()
	x := pair[string]{"a", "b"}
	y := x.swapped()
	y.a = "c"
	fmt.Println(x, y, first(x), less(x, y), apply(x, pair[string].swapped), apply(p, point.sum), apply(p, moved), p)
	z := pair[point]{p, q}
	w := first(z)
	w.x = 77
	fmt.Println(z, w, z.swapped())
}

func order() {
	p := point{1, 2}
	change := func() int { p.x = 200; return 1 }
	add := func(p point, n int) int { return p.x + n }
	fmt.Println(add(p, change()), p)
	p.x = 1
	fmt.Println(add(p, change()+change()), add(point{p.x, change()}, 2))
	for p := range points {
		q := p
		q.x *= 10
		fmt.Print(p, q, sum(p), moved(p), p, " ")
	}
	fmt.Println()
	var fs []func() point
	for p := range points {
		fs = append(fs, func() point { p.y++; return p })
	}
	for _, f := range fs {
		fmt.Print(f(), f(), " ")
	}
	fmt.Println()
	defer fmt.Println("deferred", p)
	defer func(p point) { fmt.Println("literal", p) }(p)
	defer func() { fmt.Println("sum", sum(p)) }()
	p.x = 300
	done := make(chan int)
	go func(p point) { p.x++; done <- p.x }(p)
	fmt.Println(<-done, p)
	defer func() { fmt.Println("recovered", recover()) }()
	panics(p, []int{1})
}

func sorted() {
	now := time.Unix(1e9, 0)
	list := []body{{name: "c", when: now, at: point{3, 0}}, {name: "a", when: now, at: point{1, 5}}, {name: "b", when: now.Add(-time.Hour), at: point{1, 4}}}
	slices.SortFunc(list, func(a, b body) int {
		return cmp.Or(a.when.Compare(b.when), strings.Compare(a.name, b.name))
	})
	for _, b := range list {
		fmt.Print(b.name, " ")
	}
	slices.SortStableFunc(list, func(a, b body) int { return cmp.Or(cmp.Compare(a.at.x, b.at.x), -cmp.Compare(a.at.y, b.at.y)) })
	for _, b := range list {
		fmt.Print(b.name, " ")
	}
	sort.Slice(list, func(i, j int) bool { return later(list[i], list[j]) })
	for _, b := range list {
		fmt.Print(b.name, " ")
	}
	slices.SortFunc(list, func(a, b body) int { a.name += "x"; defer func() {}(); return -cmp.Compare(a.name, b.name) })
	for _, b := range list {
		fmt.Print(b.name, " ")
	}
	i, ok := slices.BinarySearchFunc(list, body{name: "b"}, func(a, b body) int { return -cmp.Compare(a.name, b.name) })
	fmt.Println(i, ok, slices.ContainsFunc(list, func(b body) bool { return b.name == "c" }), slices.IndexFunc(list, func(b body) bool { b.name = "z"; return b.at.x == 1 }))
	fmt.Println(slices.MaxFunc(list, func(a, b body) int { return cmp.Compare(a.at.y, b.at.y) }).name)
}

type level int8

func compares() {
	n, m, u, v, k := -3, 5, uint64(math.MaxUint64), uint64(1), level(-1)
	fmt.Println(cmp.Compare(n, m), cmp.Compare(m, n), cmp.Compare(n, n), cmp.Compare(u, v), cmp.Compare(v, u), cmp.Compare(k, 1), cmp.Compare(uint8(200), 100))
	nan, f := math.NaN(), float32(1)
	fmt.Println(cmp.Compare(nan, 1), cmp.Compare(1, nan), cmp.Compare(nan, nan), cmp.Compare(math.Copysign(0, -1), 0), cmp.Compare(f, 2), cmp.Compare(float32(nan), f))
	fmt.Println(cmp.Compare("a", "b"), cmp.Compare("b", ""), cmp.Compare("", ""), cmp.Less(nan, 1), cmp.Less(n, m))
	fmt.Println(cmp.Or(0, n, m), cmp.Or(n, m), cmp.Or(0, 0), cmp.Or(n), cmp.Or[int](), cmp.Or("", "x", "y"), cmp.Or("", "") == "", cmp.Or(false, true), cmp.Or(0.0, nan), cmp.Or(k, 2))
	var err error
	fmt.Println(cmp.Or(err, errors.New("e")), cmp.Or(point{}, point{1, 2}), cmp.Or([]int{0, 4}...), cmp.Or(nil, &n) == &n)
	calls := 0
	next := func(n int) int { calls++; return n }
	fmt.Println(cmp.Or(next(0), next(1), next(2)), calls, cmp.Compare(next(1), next(2)), calls)
	x := 1
	x = cmp.Or(x-1, x+1, x)
	defer fmt.Println(cmp.Or(x, 3))
	list := []string{"", "b"}
	list[0] = cmp.Or(list[0], list[1], "c")
	compare := cmp.Compare[string]
	fmt.Println(x, list, compare("a", "b"))
	func() {
		defer func() { fmt.Println(recover() != nil, calls) }()
		fmt.Println(cmp.Or(next(1), len(list[2:][0]), next(5)))
	}()
}

type cell struct{ a, b int }

var (
	original = cell{1, 2}
	cellList = []cell{{1, 1}, {5, 5}}
)

func none()                        {}
func changing(p cell) cell         { p.a++; return original }
func calling(p cell) cell          { none(); return original }
func behind(p cell, q *cell) cell  { p.a++; return *q }
func ofElement(n int, p cell) cell { p.a = n; return cellList[n] }
func ofArray(p [2]int) cell        { p[0]++; return original }
func limited(p cell) cell {
	if p.a > 5 {
		p.a = 5
		return cellList[1]
	}
	return p
}
func inBlock() cell {
	{
		q := cell{7, 8}
		none()
		q.a++
	}
	return original
}
func inLoop(list []cell) cell {
	for _, q := range list {
		q.a++
	}
	return list[0]
}
func namedResult(p cell) (q cell)              { p.a++; q = original; return }
func twice(p cell) (cell, cell)                { p.a++; return p, p }
func ofField(b *struct{ c cell }, p cell) cell { p.a++; return b.c }
func ofGeneric[T any](p cell, q *T) T          { p.a++; return *q }
func (p cell) with(n int) cell                 { p.a = n; return original }
func (p cell) again(n int) cell                { p.a = n; return p }
func waits(p cell, c chan int) int {
	for range c {
	}
	return p.a
}
func (p cell) waits(c chan int) (n int) {
	for x := range c {
		n += x
	}
	return n + p.a
}

func results() {
	local := cell{1, 2}
	held := struct{ c cell }{cell{3, 4}}
	list := []cell{{1, 2}}
	literal := func(p cell) cell { p.a++; return local }
	for i, f := range []func() cell{
		func() cell { return changing(local) }, func() cell { return calling(local) }, func() cell { return behind(local, &list[0]) },
		func() cell { return ofElement(1, local) }, func() cell { return ofArray([2]int{}) }, func() cell { return limited(cell{9, 9}) },
		func() cell { return limited(local) }, inBlock, func() cell { return inLoop(list) }, func() cell { return namedResult(local) },
		func() cell { return ofField(&held, local) }, func() cell { return ofGeneric(local, &list[0]) }, func() cell { return local.with(3) },
		func() cell { return local.again(3) }, func() cell { return literal(local) }, func() cell { a, b := twice(local); a.b = 50; return b },
	} {
		x := f()
		x.a, x.b = 99, 98
		var e any = f()
		original.b++
		cellList[1].b++
		list[0].b++
		local.b++
		held.c.b++
		fmt.Print(i, x, e, f(), " ")
	}
	fmt.Println(original, cellList, list, local, held)
	c, out := make(chan int), make(chan int)
	p := cell{7, 2}
	go func() { out <- waits(p, c) }()
	c <- 1
	p.a = 99
	close(c)
	fmt.Println(<-out)
	c = make(chan int)
	go func() { out <- p.waits(c) }()
	c <- 1
	p.a = 5
	close(c)
	fmt.Println(<-out)
}

func main() {
	results()
	values()
	aliases()
	methods()
	order()
	sorted()
	compares()
}
