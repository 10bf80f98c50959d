package main

import (
	"fmt"
	"sort"
	"sync/atomic"
)

type pair struct {
	name string
	n    int
}

type small struct {
	a int8
	b uint16
}

func scalars() {
	bytes, shorts, words := make(chan int8, 1), make(chan int16, 1), make(chan int32, 1)
	ubytes, ushorts, uwords := make(chan uint8, 1), make(chan uint16, 1), make(chan uint32, 1)
	floats, bools := make(chan float32, 1), make(chan bool, 1)
	for range 8 {
		select {
		case bytes <- -100:
		case shorts <- -30000:
		case words <- -2000000000:
		case ubytes <- 200:
		case ushorts <- 60000:
		case uwords <- 4000000000:
		case floats <- 1.25:
		case bools <- true:
		}
	}
	var lines []string
	for range 8 {
		select {
		case v := <-bytes:
			lines = append(lines, fmt.Sprint("int8 ", v-1))
		case v := <-shorts:
			lines = append(lines, fmt.Sprint("int16 ", v-1))
		case v := <-words:
			lines = append(lines, fmt.Sprint("int32 ", v-1))
		case v := <-ubytes:
			lines = append(lines, fmt.Sprint("uint8 ", v+100))
		case v := <-ushorts:
			lines = append(lines, fmt.Sprint("uint16 ", v+10000))
		case v := <-uwords:
			lines = append(lines, fmt.Sprint("uint32 ", v+1000000000))
		case v := <-floats:
			lines = append(lines, fmt.Sprint("float32 ", v*2))
		case v, ok := <-bools:
			lines = append(lines, fmt.Sprint("bool ", !v, ok))
		}
	}
	sort.Strings(lines)
	fmt.Println(lines)
}

func others() {
	complexes, halves := make(chan complex128, 1), make(chan complex64, 1)
	pairs, arrays, smalls := make(chan pair, 1), make(chan [2]string, 1), make(chan small, 1)
	empties, maps, errors := make(chan struct{}, 1), make(chan map[string]int, 1), make(chan error, 1)
	p, m := pair{"p", 1}, map[string]int{"m": 1}
	for range 8 {
		select {
		case complexes <- complex(1, 2):
		case halves <- complex(3, 4):
		case pairs <- p:
			p.n = 50
		case arrays <- [2]string{"x", "y"}:
		case smalls <- small{-1, 65535}:
		case empties <- struct{}{}:
		case maps <- m:
			m["m"]++
		case errors <- fmt.Errorf("e"):
		}
	}
	var lines []string
	for range 8 {
		select {
		case v := <-complexes:
			lines = append(lines, fmt.Sprint("complex128 ", v*v))
		case v := <-halves:
			lines = append(lines, fmt.Sprint("complex64 ", v*v))
		case v := <-pairs:
			v.n++
			lines = append(lines, fmt.Sprint("struct ", v))
		case v := <-arrays:
			v[0] += "z"
			lines = append(lines, fmt.Sprint("array ", v))
		case v := <-smalls:
			v.b++
			lines = append(lines, fmt.Sprint("small ", v))
		case v := <-empties:
			lines = append(lines, fmt.Sprint("empty ", v))
		case v := <-maps:
			lines = append(lines, fmt.Sprint("map ", v))
		case v := <-errors:
			lines = append(lines, fmt.Sprint("error ", v))
		}
	}
	sort.Strings(lines)
	fmt.Println(lines, p, m)
}

// plain sends and receives without select.
func plain() {
	c, f, b := make(chan complex64, 1), make(chan float32, 1), make(chan int8, 1)
	c <- 1 + 2i
	f <- 0.5
	b <- -7
	fmt.Println(<-c*2, <-f+1, <-b-1)
	s := make(chan small)
	go func() {
		for i := range 3 {
			s <- small{int8(-i), uint16(i)}
		}
		close(s)
	}()
	for v := range s {
		fmt.Print(v, " ")
	}
	v, ok := <-s
	fmt.Println(v, ok)
}

// fair counts how often each of some ready channels is chosen.
func fair() {
	a, b, c := make(chan int), make(chan struct{}), make(chan string)
	close(a)
	close(b)
	close(c)
	var two, three [3]int
	for range 3000 {
		select {
		case <-a:
			two[0]++
		case <-b:
			two[1]++
		}
		select {
		case <-a:
			three[0]++
		case <-b:
			three[1]++
		case _, ok := <-c:
			if ok {
				panic("open")
			}
			three[2]++
		}
	}
	fmt.Println(two[0] > 1300, two[1] > 1300, three[0] > 800, three[1] > 800, three[2] > 800)
}

// moved polls two channels, of which one always has a value: the default is never chosen.
func moved() {
	a, b := make(chan int, 4), make(chan int, 4)
	a <- 1
	var stop atomic.Bool
	done := make(chan bool)
	go func() {
		defer close(done)
		for !stop.Load() {
			b <- 1
			<-a
			a <- 1
			<-b
		}
	}()
	none := 0
	for range 3000 {
		select {
		case v := <-a:
			a <- v
		case v := <-b:
			b <- v
		default:
			none++
		}
	}
	stop.Store(true)
	<-done
	fmt.Println("none", none)
}

func nothing() string {
	var none chan int
	full := make(chan int, 1)
	full <- 1
	select {
	case v := <-none:
		return fmt.Sprint("received ", v)
	case none <- 1:
		return "sent"
	case full <- 2:
		return "sent to a full channel"
	default:
		return "nothing"
	}
}

func closed(two bool) (text string) {
	defer func() { text = fmt.Sprint(recover()) }()
	c, never := make(chan int), make(chan int)
	close(c)
	if two {
		select {
		case c <- 1:
		case never <- 1:
		}
		return "no"
	}
	select {
	case c <- 1:
	default:
	}
	return "no"
}

func main() {
	scalars()
	others()
	plain()
	fair()
	moved()
	fmt.Println(nothing(), closed(true), closed(false))
}
