package main

import (
	"fmt"
	"sort"
	"sync"
	"sync/atomic"
	"time"
)

type message struct {
	id   int
	text string
}

type safe struct {
	sync.Mutex
	values map[string]int
}

func (s *safe) add(key string, n int) int {
	s.Lock()
	defer s.Unlock()
	s.values[key] += n
	return s.values[key]
}

func poll(c chan int) string {
	select {
	case v, ok := <-c:
		return fmt.Sprint("received ", v, ok)
	default:
		return "nothing"
	}
}

func offer(c chan<- string, s string) bool {
	select {
	case c <- s:
		return true
	default:
	}
	return false
}

func merge(a, b <-chan int) (sum int) {
	for a != nil || b != nil {
		select {
		case v, ok := <-a:
			if !ok {
				a = nil
				continue
			}
			sum += v
		case v, ok := <-b:
			if !ok {
				b = nil
				break
			}
			sum += 100 * v
		}
	}
	return sum
}

func produce(n int) <-chan int {
	c := make(chan int)
	go func() {
		defer close(c)
		for i := range n {
			c <- i
		}
	}()
	return c
}

func kinds() {
	floats, bytes := make(chan float64, 1), make(chan byte, 1)
	structs, pointers := make(chan message, 1), make(chan *message, 1)
	errors, anys, slices := make(chan error, 1), make(chan any, 1), make(chan []int, 1)
	empties, functions, arrays := make(chan struct{}, 1), make(chan func() int, 1), make(chan [2]string, 1)
	m := message{1, "one"}
	for round := range 2 {
		sent := 0
		for range 10 {
			select {
			case floats <- 1.5:
			case bytes <- 200:
			case structs <- m:
				m.text = "changed"
			case pointers <- &m:
			case errors <- fmt.Errorf("e%d", round):
			case anys <- m.id:
			case slices <- []int{round, 2}:
			case empties <- struct{}{}:
			case functions <- func() int { return round + m.id }:
			case arrays <- [2]string{"x", "y"}:
			}
			sent++
		}
		var lines []string
		for range 10 {
			select {
			case f := <-floats:
				lines = append(lines, fmt.Sprint("float ", f*2))
			case b := <-bytes:
				lines = append(lines, fmt.Sprint("byte ", b+100))
			case v := <-structs:
				v.id++
				lines = append(lines, fmt.Sprint("struct ", v.id))
			case p := <-pointers:
				lines = append(lines, fmt.Sprint("pointer ", p.text))
			case err := <-errors:
				lines = append(lines, fmt.Sprint("error ", err))
			case x := <-anys:
				lines = append(lines, fmt.Sprint("any ", x))
			case list, ok := <-slices:
				lines = append(lines, fmt.Sprint("slice ", list, ok))
			case <-empties:
				lines = append(lines, "empty")
			case f := <-functions:
				lines = append(lines, fmt.Sprint("function ", f()))
			case a := <-arrays:
				a[0] += "z"
				lines = append(lines, fmt.Sprint("array ", a))
			}
		}
		sort.Strings(lines)
		fmt.Println(sent, lines)
	}
}

func assigned() {
	c := make(chan int, 3)
	c <- 7
	c <- 8
	close(c)
	var list [3]int
	var ok bool
	m := map[string]int{}
	for i := range 3 {
		select {
		case list[i], ok = <-c:
		}
		fmt.Println(list, ok)
	}
	select {
	case m["x"] = <-c:
		m["y"]++
	}
	var x any
	select {
	case x = <-c:
	}
	fmt.Println(m, x)
}

func order() {
	say := func(s string, c chan int) chan int { fmt.Println("evaluated", s); return c }
	value := func(n int) int { fmt.Println("value", n); return n }
	full := make(chan int)
	ready := make(chan int, 1)
	select {
	case say("a", full) <- value(1):
		fmt.Println("never")
	case say("b", ready) <- value(2):
		fmt.Println("sent", <-ready)
	case v := <-say("c", nil):
		fmt.Println("never", v)
	}
}

func closed() (text string) {
	defer func() { text = fmt.Sprint(recover()) }()
	c := make(chan int)
	close(c)
	select {
	case c <- 1:
	}
	return "no"
}

func labels() (steps int) {
	c := make(chan int, 10)
loop:
	for i := 0; ; i++ {
		select {
		case c <- i:
			if i%2 == 0 {
				continue loop
			}
		default:
			break loop
		}
		steps++
	}
choice:
	select {
	case v := <-c:
		if v == 0 {
			break choice
		}
		steps += 1000
	}
	return steps
}

func captured() {
	var list []func() int
	c := make(chan int, 3)
	for i := range 3 {
		c <- i
	}
	for range 3 {
		select {
		case v := <-c:
			list = append(list, func() int { v += 10; return v })
		}
	}
	for _, f := range list {
		fmt.Print(f(), f(), " ")
	}
	fmt.Println()
}

func workers() int {
	var wait sync.WaitGroup
	var total atomic.Int64
	var plain int64
	s := &safe{values: map[string]int{}}
	for i := range 4 {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for range 50 {
				s.add("n", i)
				total.Add(1)
				atomic.AddInt64(&plain, 2)
			}
		}()
	}
	wait.Wait()
	var lock sync.RWMutex
	lock.RLock()
	defer lock.RUnlock()
	return s.add("n", 0) + int(total.Load()) + int(plain)
}

func timeout() string {
	never := make(chan int)
	select {
	case <-never:
		return "never"
	case <-time.After(time.Millisecond):
		return "late"
	}
}

func main() {
	c := make(chan int, 1)
	fmt.Println(poll(c))
	c <- 3
	fmt.Println(poll(c))
	close(c)
	fmt.Println(poll(c), poll(nil))
	texts := make(chan string, 1)
	fmt.Println(offer(texts, "a"), offer(texts, "b"), offer(nil, "c"))
	fmt.Println(merge(produce(5), produce(7)))
	kinds()
	assigned()
	order()
	fmt.Println(closed())
	fmt.Println(labels())
	captured()
	fmt.Println(workers())
	fmt.Println(timeout())
}
