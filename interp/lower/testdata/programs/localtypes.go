package main

import (
	"cmp"
	"fmt"
	"sort"
	"strings"
)

// Types that generic functions and methods declare.

func sorted[K cmp.Ordered, V any](m map[K]V) (keys []K, values []V) {
	type entry struct {
		key   K
		value V
	}
	var list []entry
	for k, v := range m {
		e := entry{k, v}
		list = append(list, e)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].key < list[j].key })
	for _, e := range list {
		keys, values = append(keys, e.key), append(values, e.value)
	}
	return keys, values
}

func chain[T any](xs ...T) string {
	type node struct {
		value T
		next  *node
		index map[string]*node
	}
	var head *node
	for i := range xs {
		head = &node{xs[len(xs)-1-i], head, map[string]*node{}}
		head.index["self"] = head
	}
	var b strings.Builder
	for n := head; n != nil; n = n.index["self"].next {
		fmt.Fprint(&b, n.value, ";")
	}
	return b.String()
}

func apply[T, R any](xs []T, f func(T) R) []R {
	out := make([]R, 0, len(xs))
	for _, x := range xs {
		out = append(out, f(x))
	}
	return out
}

func pairs[T any](xs []T) []string {
	type pair struct {
		i int
		x T
	}
	type pairs []pair
	i := 0
	var all pairs = apply(xs, func(x T) pair { i++; return pair{i, x} })
	return apply(all, func(p pair) string {
		type text string
		return string(text(fmt.Sprint(p.i, "=", p.x)))
	})
}

type stack[T any] struct{ items []T }

func (s *stack[T]) collect(n int) (out []T) {
	type cursor struct {
		at   int
		from *stack[T]
	}
	if n == 0 {
		return nil
	}
	for c := (cursor{0, s}); c.at < len(c.from.items); c.at++ {
		type weight [2]T
		w := weight{c.from.items[c.at]}
		out = append(out, w[0])
	}
	return append(out, s.collect(n-1)...)
}

func loops[T any](x T, n int) int {
	total := 0
	for i := range n {
		type box struct{ v [3]T }
		b := box{[3]T{1: x}}
		f := func() int {
			type inner struct{ box }
			return len(inner{b}.v) + i
		}
		total += f()
	}
	return total
}

func main() {
	fmt.Println(sorted(map[string]int{"b": 2, "a": 1}))
	fmt.Println(sorted(map[float64][]int{2.5: {1}, -1: nil}))
	fmt.Println(chain(1, 2, 3), chain("x", "y"), chain[any](1, nil))
	fmt.Println(pairs([]string{"p", "q"}), pairs([]bool{true}))
	s := &stack[string]{[]string{"a", "b"}}
	fmt.Println(s.collect(2), (&stack[int]{[]int{4}}).collect(1))
	fmt.Println(loops(1, 4), loops("s", 2))
}
