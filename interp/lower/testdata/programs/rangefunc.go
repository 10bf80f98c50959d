package main

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
)

func count(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		defer fmt.Println("count ends")
		for i := 0; i < n; i++ {
			if !yield(i) {
				return
			}
		}
	}
}

func pairs(s ...string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for i, x := range s {
			if !yield(i, x) {
				return
			}
		}
	}
}

func find(n int) (int, error) {
	for i := range count(10) {
		if i == n {
			return i * 100, nil
		}
	}
	return -1, fmt.Errorf("no %d", n)
}

func named(n int) (r int, err error) {
	for i := range count(10) {
		r = i
		if i == n {
			err = fmt.Errorf("named")
			return
		}
	}
	return 7, nil
}

func labels() {
outer:
	for i := range count(4) {
		for j, s := range pairs("a", "b", "c") {
			switch {
			case i == 1:
				continue outer
			case i == 3:
				break outer
			case j == 1:
				break
			case j == 2:
				continue
			}
			fmt.Println(i, j, s)
		}
		for k := 0; ; k++ {
			if k == 2 {
				continue outer
			}
			for range count(1) {
				if k == 1 {
					continue outer
				}
			}
		}
	}
}

func nestedReturn() string {
	for i := range count(3) {
		for j := range count(3) {
			if i == 1 && j == 1 {
				return fmt.Sprint(i, j)
			}
		}
	}
	return "none"
}

func deferred() {
	for i := range count(2) {
		defer fmt.Println("deferred", i)
	}
	fmt.Println("before")
}

func closures() (fs []func() int) {
	for i := range count(3) {
		fs = append(fs, func() int { i++; return i })
	}
	return
}

func assign() {
	var i int
	var v any
	for i, v = range pairs("x", "y") {
	}
	fmt.Println(i, v)
}

func bad(yield func(int) bool) {
	yield(1)
	yield(2)
}

type list struct {
	v    int
	next *list
}

func (l *list) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for ; l != nil; l = l.next {
			if !yield(l.v) {
				return
			}
		}
	}
}

func gen[T any](xs ...T) iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, x := range xs {
			if !yield(x) {
				return
			}
		}
	}
}

func main() {
	fmt.Println(find(3))
	fmt.Println(find(30))
	fmt.Println(named(2))
	fmt.Println(named(20))
	labels()
	fmt.Println(nestedReturn())
	deferred()
	for _, f := range closures() {
		fmt.Print(f(), f(), " ")
	}
	fmt.Println()
	assign()
	func() {
		defer func() { fmt.Println("rec:", recover()) }()
		for x := range bad {
			fmt.Println(x)
			break
		}
	}()
	for v := range (&list{1, &list{2, nil}}).All() {
		fmt.Println(v)
	}
	for s := range gen("p", "q") {
		fmt.Println(s)
	}
	for w := range strings.FieldsSeq("a b c") {
		if w == "c" {
			break
		}
		fmt.Print(w, ";")
	}
	fmt.Println()
	fmt.Println(slices.Sorted(maps.Keys(map[string]int{"b": 1, "a": 2})))
	next, stop := iter.Pull(gen(1, 2))
	a, ok := next()
	fmt.Println(a, ok)
	stop()
	a, ok = next()
	fmt.Println(a, ok)
	func() {
		defer func() { fmt.Println("rec:", recover()) }()
		for i := range count(3) {
			if i == 1 {
				panic("in body")
			}
		}
	}()
	for range count(2) {
		fmt.Println("tick")
	}
	var nothing iter.Seq[int] = func(yield func(int) bool) {}
	for range nothing {
		fmt.Println("never")
	}
	sum := 0
	for i := range 5 {
		for j := range gen(1, 2, 3) {
			if j == 2 {
				continue
			}
			sum += i * j
		}
	}
	fmt.Println(sum)
}
