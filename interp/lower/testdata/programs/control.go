package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
)

type State func(*M) State
type M struct {
	log []string
	n   int
	cur State
}

func start(m *M) State {
	m.log = append(m.log, "start")
	return work
}

func work(m *M) State {
	m.n++
	m.log = append(m.log, fmt.Sprint("work", m.n))
	if m.n < 3 {
		return work
	}
	if m.n == 3 {
		return func(m *M) State { m.log = append(m.log, "lit"); return stop }
	}
	return nil
}

func stop(m *M) State { m.log = append(m.log, "stop"); return nil }

type Middleware func(Handler) Handler
type Handler func(string) string

func chain(h Handler, ms ...Middleware) Handler {
	for i := len(ms) - 1; i >= 0; i-- {
		h = ms[i](h)
	}
	return h
}

type Option func(*cfg)
type cfg struct {
	n    int
	tags []string
}

func WithN(n int) Option          { return func(c *cfg) { c.n = n } }
func WithTags(t ...string) Option { return func(c *cfg) { c.tags = append(c.tags, t...) } }
func New(opts ...Option) cfg {
	var c cfg
	for _, o := range opts {
		o(&c)
	}
	return c
}

func selects() {
	a, b := make(chan int, 1), make(chan string, 1)
	done := make(chan struct{})
	var x int
	var y any
	a <- 1
loop:
	for i := 0; ; i++ {
		select {
		case x = <-a:
			fmt.Println("a", x)
			b <- "s"
		case y = <-b:
			fmt.Println("b", y)
			close(done)
		case _, ok := <-done:
			fmt.Println("done", ok)
			break loop
		}
	}
	select {
	case v := <-a:
		fmt.Println(v)
	default:
		fmt.Println("default")
	}
	select {
	case a <- 5:
	default:
		fmt.Println("full")
	}
	select {
	case v, ok := <-a:
		fmt.Println(v, ok)
	case <-time.After(time.Second):
		fmt.Println("timeout")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	select {
	case <-ctx.Done():
		fmt.Println(ctx.Err())
	}
}

func gotos(n int) string {
	i := 0
	s := ""
top:
	if i >= n {
		goto end
	}
	s += fmt.Sprint(i)
	i++
	goto top
end:
	return s
}

func switches(x int) (s string) {
	switch y := x * 2; y {
	case 0, 2:
		s = "small"
	case 4:
		s = "four"
		fallthrough
	case 100:
		s += "+"
	default:
		if x > 5 {
			break
		}
		s = "other"
	}
	switch {
	case x > 1 && x < 3:
		s += "two"
	case x == 7:
		for i := 0; ; i++ {
			switch {
			case i == 3:
				s += "!"
				return
			}
		}
	}
	return
}

func labelled() {
L:
	switch {
	default:
		for {
			break L
		}
	}
outer:
	for i := range 3 {
		for j := range 3 {
			select {
			default:
				if j == 1 {
					continue outer
				}
				if i == 2 {
					break outer
				}
			}
			fmt.Print(i, j, " ")
		}
	}
	fmt.Println()
}

func workers() int {
	jobs, results := make(chan int), make(chan int)
	var wg sync.WaitGroup
	for w := 0; w < 3; w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for j := range jobs {
				results <- j * j
			}
		}()
	}
	go func() {
		for i := range 10 {
			jobs <- i
		}
		close(jobs)
		wg.Wait()
		close(results)
	}()
	sum := 0
	for r := range results {
		sum += r
	}
	return sum
}

type Visitor interface{ Visit(n int) Visitor }
type vis struct{ out *[]int }

func (v vis) Visit(n int) Visitor {
	*v.out = append(*v.out, n)
	if n > 2 {
		return nil
	}
	return v
}

type empty struct{}

func (empty) Do() string { return "done" }

type hasBlank struct {
	_ int
	a int
	_ string
}

type Tok int

const (
	A Tok = iota + 1
	_
	B
	big   = 1 << 40
	huge  = 1 << 100
	ratio = huge / (1 << 98)
	fl    = 1.0 / 3
	str   = "const" + "ant"
)

type Grid [3][3]int

func (g *Grid) Set(x, y, v int) { g[y][x] = v }
func (g Grid) Sum() (s int) {
	for _, row := range g {
		for _, v := range row {
			s += v
		}
	}
	return
}

type F func(int) int

func (f F) Twice(x int) int { return f(f(x)) }

type Strs []string

func (s Strs) Join() string  { return strings.Join(s, "-") }
func (s *Strs) Add(x string) { *s = append(*s, x) }

type Matrix map[string]map[string]float64

func main() {
	m := &M{}
	for s := State(start); s != nil; {
		s = s(m)
	}
	m.cur = start
	next := m.cur(m)
	fmt.Println(m.log, next != nil)
	logm := func(name string) Middleware {
		return func(h Handler) Handler {
			return func(s string) string { return name + "(" + h(s) + ")" }
		}
	}
	fmt.Println(chain(strings.ToUpper, logm("a"), logm("b"))("x"))
	fmt.Printf("%+v\n", New(WithN(3), WithTags("a", "b"), WithTags()))
	selects()
	fmt.Println(gotos(4), switches(0), switches(2), switches(3), switches(7), switches(9))
	labelled()
	fmt.Println(workers())
	var seen []int
	var v Visitor = vis{&seen}
	for i := 0; v != nil; i++ {
		v = v.Visit(i)
	}
	fmt.Println(seen)
	var e any = empty{}
	if d, ok := e.(interface{ Do() string }); ok {
		fmt.Println(d.Do())
	}
	x, ok := e.(empty)
	fmt.Println(x, ok, e == empty{})
	hb := hasBlank{a: 3}
	fmt.Println(hb.a, hb == hasBlank{a: 3})
	fmt.Println(A, B, big, ratio, fl, str, len(str), uint8(A)<<7)
	var g Grid
	g.Set(1, 2, 5)
	g2 := g
	g2.Set(0, 0, 7)
	fmt.Println(g.Sum(), g2.Sum(), g == g2, g)
	fmt.Println(F(func(i int) int { return i * 3 }).Twice(2))
	s := Strs{"a"}
	s.Add("b")
	fmt.Println(s.Join(), len(s), s[1:], s)
	mx := Matrix{"a": {"x": 1}}
	mx["a"]["y"] = 2
	mx["b"] = map[string]float64{}
	mx["b"]["z"]++
	fmt.Println(mx)
	type local struct {
		k string
		v int
	}
	ls := []local{{"a", 1}, {"b", 2}}
	for i, l := range ls {
		l.v *= 10
		ls[i].v += l.v
	}
	fmt.Println(ls)
	anon := []struct {
		in   int
		want string
	}{{1, "one"}, {2, "two"}}
	for _, tc := range anon {
		fmt.Print(tc.in, tc.want, " ")
	}
	fmt.Println()
	pt := struct{ X, Y int }{1, 2}
	pp := &pt
	pp.X = 9
	fmt.Println(pt, *pp)
	var iface interface {
		Join() string
	} = s
	fmt.Println(iface.Join())
	var r strings.Builder
	for i := 3; i > 0; i-- {
		fmt.Fprintf(&r, "%d,", i)
	}
	fmt.Println(r.String(), r.Len())
	d := 1500 * time.Millisecond
	fmt.Println(d, d.Seconds(), time.Duration(2)*time.Second, time.March)
	tm := time.Date(2024, 2, 29, 1, 2, 3, 0, time.UTC)
	fmt.Println(tm.Format(time.RFC3339), tm.AddDate(1, 0, 0).Weekday(), tm.Sub(tm.Add(-time.Hour)))
	c := make(chan int)
	go func() { defer close(c); c <- 1; c <- 2 }()
	for v := range c {
		fmt.Print(v, " ")
	}
	fmt.Println()
	if false {
	} else if n := len(seen); n > 100 {
	} else {
		fmt.Println("else", n)
	}
	var arr [5]int
	for i := range arr {
		arr[i] = i * i
	}
	sl := arr[1:3:4]
	sl = append(sl, 100)
	sl = append(sl, 200)
	sl[0] = -1
	fmt.Println(arr, sl, len(sl), cap(arr[1:3:4]))
	copy(arr[2:], arr[:])
	fmt.Println(arr, [3]int(sl[:3]), *(*[2]int)(sl))
	bs := []byte("hey")
	bs = append(bs, " you"...)
	copy(bs, "HEY")
	fmt.Println(string(bs))
	func(xs ...any) { fmt.Println(len(xs), xs) }([]any{1, 2}, nil, 3)
	func(xs ...any) { fmt.Println(len(xs), xs) }([]any{1, 2}...)
	func(xs ...int) { fmt.Println(xs == nil) }()
}
