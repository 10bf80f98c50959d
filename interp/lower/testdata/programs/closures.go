package main

import (
	"fmt"
	"sort"
	"strings"
	"sync"
)

func two(i int) (int, error) { return i * 2, nil }

type S struct{ n int }

func (s *S) inc() { s.n++ }

func main() {
	var fs []func()
	add := func(f func()) { fs = append(fs, f) }
	m := map[int]int{0: 5, 1: 6, 2: 7}
	c := make(chan int, 10)
	for i := 0; i < 3; i++ {
		c <- i
	}
	var ifc any
	for i := 0; i < 3; i++ {
		v, err := two(i)
		w, ok := m[i]
		r := <-c
		var z int
		var s S
		s.inc()
		p := &s
		arr := [2]int{i, i}
		sl := arr[:]
		ifc = i
		n, isInt := ifc.(int)
		st := S{i}
		a, b := i, i+1
		str := fmt.Sprint(i)
		add(func() {
			v++
			z++
			p.n++
			arr[0]++
			fmt.Println(i, v, err, w, ok, r, z, s, arr, sl, n, isInt, st, a, b, str)
		})
		i := i * 10
		add(func() { fmt.Println("shadow", i) })
	}
	for _, f := range fs {
		f()
		f()
	}
	// Per-iteration semantics with a body that changes the variable.
	var gs []func() int
	for i := 0; i < 6; i++ {
		if i%2 == 0 {
			i++
			gs = append(gs, func() int { i *= 10; return i })
			continue
		}
		gs = append(gs, func() int { return -i })
	}
	for _, g := range gs {
		fmt.Print(g(), " ", g(), " ")
	}
	fmt.Println()
	var ps []*int
	for i, v := range []int{7, 8, 9} {
		ps = append(ps, &i, &v)
	}
	for k, v := range map[string]int{"a": 1} {
		ps = append(ps, &v)
		add(func() { fmt.Println(k) })
	}
	for _, p := range ps {
		fmt.Print(*p, " ")
	}
	fmt.Println()
	// Closures handed to compiled functions.
	var wg sync.WaitGroup
	var mu sync.Mutex
	total := 0
	for i := 0; i < 20; i++ {
		wg.Go(func() {
			mu.Lock()
			defer mu.Unlock()
			total += i
		})
		wg.Add(1)
		go func(j int) {
			defer wg.Done()
			mu.Lock()
			total += j * 100
			mu.Unlock()
		}(i)
	}
	wg.Wait()
	fmt.Println(total)
	words := strings.FieldsFunc("a1b2c", func(r rune) bool { return r >= '0' && r <= '9' })
	sort.Slice(words, func(i, j int) bool { return words[i] > words[j] })
	fmt.Println(words)
	var fib func(int) int
	fib = func(n int) int {
		if n < 2 {
			return n
		}
		return fib(n-1) + fib(n-2)
	}
	fmt.Println(fib(15))
	acc := func() func(int) int { sum := 0; return func(x int) int { sum += x; return sum } }
	a, b := acc(), acc()
	fmt.Println(a(1), a(2), b(10), a(3))
	i := 0
again:
	x := i
	fs2 = append(fs2, func() int { return x })
	i++
	if i < 3 {
		goto again
	}
	for _, f := range fs2 {
		fmt.Print(f(), " ")
	}
	fmt.Println()
	x = 100
	fmt.Println(fs2[2]())
	funcs := map[string]func(int, int) int{"add": func(a, b int) int { return a + b }, "mul": func(a, b int) int { return a * b }}
	fmt.Println(funcs["add"](3, 4), funcs["mul"](3, 4))
	type op struct {
		name string
		f    func(float64) float64
	}
	for _, o := range []op{{"dbl", func(x float64) float64 { return x * 2 }}, {"neg", func(x float64) float64 { return -x }}} {
		fmt.Println(o.name, o.f(1.5))
	}
	var once sync.Once
	for i := range 3 {
		once.Do(func() { fmt.Println("once", i) })
	}
	compose := func(fs ...func(int) int) func(int) int {
		return func(x int) int {
			for _, f := range fs {
				x = f(x)
			}
			return x
		}
	}
	fmt.Println(compose(func(x int) int { return x + 1 }, func(x int) int { return x * 10 })(4))
	func() {
		var x, y = 1, "s"
		defer func() { fmt.Println(x, y) }()
		x, y = 2, "t"
	}()
}

var fs2 []func() int
