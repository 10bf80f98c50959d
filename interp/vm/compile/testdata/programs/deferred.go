package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
)

type account struct {
	name    string
	balance int
}

func (a *account) add(n int)         { a.balance += n; fmt.Println("add", a.name, n, a.balance) }
func (a account) show(prefix string) { fmt.Println(prefix, a.name, a.balance) }

type shower interface{ show(prefix string) }

type failure struct{ code int }

func (f failure) Error() string { return fmt.Sprint("failure ", f.code) }

// Order, and when operands are evaluated.
func order() {
	for i := range 3 {
		defer fmt.Println("deferred", i)
		defer func() { fmt.Println("closure", i) }()
	}
	x := 1
	defer fmt.Println("x is", x)
	defer func(n int) { fmt.Println("parameter", n, x) }(x)
	x = 2
	a := account{"a", 1}
	defer a.show("value")
	defer a.add(10)
	p := &account{"p", 5}
	defer p.show("pointer")
	var s shower = a
	defer s.show("interface")
	a.balance, p.balance, p = 50, 60, &account{"q", 7}
	f := func(s string) { fmt.Println("first", s) }
	defer f("f")
	f = func(s string) { fmt.Println("second", s) }
	var list []string
	defer join("-", "a", "b")
	defer join("+", append(list, "c")...)
	defer join("none")
	fmt.Println("end of order")
}

func join(separator string, list ...string) { fmt.Println(strings.Join(list, separator), len(list)) }

// Results.
func named(n int) (r int, err error) {
	defer func() {
		r *= 2
		if x := recover(); x != nil {
			err = fmt.Errorf("recovered %v", x)
		}
	}()
	if n == 0 {
		panic("zero")
	}
	r = 100 / (n - 1)
	return r + n, nil
}

func unnamed(n int) (int, string) {
	x := n
	defer func() { x = 100; recover() }()
	if n > 2 {
		panic(n)
	}
	return x, fmt.Sprint(x)
}

func blank() (_ int, s string) {
	defer func() { s += "!" }()
	return 3, "blank"
}

func structure() (a account) {
	defer a.add(1)
	defer func() { a.balance++ }()
	b := account{"b", 41}
	defer func() { b.balance = 0 }()
	return b
}

func swapped() (a, b int) {
	defer func() { a, b = b*10, a*10 }()
	a, b = 1, 2
	return b, a
}

func slices() (list []int) {
	defer func() {
		if recover() != nil {
			list = append(list, -1)
		}
	}()
	for i := range 5 {
		list = append(list, i)
		_ = list[:3][i]
	}
	return list
}

// Who may recover.
func helper() any { return recover() }

func direct() {
	if r := recover(); r != nil {
		fmt.Println("direct", r)
	}
}

func (a *account) rescue() { fmt.Println("rescue", a.name, recover()) }
func (f failure) rescue()  { fmt.Println("rescue", f.code, recover()) }

type rescuer interface{ rescue() }

func attempts(kind int) (result string) {
	defer func() {
		if r := recover(); r != nil {
			result = fmt.Sprint("outer ", r)
		}
	}()
	a := &account{"r", 0}
	switch kind {
	case 0:
		defer func() { fmt.Println("helper", helper()) }()
	case 1:
		defer helper()
	case 2:
		defer direct()
	case 3:
		defer a.rescue()
	case 4:
		var r rescuer = a
		defer r.rescue()
	case 5:
		var r rescuer = failure{5}
		defer r.rescue()
	case 6:
		f := direct
		defer f()
	case 7:
		f := func() { fmt.Println("literal", recover()) }
		defer f()
	case 8:
		defer func() { func() { fmt.Println("nested", recover()) }() }()
	case 9:
		defer func() { defer func() { fmt.Println("deferred in deferred", recover()) }() }()
	case 10:
		defer func() {
			defer direct()
			panic("second")
		}()
	case 11:
		defer func() { panic(fmt.Sprint("replaced ", recover())) }()
	case 12:
		defer func() {
			fmt.Println("twice", recover(), recover())
		}()
	case 13:
		var f func()
		defer f()
	case 14:
		defer failure{14}.rescue()
	case 15:
		f := failure{15}
		defer f.rescue()
	case 16:
		defer func(n int) { fmt.Println("with", n, recover()) }(kind)
	case 17:
		defer panic("from defer")
	case 18:
		var r rescuer
		fmt.Println("before nil interface")
		defer r.rescue()
		fmt.Println("not reached")
	case 19:
		defer variadic(1, 2)
	case 20:
		defer generic[string]("g")
	case 21:
		g := generic[int]
		defer g(7)
	}
	panic(kind)
}

func variadic(list ...int) { fmt.Println("variadic", list, recover()) }

func generic[T any](x T) { fmt.Println("generic", x, recover()) }

// Panics through several functions.
func deep(n int) (depth int) {
	defer func() { depth++ }()
	if n == 0 {
		panic(errors.New("bottom"))
	}
	return deep(n - 1)
}

func chain() (text string) {
	defer func() {
		r := recover()
		var f failure
		err, _ := r.(error)
		text = fmt.Sprint(r, errors.As(err, &f), f.code)
	}()
	defer func() {
		defer func() {
			if r := recover(); r != nil {
				panic(fmt.Errorf("third after %v", r))
			}
		}()
		panic(failure{2})
	}()
	panic("first")
}

func repanic() (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = r.(error)
		}
	}()
	func() {
		defer func() {
			if r := recover(); r != nil {
				panic(fmt.Errorf("again: %w", r.(error)))
			}
		}()
		var m map[string]int
		m["x"] = 1
	}()
	return nil
}

func runtimeErrors() {
	try := func(name string, f func()) {
		defer func() { fmt.Println(name, recover()) }()
		f()
	}
	var p *account
	var list []int
	var x any = "text"
	var zero int
	try("nil", func() { p.balance++ })
	try("index", func() { list[3]++ })
	try("division", func() { zero = 1 / zero })
	try("assertion", func() { zero = x.(int) })
	try("slice", func() { list = list[len(list)+2:] })
	try("closed", func() { c := make(chan int); close(c); close(c) })
	try("nothing", func() {})
	try("nil panic", func() { panic(nil) })
	try("shift", func() { n := -1; zero = 1 << n })
}

// Locks, channels, loops.
type counter struct {
	mu sync.Mutex
	n  map[string]int
}

func (c *counter) inc(key string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n[key]++
	return c.n[key]
}

func produce(n int) <-chan int {
	c := make(chan int, n)
	defer close(c)
	for i := range n {
		c <- i * i
	}
	return c
}

func remove(m map[string]int, key string) int {
	defer delete(m, key)
	key += "x"
	return m["a"]
}

func loops() (total int) {
	defer func() { recover() }()
outer:
	for i := range 5 {
		for j := 0; ; j++ {
			func() {
				defer func() { total += i }()
				if j == 3 {
					panic(j)
				}
			}()
			if j > i {
				continue outer
			}
			if i == 4 {
				break outer
			}
		}
	}
	return
}

func early(n int) (s string) {
	defer func() { s = "<" + s + ">" }()
	if n == 0 {
		return "zero"
	}
	defer func() { s += "," }()
	if n == 1 {
		return "one"
	}
	for {
		defer func() { s += fmt.Sprint(n) }()
		if n--; n == 0 {
			return "many"
		}
	}
}

func aliased() (p account) {
	q := &p
	defer func() { q.name += "/deferred" }()
	p.name = "p"
	return account{q.name + "/returned", q.balance}
}

type stack[T any] struct{ list []T }

func (s *stack[T]) pop() (x T, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("pop: %v", r)
		}
	}()
	x = s.list[len(s.list)-1]
	s.list = s.list[:len(s.list)-1]
	return x, nil
}

func goroutines() (sum int) {
	results := make(chan int)
	for i := range 4 {
		go func() {
			defer func() {
				if r := recover(); r != nil {
					results <- r.(int) * 100
				}
			}()
			if i%2 == 1 {
				panic(i)
			}
			results <- i
		}()
	}
	for range 4 {
		sum += <-results
	}
	return sum
}

func main() {
	order()
	for n := range 3 {
		fmt.Println(named(n))
	}
	fmt.Println(unnamed(1))
	fmt.Println(unnamed(3))
	fmt.Println(blank())
	fmt.Println(structure())
	fmt.Println(swapped())
	fmt.Println(slices())
	for kind := range 22 {
		fmt.Println(kind, attempts(kind))
	}
	func() {
		defer func() { fmt.Println("deep", recover()) }()
		fmt.Println(deep(20))
	}()
	fmt.Println(chain())
	fmt.Println(repanic())
	runtimeErrors()
	c := &counter{n: map[string]int{}}
	fmt.Println(c.inc("a"), c.inc("b"), c.inc("a"))
	for v := range produce(4) {
		fmt.Print(v, " ")
	}
	m := map[string]int{"a": 1, "ax": 2}
	fmt.Println(remove(m, "a"), m)
	fmt.Println(loops())
	for n := range 4 {
		fmt.Println(early(n))
	}
	fmt.Println(aliased())
	s := &stack[string]{[]string{"x", "y"}}
	for range 3 {
		fmt.Println(s.pop())
	}
	fmt.Println(goroutines())
	fmt.Fprintln(os.Stdout, "done")
}
