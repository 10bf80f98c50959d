package main

import (
	"fmt"
	"math"
	"sync"
	"unsafe"
)

// Builtin functions in unusual places.

type mixed[T any] struct {
	a byte
	b T
	c struct {
		d bool
		e [2]T
	}
}

func sizes[T any](x T) (list []uintptr) {
	var m mixed[T]
	p := &m
	list = append(list, unsafe.Sizeof(x), unsafe.Alignof(x), unsafe.Sizeof(m), unsafe.Sizeof([3]T{}), unsafe.Alignof(m.c))
	return append(list, unsafe.Offsetof(m.b), unsafe.Offsetof(p.c), unsafe.Offsetof(m.c.e), unsafe.Sizeof(p), unsafe.Sizeof(m.c.e[1]))
}

func bits[T ~int8 | ~int32 | ~int](x T) int { return int(unsafe.Sizeof(x)) * 8 }

func largest[T int | uint8 | float32 | float64 | string](x, y, z T) (T, T) {
	return max(x, y, z), min(x, y, z)
}

func counts(n uint64) (k int) {
	for i := range n {
		if k++; i == 4 {
			break
		}
	}
	for range uintptr(n) {
		if k++; k > 6 {
			break
		}
	}
	return k
}

func deferred() (m map[string]int, s []int, c chan int) {
	m, s, c = map[string]int{"a": 1, "b": 2, "c": 3}, []int{1, 2, 3}, make(chan int, 1)
	key := "a"
	t := []int{7, 8}
	defer delete(m, key)
	defer delete(m, "b")
	defer copy(s, t)
	defer close(c)
	defer clear(t[:0])
	defer func() { fmt.Println("first", len(m), s) }()
	key, t = "c", nil
	defer print()
	if len(t) > 5 { // not printed: this test shows standard error like standard output
		println(1, "x", 2.5, m, s[0] == 1, any(1), 1<<40)
		defer println(key, t)
	}
	return
}

func rethrown() {
	defer func() { fmt.Println("recovered", recover()) }()
	value := any("deferred panic")
	defer panic(value)
	value = 1
	panic("first")
}

func ignored() {
	defer func() { fmt.Println("still", recover()) }()
	defer recover()
	panic("panicking")
}

func started() {
	c := make(chan int)
	go close(c)
	<-c
	m := map[int]int{1: 2}
	var wg sync.WaitGroup
	wg.Add(1)
	go func() { defer wg.Done(); defer clear(m); m[3] = 4 }()
	wg.Wait()
	go print()
	s, done := make([]byte, 3), make(chan bool)
	go func() { defer close(done); defer copy(s, "xyz") }()
	<-done
	fmt.Println(len(m), string(s))
}

func inLoop(yield func(int) bool) { yield(1) }

func loops() {
	defer func() { fmt.Println("outer", recover()) }()
	defer func() {
		for range inLoop {
			fmt.Println("loop", recover())
		}
	}()
	panic("p")
}

func main() {
	fmt.Println(sizes(int8(1)), sizes("s"), sizes([]int{}), sizes(struct {
		a byte
		b int32
	}{}))
	fmt.Println(bits(int8(1)), bits(int32(1)), bits(1))
	fmt.Println(largest(1, 3, 2))
	fmt.Println(largest(float32(1.5), -2, 0.25))
	fmt.Println(largest(float32(math.NaN()), 1, 2))
	fmt.Println(largest(math.Copysign(0, -1), 0, 0))
	fmt.Println(largest("b", "", "c"))
	fmt.Println(counts(3), counts(^uint64(0)), counts(1<<63), counts(0))
	m, s, c := deferred()
	_, ok := <-c
	fmt.Println(m, s, ok)
	rethrown()
	ignored()
	started()
	loops()
	print()
}
