package main

import (
	"errors"
	"fmt"
	"os"
	"sync"
)

type T struct{ n int }

func (t T) value()    { fmt.Println("value", t.n) }
func (t *T) pointer() { fmt.Println("pointer", t.n) }

func order() {
	for i := 0; i < 3; i++ {
		defer fmt.Println("order", i)
	}
	for i := range 3 {
		defer func() { fmt.Println("closure", i) }()
	}
}

func callsClosure() {
	cb := func() { fmt.Println("cb") }
	defer func() { cb() }()
	fmt.Println("body")
}

func named() (n int, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("recovered: %v", r)
			n *= 2
		}
	}()
	n = 21
	panic("boom")
}

func loopRecover() (log []string) {
	for i := 0; i < 3; i++ {
		x := i * 10
		func() {
			defer func() {
				r := recover()
				log = append(log, fmt.Sprint(r, x))
			}()
			panic(i)
		}()
	}
	return
}

func captureAndRecoverInLoop() {
	for i := 0; i < 3; i++ {
		x := i
		defer func() {
			if r := recover(); r != nil {
				fmt.Println("rec", x, r)
				return
			}
			fmt.Println("norec", x)
		}()
	}
	panic("p")
}

func handler()            { fmt.Println("handler", recover()) }
func handlerArg(s string) { fmt.Println("handler", s, recover()) }

func byName()    { defer handler(); panic("byName") }
func byNameArg() { defer handlerArg("x"); panic("byNameArg") }
func byValue()   { h := handler; defer h(); panic("byValue") }

func replaced() {
	defer func() { fmt.Println("outer", recover()) }()
	defer func() { fmt.Println("second runs") }()
	defer func() { panic("second") }()
	panic("first")
}

func methods() {
	t := T{1}
	defer t.value()
	defer t.pointer()
	p := &t
	defer p.value()
	f := t.value
	defer f()
	t.n = 2
}

func args() {
	x := 1
	var e any = "a"
	defer fmt.Println("args", x, e)
	defer func(a int, b any) { fmt.Println("lit", a, b, x) }(x, x)
	x, e = 2, "b"
}

func nested() (s string) {
	defer func() {
		defer func() { s += fmt.Sprint("|inner ", recover()) }()
		s += fmt.Sprint("outer ", recover())
		panic("again")
	}()
	panic("one")
}

func helper() any { return recover() }

func notDirect() {
	defer func() { fmt.Println("direct", recover()) }()
	defer func() { fmt.Println("helper", helper()) }()
	panic("x")
}

var mu sync.Mutex

func locked() int { mu.Lock(); defer mu.Unlock(); return 5 }

func multi() (a, b int) {
	defer func() { a, b = b, a }()
	return 1, 2
}

func builtins() {
	c := make(chan int, 1)
	m := map[string]int{"a": 1}
	func() {
		defer close(c)
		defer delete(m, "a")
		c <- 1
	}()
	v, ok := <-c
	fmt.Println(v, ok, len(m))
	_, ok = <-c
	fmt.Println(ok)
}

type closer struct{ name string }

func (c closer) Close() error { fmt.Println("close", c.name); return nil }

func ifaces() {
	var c interface{ Close() error } = closer{"a"}
	defer c.Close()
	c = closer{"b"}
}

func rethrow() {
	defer func() {
		fmt.Println("got", recover())
	}()
	func() {
		defer func() {
			r := recover()
			panic(fmt.Sprint("re-", r))
		}()
		panic("a")
	}()
}

func returnsDeferredValue() (f func() int) {
	x := 1
	defer func() { x++ }()
	return func() int { return x }
}

func variadic(xs ...int) { fmt.Println("variadic", xs) }

func deferVariadic() {
	xs := []int{1, 2}
	defer variadic(xs...)
	defer variadic(1, 2, 3)
	defer variadic()
	xs[0] = 9
}

func pair() (int, string)  { return 4, "four" }
func take(n int, s string) { fmt.Println("take", n, s) }

func deferTuple() {
	defer take(pair())
	defer func(xs ...any) { fmt.Println("spread", xs) }(pair())
	defer func(n any, s string) { fmt.Println("converted", n, s) }(pair())
	defer fmt.Println(pair())
	taken := func(n int) func(int, string) {
		fmt.Println("function", n)
		return take
	}
	n := 1
	change := func() (int, string) { n = 2; fmt.Println("arguments"); return pair() }
	defer taken(n)(change())
	times := 0
again:
	defer take(change())
	if times++; times < 2 {
		goto again
	}
}

func goTuple() {
	done := make(chan bool)
	go func(n int, s ...any) { fmt.Println("go", n, s); done <- true }(pair())
	<-done
	say := func(xs ...any) { fmt.Println(xs...); done <- true }
	go say(pair())
	<-done
}

func main() {
	order()
	callsClosure()
	fmt.Println(named())
	fmt.Println(loopRecover())
	captureAndRecoverInLoop()
	byName()
	byNameArg()
	byValue()
	replaced()
	methods()
	args()
	fmt.Println(nested())
	notDirectSafe()
	fmt.Println(locked(), locked())
	fmt.Println(multi())
	builtins()
	ifaces()
	rethrow()
	fmt.Println(returnsDeferredValue()())
	deferVariadic()
	deferTuple()
	goTuple()
	err := func() (err error) {
		defer func() {
			if r, ok := recover().(error); ok {
				err = r
			}
		}()
		var m map[string]int
		m["a"] = 1
		return nil
	}()
	fmt.Println(err)
	f, err := os.Open("/does/not/exist")
	if errors.Is(err, os.ErrNotExist) {
		fmt.Println("no file", f == nil)
	}
}

func notDirectSafe() {
	defer func() { fmt.Println("outermost", recover()) }()
	notDirect()
}
