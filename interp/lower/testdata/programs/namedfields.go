package main

import "fmt"

// Package reflect creates structs that mention each other. Their fields of named basic
// types can still be compared, incremented and passed on.

type E int

type S string

type F float64

const (
	e0 E = iota
	e1
)

type A struct {
	e E
	b *B
	t T
	l []E
	m map[E]S
	s S
	f F
	p *E
}

type B struct {
	a *A
	l []A
}

type T struct{ k E }

func id(e E) E { return e }

func wrong(p *A) bool { return (!right(p)) || (p.e != e0) }

func right(p *A) bool { return p.t.k == e0 }

func main() {
	y := e1
	a := &A{e: e1, l: []E{e1}, m: map[E]S{e1: "x"}, s: "s", f: 2.5, p: &y}
	a.b = &B{a: a, l: []A{{e: e1}}}
	x := e1
	fmt.Println(a.e != e0, a.e == x, a.t.k == e0, x == a.l[0], a.m[a.e] == "x", a.s+"t", a.f*2, -a.f, *a.p == x, id(a.e) == a.e)
	switch a.e {
	case e0:
		fmt.Println("no")
	case e1:
		fmt.Println("yes")
	}
	a.e += e1
	a.e++
	var z E = a.e
	z |= a.e
	w := a.e << 2
	q := []E{a.e, x}
	q = append(q, a.e)
	mm := map[E]int{a.e: 1}
	mm[a.e]++
	var k any = a.e
	_, ok := k.(E)
	fmt.Println(z, w, q, mm, ok, min(a.e, x), a.s < "z", len(a.s), wrong(a), a.b.l[0].e == a.b.a.e)
	a.b.l[0].e -= a.b.a.l[0]
	a.s += S("u") + a.m[e1]
	fmt.Println(a.b.l[0].e, a.s)
}
