package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
)

// All kinds of calls, deferred and in go statements.

type T struct{ n int }

func (t T) value(wg *sync.WaitGroup)    { fmt.Println("value", t.n); wg.Done() }
func (t *T) pointer(wg *sync.WaitGroup) { t.n++; fmt.Println("pointer", t.n); wg.Done() }

type doer interface{ value(wg *sync.WaitGroup) }

func builtins() (list []int) {
	list = []int{1, 2, 3}
	m := map[string]T{"a": {1}, "b": {2}}
	other := []int{7, 8}
	c := make(chan int)
	defer func() {
		_, open := <-c
		fmt.Println(list, len(m), open)
	}()
	defer copy(list, other)
	defer copy(other, []int{0, 0})
	defer delete(m, "a")
	defer close(c)
	key := "b"
	defer func() { fmt.Println(m) }()
	defer delete(m, key)
	key = "a"
	array := [3]T{{1}, {2}, {3}}
	defer func() { fmt.Println(array, list) }()
	defer clear(array[1:])
	return list
}

func printed() { defer print() }

func cleared() {
	m := map[T]int{{1}: 2}
	defer func() { fmt.Println(len(m)) }()
	old := m
	defer clear(m)
	m = map[T]int{}
	defer func() { fmt.Println(len(old)) }()
}

func nilArguments() {
	defer func() { fmt.Println(recover()) }()
	var c chan int
	defer close(c)
}

func panicking(x any) (err any) {
	defer func() { err = recover() }()
	defer panic(x)
	x = "other"
	return nil
}

// The call of recover is that of the deferred function when it returns.
func recoverLater() (s string) {
	defer func() { s += fmt.Sprint("outer ", recover()) }()
	defer func() {
		defer recover()
		s += "inner "
	}()
	panic("recovered by inner")
}

func recoverTooLate() (s string) {
	defer func() { s += fmt.Sprint("outer ", recover()) }()
	defer recover()
	defer func() {
		defer recover()
		panic("second")
	}()
	panic("first")
}

func recoverTwice() (s string) {
	defer func() { s += fmt.Sprint("outer ", recover()) }()
	defer func() {
		defer func() { s += fmt.Sprint("inner ", recover()) }()
		defer recover()
		defer recover()
	}()
	panic("first")
}

func goes() {
	var wg sync.WaitGroup
	next := func(start func()) {
		wg.Add(1)
		start()
		wg.Wait()
	}
	t := T{1}
	next(func() { go t.value(&wg); t.n = 5 })
	next(func() { go t.pointer(&wg) })
	next(func() { go (&t).value(&wg) })
	next(func() { var d doer = t; go d.value(&wg); d = nil })
	next(func() { go T.value(t, &wg) })
	next(func() { f := func(a string, list ...int) { fmt.Println(a, list); wg.Done() }; go f("f", 1, 2); f = nil })
	next(func() {
		n, ready := 3, make(chan bool)
		go func(m int) { <-ready; fmt.Println(m, n); wg.Done() }(n)
		n = 4
		close(ready)
	})
	next(func() {
		n := 3
		go func() int { defer wg.Done(); fmt.Println("result", n); return n }()
	})
	next(func() { go generic("x", &wg) })
	next(func() { go wg.Done() })
	c := make(chan int)
	go close(c)
	<-c
	two := func() (string, *sync.WaitGroup) { return "two", &wg }
	next(func() { go generic(two()) })
	list := make([]int, 2)
	next(func() { go slices.SortFunc([]int{2, 1}, func(a, b int) int { defer wg.Done(); return a - b }) })
	var once sync.Once
	next(func() { go once.Do(func() { list[0]++; wg.Done() }) })
	var b strings.Builder
	func() {
		defer func() { fmt.Println(b.String(), list) }()
		defer b.WriteString("written")
		defer fmt.Fprint(&b, "printed ", list)
		defer strings.Repeat("x", 1)
	}()
	seen := make(chan string)
	for name := range maps.Keys(map[string]int{"a": 1}) {
		go func() { seen <- name }()
		go send(seen, name+name)
	}
	got := []string{<-seen, <-seen}
	slices.Sort(got)
	fmt.Println(got)
	for i := range 2 {
		go send(seen, fmt.Sprint(i))
		fmt.Println(<-seen)
	}
	go os.Getpid()
}

func send(c chan<- string, s string) { c <- s }

func generic[X any](x X, wg *sync.WaitGroup) { fmt.Printf("%T\n", x); wg.Done() }

func main() {
	fmt.Println(builtins())
	printed()
	cleared()
	nilArguments()
	fmt.Println(panicking(1), panicking("a"), panicking(T{3}))
	fmt.Println(recoverLater())
	fmt.Println(recoverTooLate())
	fmt.Println(recoverTwice())
	goes()
}
