package main

import (
	"container/heap"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"reflect"
	"sort"
	"strings"
)

type MyBool bool
type Celsius float64
type Names []string
type Set map[string]bool
type Point struct{ X, Y int }
type Clash struct{ a, Xa, XXa int }
type Handler func(string) error
type Matrix [2][2]float64

func (n Names) Len() int                { return len(n) }
func (n Names) Less(i, j int) bool      { return n[i] < n[j] }
func (n Names) Swap(i, j int)           { n[i], n[j] = n[j], n[i] }
func (s Set) Add(x string) Set          { s[x] = true; return s }
func (p Point) Add(q Point) Point       { return Point{p.X + q.X, p.Y + q.Y} }
func (p *Point) Scale(k int) *Point     { p.X *= k; p.Y *= k; return p }
func (h Handler) Handle(s string) error { return h(s) }
func (m *Matrix) Mul(o Matrix) (r Matrix) {
	for i := range m {
		for j := range o[0] {
			for k := range o {
				r[i][j] += m[i][k] * o[k][j]
			}
		}
	}
	return
}

type IntHeap []int

func (h IntHeap) Len() int           { return len(h) }
func (h IntHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h IntHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *IntHeap) Push(x any)        { *h = append(*h, x.(int)) }
func (h *IntHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

type Item struct {
	name string
	prio int
	idx  int
}
type PQ []*Item

func (q PQ) Len() int           { return len(q) }
func (q PQ) Less(i, j int) bool { return q[i].prio > q[j].prio }
func (q PQ) Swap(i, j int)      { q[i], q[j] = q[j], q[i]; q[i].idx, q[j].idx = i, j }
func (q *PQ) Push(x any)        { it := x.(*Item); it.idx = len(*q); *q = append(*q, it) }
func (q *PQ) Pop() any {
	n := len(*q)
	it := (*q)[n-1]
	*q = (*q)[:n-1]
	return it
}

type Visitor interface {
	VisitNum(n Num) any
	VisitAdd(a Add) any
}
type Node interface{ Accept(v Visitor) any }
type Num struct{ V float64 }
type Add struct{ L, R Node }

func (n Num) Accept(v Visitor) any { return v.VisitNum(n) }
func (a Add) Accept(v Visitor) any { return v.VisitAdd(a) }

type eval struct{}

func (eval) VisitNum(n Num) any { return n.V }
func (e eval) VisitAdd(a Add) any {
	return a.L.Accept(e).(float64) + a.R.Accept(e).(float64)
}

type show struct{ depth int }

func (s show) VisitNum(n Num) any { return fmt.Sprint(n.V) }
func (s show) VisitAdd(a Add) any {
	s.depth++
	return fmt.Sprintf("(%v + %v)@%d", a.L.Accept(s), a.R.Accept(s), s.depth)
}

type Logger struct {
	*log.Logger
	prefix string
}
type Event struct {
	Name string         `json:"name"`
	Tags []string       `json:"tags,omitempty"`
	Meta map[string]any `json:"meta"`
	Sub  *Event         `json:"sub,omitempty"`
	At   Celsius        `json:"at"`
	opt  func()
}

var pkgVar = initVar()

func initVar() map[string]int { return map[string]int{"k": len(order)} }

var order = []string{"a", "b"}

func init() { pkgVar["init"] = 1 }

func apply[T any](xs []T, fs ...func(T) T) []T {
	for i := range xs {
		for _, f := range fs {
			xs[i] = f(xs[i])
		}
	}
	return xs
}

func shadow(x int) (err error) {
	if x, err := x+1, error(nil); x > 1 && err == nil {
		x := x * 2
		{
			x := fmt.Sprint(x, "!")
			err = fmt.Errorf("%s", x)
		}
		_ = x
		return err
	}
	return
}

func main() {
	x, y := 3, 4
	var b MyBool = x < y
	b = b && !(x == y)
	fmt.Println(b, !b)
	c := Clash{1, 2, 3}
	c.a++
	fmt.Println(c, c.a, c.Xa, c.XXa)
	n := Names{"c", "a", "b"}
	sort.Sort(n)
	fmt.Println(n, Set{}.Add("x").Add("y"), len(Set{"a": true}))
	p := Point{1, 2}
	fmt.Println(p.Scale(2).Add(Point{1, 1}), p, (&Point{3, 4}).Scale(3).X, Point{5, 6}.Add(p).Y)
	h := &IntHeap{5, 2, 8}
	heap.Init(h)
	heap.Push(h, 3)
	for h.Len() > 0 {
		fmt.Print(heap.Pop(h), " ")
	}
	fmt.Println()
	pq := &PQ{}
	for i, w := range strings.Fields("low mid high") {
		heap.Push(pq, &Item{name: w, prio: i})
	}
	it := (*pq)[len(*pq)-1]
	it.prio = 10
	heap.Fix(pq, it.idx)
	for pq.Len() > 0 {
		fmt.Print(heap.Pop(pq).(*Item).name, " ")
	}
	fmt.Println()
	tree := Add{Num{1}, Add{Num{2}, Num{3.5}}}
	fmt.Println(tree.Accept(eval{}), tree.Accept(show{}))
	m := &Matrix{{1, 2}, {3, 4}}
	fmt.Println(m.Mul(Matrix{{0, 1}, {1, 0}}))
	var sb strings.Builder
	l := Logger{log.New(&sb, "p: ", 0), "x"}
	l.Printf("%d %v", 3, p)
	l.Println(l.prefix, n)
	fmt.Print(sb.String())
	e := Event{Name: "e", Meta: map[string]any{"p": p, "n": nil, "l": []Point{{1, 2}}}, Sub: &Event{Name: "s"}, At: 36.6}
	js, err := json.MarshalIndent(e, "", " ")
	fmt.Println(string(js), err)
	var back Event
	if err := json.Unmarshal(js, &back); err != nil {
		fmt.Println(err)
	}
	fmt.Println(back.Sub.Name, back.Meta["l"], back.At, back.opt == nil)
	var anyv any
	json.Unmarshal([]byte(`{"a":[1,2,{"b":null}]}`), &anyv)
	fmt.Println(anyv.(map[string]any)["a"].([]any)[2])
	var hnd Handler = func(s string) error { return fmt.Errorf("h %s", s) }
	fmt.Println(hnd.Handle("x"), pkgVar)
	fmt.Println(apply([]int{1, 2}, func(i int) int { return i * 10 }, func(i int) int { return i + 1 }))
	fmt.Println(shadow(1), shadow(-5))
	len := func(s string) int { return 42 }
	fmt.Println(len("abc"))
	string := "shadowed"
	fmt.Println(string)
	type kv struct {
		k string2
		v int
	}
	kvs := []kv{{"a", 2}, {"b", 1}}
	sort.Slice(kvs, func(i, j int) bool { return kvs[i].v < kvs[j].v })
	fmt.Println(kvs, reflect.TypeOf(kvs[0]).NumField())
	fmt.Fprintf(os.Stderr, "to stderr\n")
	grid := [3][4]int{}
	for i := range grid {
		for j := range grid[i] {
			grid[i][j] = i * j
		}
	}
	fmt.Println(grid)
	fn := map[string2]func(...int) int{
		"sum": func(xs ...int) (t int) {
			for _, x := range xs {
				t += x
			}
			return
		},
	}
	fmt.Println(fn["sum"](1, 2, 3), fn["sum"]())
	var pp **Point
	q := &p
	pp = &q
	(*pp).X = 77
	(**pp).Y++
	fmt.Println(p, *pp == q)
	ch := make(chan func() string2, 1)
	ch <- func() string2 { return "from chan" }
	fmt.Println((<-ch)())
	var iface interface {
		Len() int
		sort.Interface
	} = n
	fmt.Println(iface.Len(), iface.Less(0, 1))
	arr := [5]int{1, 2, 3, 4, 5}
	s := arr[1:4]
	s = append(s, 100)
	fmt.Println(arr, s, cap(s))
	for i, v := range arr {
		arr[4-i] = v
	}
	fmt.Println(arr)
	z := 5
	ptr := &z
	*ptr += 3
	inc := func() int { z++; return z }
	fmt.Println(inc()+inc()*10, z)
	u := uint32(1) << 31
	fmt.Println(u, u<<1, int32(u), ^uint8(0), -5/2, -5%3, 5&^3, 6|1, 6^2)
	fmt.Printf("%08b %x %X %o %e %g %6.2f|%-8s|%+d|%q|%v|%t|%c|%U\n", 5, 255, 255, 8, 1234.5, 1e21, 3.14159, "ab", 5, "q", []string2{"a"}, true, 'A', 'é')
}

type string2 = string
