package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"
)

type P struct{ X int }

func (p P) String() string { return fmt.Sprint("P", p.X) }
func worker(id int, in chan int, quit chan bool) int {
	bad := 0
	for i := 0; i < 500; i++ {
		select {
		case v := <-in:
			if v/10000 != id {
				bad++
			}
		case <-quit:
			return -1
		}
	}
	return bad
}
func try[T any](v T) {
	c := make(chan T, 1)
	for i := 0; i < 3; i++ {
		select {
		case c <- v:
			fmt.Println("sent")
		case w, ok := <-c:
			fmt.Printf("%v %T %v\n", any(w), any(w), ok)
		}
	}
	close(c)
	select {
	case w, ok := <-c:
		fmt.Println(any(w) != nil, ok)
	}
	select {
	case w, ok := <-c:
		fmt.Println(any(w) != nil, ok)
	default:
		fmt.Println("default")
	}
	var n chan T
	select {
	case n <- v:
		fmt.Println("nil")
	case <-n:
		fmt.Println("nil")
	default:
		fmt.Println("default")
	}
	select {
	case n <- v:
		fmt.Println("nil")
	case <-n:
		fmt.Println("nil")
	case <-c:
		fmt.Println("closed")
	}
}
func main() {
	done := make(chan int)
	for id := 0; id < 8; id++ {
		c := make(chan int, 4000)
		for i := 0; i < 4000; i++ {
			c <- id*10000 + i
		}
		go func() { done <- worker(id, c, nil) }()
	}
	sum := 0
	for id := 0; id < 8; id++ {
		sum += <-done
	}
	fmt.Println("messages of other workers:", sum)
	try(1)
	try("s")
	try(P{1})
	try(&P{2})
	try[any](P{3})
	try[any](nil)
	try[error](io.EOF)
	try[error](nil)
	try[fmt.Stringer](P{4})
	try[fmt.Stringer](nil)
	try[io.Reader](strings.NewReader(""))
	try([]P{{1}})
	try(struct{}{})
	try(1 + 2i)
	f := make(chan func(int) int, 1)
	f <- func(x int) int { return x * 2 }
	select {
	case g := <-f:
		fmt.Println(g(4))
	}
	select {
	case f <- func(x int) int { return x * 3 }:
	}
	h := <-f
	fmt.Println(h(5))
	cc := make(chan chan int, 1)
	d := make(chan int, 1)
	select {
	case cc <- d:
	}
	select {
	case e := <-cc:
		e <- 3
		fmt.Println(<-d)
	}
	var arr [3]int
	i := 0
	d <- 7
	select {
	case arr[i] = <-d:
	}
	fmt.Println(arr)
	for _, e := range []func(){func() {
		close(d)
		select {
		case d <- 1:
		}
	}} {
		func() { defer func() { fmt.Println(recover()) }(); e() }()
	}
	ctx2, cancel := context.WithCancel(context.Background())
	cancel()
	select {
	case <-ctx2.Done():
		fmt.Println(ctx2.Err())
	case <-time.After(time.Hour):
	}

	for _, x := range []any{1, nil} {
		fmt.Println(any(x) != nil, any(len(body)) != nil, error(nil) == nil)
	}
}

const body = "body"
