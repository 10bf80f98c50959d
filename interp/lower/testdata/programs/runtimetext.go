package main

import (
	"fmt"
	"runtime"
)

type T int

func (t T) F() int { return int(t) }

type I interface{ F() int }

type Outer struct{ T }

func try(name string, f func()) {
	defer func() {
		err := recover()
		_, ok := err.(runtime.Error)
		fmt.Println(name, ok, err)
	}()
	f()
}

func toArray[A ~[2]E, E any](s []E) A { return A(s) }

func main() {
	n, m, big := 2, -1, 1<<60
	s := []int{1}
	try("negative length", func() { _ = make([]int, m) })
	try("negative capacity", func() { _ = make([]int, 0, m) })
	try("capacity too small", func() { _ = make([]int, n, n-1) })
	try("length too large", func() { _ = make([]int, big) })
	try("capacity too large", func() { _ = make([]int, n, big) })
	try("both too large", func() { _ = make([]int, big, big) })
	try("negative both", func() { _ = make([]string, m, m) })
	try("unsigned", func() { u := uint64(1) << 63; _ = make([]int, 0, u) })
	try("right", func() { fmt.Println(len(make([]int, n, 5)), cap(make([]int, 0, uint8(7)))) })
	try("array", func() { _ = [2]int(s) })
	try("pointer to array", func() { _ = (*[4]int)(s) })
	try("generic array", func() { _ = toArray[[2]int](s) })
	try("arrays", func() { fmt.Println([1]int(s), *(*[1]int)(s), toArray[[2]int]([]int{3, 4, 5})) })
	var t *T
	var i I = t
	try("nil receiver", func() { i.F() })
	var o *Outer
	i = o
	try("nil embedding", func() { i.F() })
	try("append", func() { e := make([]struct{}, int(^uint(0)>>1)); _ = append(e, struct{}{}) })
	try("append slice", func() { e := make([]struct{}, int(^uint(0)>>1)); _ = append(e, e...) })
}
