package main

import (
	"fmt"
	"iter"
	"strings"
)

// Defer statements in the body of a range over a function run when the function around it returns.

func count(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		defer fmt.Println("iterator returns")
		for i := range n {
			defer func() { fmt.Print("step ", i, "; ") }()
			if !yield(i) {
				return
			}
		}
	}
}

func plain() (result string) {
	defer func() { result += "|outer" }()
	for i := range count(3) {
		defer func() { result += fmt.Sprint("|", i) }()
		defer fmt.Println("deferred", i, result)
		i *= 10
		fmt.Println("body", i)
	}
	defer func() { result += "|last" }()
	fmt.Println("after the loop")
	return "r"
}

func nested() (n int) {
	for i := range count(2) {
		defer func(k int) { n = n*10 + k }(i + 1)
		for j := range count(2) {
			defer func() { n = n*10 + i + j + 5 }()
			if j == 1 {
				continue
			}
		}
		defer func() { n = n*10 + 9 }()
	}
	return 0
}

func leaves(how int) (s string) {
	defer func() { s += "." }()
	for i := range count(5) {
		defer func() { s += fmt.Sprint(i) }()
		switch {
		case how == 1 && i == 2:
			return "returned "
		case how == 2 && i == 1:
			break
		}
		if how == 3 && i == 1 {
			break
		}
	}
	return "end "
}

func recovered() (err error) {
	for i := range count(4) {
		defer func() {
			if r := recover(); r != nil {
				fmt.Println("recovered", r, i)
				err = fmt.Errorf("panic: %v", r)
			}
		}()
		if i == 2 {
			panic("two")
		}
	}
	return nil
}

func again() (s string) {
	defer func() { s = fmt.Sprint(s, recover()) }()
	for i := range count(3) {
		defer func() {
			s += fmt.Sprint(i, recover(), " ")
			panic(fmt.Sprint("again ", i))
		}()
	}
	panic("first")
}

type list []string

func (l *list) add(s string) { *l = append(*l, s) }

func methods() list {
	var l list
	func() {
		for i := range strings.SplitSeq("a b c", " ") {
			defer l.add(i)
			defer (*list).add(&l, strings.ToUpper(i))
			defer close(make(chan int))
		}
		l.add("first")
	}()
	return l
}

func pulled() (s string) {
	each := func(yield func(int) bool) {
		next, stop := iter.Pull(count(3))
		defer stop()
		for {
			v, ok := next()
			if !ok || !yield(v) {
				return
			}
		}
	}
	func() {
		for v := range each {
			defer func() { s += fmt.Sprint(v) }()
		}
		s = "<"
	}()
	return s + ">"
}

func many() int {
	total := 0
	func() {
		for i := range func(yield func(int) bool) {
			for i := 0; i < 1000 && yield(i); i++ {
			}
		} {
			defer func() { total += i }()
		}
	}()
	return total
}

func recursive(n int) (s string) {
	for i := range count(1) {
		defer func() { s += fmt.Sprint(n, i, " ") }()
		if n > 0 {
			s = recursive(n - 1)
		}
	}
	return s
}

func generic[T any](seq iter.Seq[T]) (all []T) {
	for x := range seq {
		defer func() { all = append(all, x) }()
	}
	return nil
}

func main() {
	fmt.Println(plain())
	fmt.Println(nested())
	fmt.Println(leaves(0), leaves(1), leaves(2), leaves(3))
	fmt.Println(recovered())
	fmt.Println(again())
	fmt.Println(methods(), pulled(), many(), recursive(3), generic(count(3)))
}
