package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
)

type Element struct {
	next, prev *Element
	list       *List
	Value      any
}
type List struct {
	root Element
	len  int
}

func NewList() *List { return new(List).Init() }
func (l *List) Init() *List {
	l.root.next = &l.root
	l.root.prev = &l.root
	l.len = 0
	return l
}
func (l *List) insert(e, at *Element) *Element {
	e.prev = at
	e.next = at.next
	e.prev.next = e
	e.next.prev = e
	e.list = l
	l.len++
	return e
}
func (l *List) PushBack(v any) *Element { return l.insert(&Element{Value: v}, l.root.prev) }
func (l *List) Remove(e *Element) {
	e.prev.next, e.next.prev = e.next, e.prev
	e.next, e.prev, e.list = nil, nil, nil
	l.len--
}
func (l *List) Front() *Element {
	if l.len == 0 {
		return nil
	}
	return l.root.next
}
func (e *Element) Next() *Element {
	if p := e.next; e.list != nil && p != &e.list.root {
		return p
	}
	return nil
}

type Parser struct {
	lex      *Lexer
	errs     []string
	handlers map[string]func(*Parser) *Node
}
type Lexer struct {
	p   *Parser
	pos int
	src string
}
type Node struct {
	Name string          `json:"name"`
	Kids []*Node         `json:"kids,omitempty"`
	Attr map[string]Node `json:"attr,omitempty"`
	p    *Parser
	meta struct{ up *Node }
	In   struct {
		T *Node `json:"t"`
	} `json:"in"`
}

func (n *Node) String() string {
	if len(n.Kids) == 0 {
		return n.Name
	}
	var parts []string
	for _, k := range n.Kids {
		parts = append(parts, k.String())
	}
	return n.Name + "(" + strings.Join(parts, " ") + ")"
}
func (n *Node) Add(k *Node) *Node { k.meta.up = n; n.Kids = append(n.Kids, k); return n }

type Tree[K any, V any] struct {
	root *node[K, V]
	cmp  func(a, b K) int
}
type node[K any, V any] struct {
	k           K
	v           V
	left, right *node[K, V]
	tree        *Tree[K, V]
}

func (t *Tree[K, V]) Put(k K, v V) {
	at := &t.root
	for *at != nil {
		switch c := t.cmp(k, (*at).k); {
		case c < 0:
			at = &(*at).left
		case c > 0:
			at = &(*at).right
		default:
			(*at).v = v
			return
		}
	}
	*at = &node[K, V]{k: k, v: v, tree: t}
}
func (t *Tree[K, V]) Walk(f func(K, V)) { t.root.walk(f) }
func (n *node[K, V]) walk(f func(K, V)) {
	if n != nil {
		n.left.walk(f)
		f(n.k, n.v)
		n.right.walk(f)
	}
}

type Graph struct {
	mu    sync.Mutex
	verts map[string]*Vertex
}
type Vertex struct {
	g     *Graph
	edges []Edge
	name  string
	seen  bool
}
type Edge struct {
	from, to *Vertex
	w        float64
}

func (g *Graph) vertex(name string) *Vertex {
	g.mu.Lock()
	defer g.mu.Unlock()
	v, ok := g.verts[name]
	if !ok {
		v = &Vertex{g: g, name: name}
		g.verts[name] = v
	}
	return v
}
func (g *Graph) connect(a, b string, w float64) {
	x, y := g.vertex(a), g.vertex(b)
	x.edges = append(x.edges, Edge{x, y, w})
}
func (v *Vertex) dfs(visit func(*Vertex)) {
	if v.seen {
		return
	}
	v.seen = true
	visit(v)
	for _, e := range v.edges {
		e.to.dfs(visit)
	}
}

type Expr interface{ Eval(env *Env) float64 }
type Env struct {
	vars map[string]Expr
	up   *Env
}
type Num float64
type Var string
type Bin struct {
	op   byte
	l, r Expr
}

func (n Num) Eval(*Env) float64 { return float64(n) }
func (v Var) Eval(e *Env) float64 {
	for ; e != nil; e = e.up {
		if x, ok := e.vars[string(v)]; ok {
			return x.Eval(e)
		}
	}
	panic("undefined " + string(v))
}
func (b *Bin) Eval(e *Env) float64 {
	x, y := b.l.Eval(e), b.r.Eval(e)
	switch b.op {
	case '+':
		return x + y
	case '*':
		return x * y
	}
	return x - y
}

type T struct {
	l, r *T
	arr  [2]*T
	c    chan *T
	mv   map[string]T
	vals []T
	f    func(T) *T
	n    int
}

func main() {
	l := NewList()
	for i := range 3 {
		l.PushBack(i * 10)
	}
	l.Remove(l.Front().Next())
	for e := l.Front(); e != nil; e = e.Next() {
		fmt.Print(e.Value, e.list == l, " ")
	}
	fmt.Println(l.len)
	p := &Parser{lex: &Lexer{src: "x"}}
	p.lex.p = p
	p.handlers = map[string]func(*Parser) *Node{"x": func(p *Parser) *Node { return &Node{Name: "n", p: p} }}
	n := p.handlers["x"](p)
	n.Add(&Node{Name: "a"}).Add((&Node{Name: "b"}).Add(&Node{Name: "c"}))
	n.Attr = map[string]Node{"z": {Name: "attr"}}
	n.In.T = &Node{Name: "in"}
	fmt.Println(n, n.Kids[1].Kids[0].meta.up.meta.up == n, n.p.lex.p == p, n.Attr["z"].Name)
	js, err := json.Marshal(n)
	fmt.Println(string(js), err)
	var back Node
	fmt.Println(json.Unmarshal(js, &back), back.Kids[1].Kids[0].Name, back.In.T.Name)
	t := &Tree[string, int]{cmp: strings.Compare}
	for i, w := range strings.Fields("the quick brown fox jumps over the lazy dog") {
		t.Put(w, i)
	}
	t.Walk(func(k string, v int) { fmt.Print(k, "=", v, " ") })
	fmt.Println(t.root.tree == t)
	g := &Graph{verts: map[string]*Vertex{}}
	g.connect("a", "b", 1)
	g.connect("b", "c", 2.5)
	g.connect("c", "a", 3)
	total := 0.0
	g.vertex("a").dfs(func(v *Vertex) {
		fmt.Print(v.name)
		for _, e := range v.edges {
			total += e.w
		}
	})
	fmt.Println(total)
	env := &Env{vars: map[string]Expr{"x": Num(4), "y": &Bin{'*', Var("x"), Num(2)}}}
	inner := &Env{vars: map[string]Expr{"x": Num(10)}, up: env}
	var e Expr = &Bin{'+', Var("x"), Var("y")}
	fmt.Println(e.Eval(inner), e.Eval(env))
	if b, ok := e.(*Bin); ok {
		fmt.Printf("%c %T %v\n", b.op, b.l, b.l == Var("x"))
	}
	x := &T{n: 1}
	x.l = &T{n: 2, r: x}
	x.arr[1] = x.l
	x.c = make(chan *T, 1)
	x.c <- x
	x.mv = map[string]T{"k": *x}
	x.vals = append(x.vals, *x.l)
	x.vals[0].n = 5
	x.f = func(t T) *T { t.n++; return &t }
	fmt.Println((<-x.c).n, x.mv["k"].l.n, x.vals[0].n, x.l.n, x.f(*x).n, x.arr[1].r.n)
	y := *x
	y.n = 100
	y.arr[0] = x
	fmt.Println(x.n, x.arr[0] == nil, y.arr[0].n)
	xs := []*T{x, &y, {n: 3}}
	for i, q := range xs {
		q.n += i
	}
	fmt.Println(xs[0].n, xs[1].n, xs[2].n, len(xs))
	type local struct {
		next *local
		v    int
	}
	var head *local
	for i := range 3 {
		head = &local{head, i}
	}
	for ; head != nil; head = head.next {
		fmt.Print(head.v, " ")
	}
	fmt.Println()
	var a any = x.l
	switch v := a.(type) {
	case *Node:
		fmt.Println("node", v)
	case *T:
		fmt.Println("T", v.n)
	}
}
