package main

import (
	"fmt"
	"iter"
)

type node struct {
	value int
	next  *node
}

func list(n int) (first *node) {
	for i := n; i > 0; i-- {
		first = &node{i, first}
	}
	return first
}

// A pointer that does not change is captured by its value, also through several literals.
func constant(f func(int) int, p *node, m map[string]int) func() int {
	q := p.next
	return func() int {
		inner := func() int { return f(p.value) + q.value + m["a"] }
		m["a"]++
		p.value++
		return inner()
	}
}

// A pointer that is assigned to, here or in the literal, is one variable for both.
func assignedHere(p *node) (before, after int) {
	read := func() int { return p.value }
	before = read()
	p = p.next
	return before, read()
}

func assignedThere(p *node) []int {
	step := func() { p = p.next }
	values := []int{p.value}
	step()
	return append(values, p.value)
}

func addressed(p *node) int {
	read := func() int { return p.value }
	at := &p
	*at = p.next
	return read()
}

// A result changes by return.
func result(p, q *node) (r *node) {
	r = p
	defer func() { fmt.Println("deferred sees", r.value) }()
	return q
}

func unnamed(p *node) *node {
	defer func() {
		if x := recover(); x != nil {
			fmt.Println("recovered", x, p.value)
		}
	}()
	panic("stop")
}

func recursive(n int) int {
	var f func(int) int
	f = func(n int) int {
		if n < 2 {
			return n
		}
		return f(n-1) + f(n-2)
	}
	return f(n)
}

func neverSet() (isNil bool) {
	var p *node
	f := func() bool { return p == nil }
	return f()
}

func setLater() int {
	var p *node
	f := func() int { return p.value }
	p = &node{value: 7}
	return f()
}

func loops() (all []func() int) {
	for p := list(3); p != nil; p = p.next {
		all = append(all, func() int { return p.value })
	}
	for p, i := list(3), 0; i < 2; i++ {
		all = append(all, func() int { return 10*p.value + i })
	}
	for _, p := range []*node{{value: 5}, {value: 6}} {
		all = append(all, func() int { return p.value })
	}
	for k, p := range map[string]*node{"x": {value: 9}} {
		all = append(all, func() int { return p.value + len(k) })
	}
	var p *node
	for _, p = range []*node{{value: 3}, {value: 4}} {
		all = append(all, func() int { return p.value })
	}
	return all
}

func values(p *node) iter.Seq[int] {
	return func(yield func(int) bool) {
		for q := p; q != nil; q = q.next {
			if !yield(q.value) {
				return
			}
		}
	}
}

func overFunction(p *node, seen map[int]bool) (sum int) {
	q := p
	for v := range values(p) {
		seen[v] = true
		sum += v * q.value
		if v == 2 {
			q = q.next
		}
	}
	return sum
}

func switches(x any) func() int {
	switch p := x.(type) {
	case *node:
		return func() int { return p.value }
	case map[string]int:
		return func() int { return len(p) }
	case func() int:
		return func() int { return p() + 1 }
	}
	return nil
}

func channels(c chan *node) func() int {
	p := <-c
	q, open := <-c
	done := make(chan int)
	go func(r *node) { done <- r.value + p.value }(q)
	sum := <-done
	select {
	case p = <-c:
	default:
	}
	return func() int {
		if !open {
			return -1
		}
		return sum + p.value
	}
}

func jumps() (all []func() int) {
	i := 0
again:
	p := &node{value: i}
	all = append(all, func() int { return p.value })
	if i++; i < 3 {
		goto again
	}
	return all
}

func generic[T any](x *T, f func(*T) int) func() int { return func() int { return f(x) } }

type list2 []*node

func (l list2) each() func() int {
	first := l[0]
	return func() int { return first.value + len(l) }
}

func main() {
	m := map[string]int{"a": 1}
	f := constant(func(n int) int { return n * n }, list(3), m)
	fmt.Println(f(), f(), m)
	fmt.Println(assignedHere(list(3)))
	fmt.Println(assignedThere(list(3)), addressed(list(2)))
	fmt.Println(result(list(1), list(2).next).value, unnamed(list(1)) == nil)
	fmt.Println(recursive(10), neverSet(), setLater())
	for _, f := range loops() {
		fmt.Print(f(), " ")
	}
	fmt.Println()
	seen := map[int]bool{}
	fmt.Println(overFunction(list(4), seen), seen)
	fmt.Println(switches(list(4))(), switches(m)(), switches(func() int { return 4 })())
	c := make(chan *node, 3)
	c <- list(1)
	c <- list(2)
	c <- &node{value: 40}
	fmt.Println(channels(c)())
	for _, f := range jumps() {
		fmt.Print(f(), " ")
	}
	fmt.Println()
	n := 20
	fmt.Println(generic(&n, func(p *int) int { *p++; return *p })(), n, list2{list(1), nil}.each()())
}
