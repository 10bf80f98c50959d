package main

import "fmt"

type Bits [3]chan int

func nilArray() *[4]int { fmt.Println("called"); return nil }

func try(name string, f func()) {
	defer func() { fmt.Println(name, recover() != nil) }()
	f()
}

func main() {
	// Strings, with bytes that are no UTF-8.
	for i, c := range "\xca\xFE\u0123h\x80é" {
		fmt.Print(i, " ", c, ", ")
	}
	fmt.Println()
	var i int
	var c rune
	for i, c = range "aé\xff" {
	}
	fmt.Println(i, c)
	for range "éé" {
		fmt.Print("x")
	}
	for i := range "éa" {
		fmt.Print(i)
		i += 10
	}
	type text string
	var fs []func() (int, rune)
	for i, c := range text("aéb") {
		if c == 'a' {
			continue
		}
		fs = append(fs, func() (int, rune) { i++; return i, c })
	}
	for _, f := range fs {
		fmt.Print(f())
	}
	fmt.Println()
outer:
	for _, r := range "ab" {
		for _, q := range "xyz" {
			if q == 'y' {
				continue outer
			}
			if r == 'b' {
				break outer
			}
			fmt.Print(string(r), string(q))
		}
	}
	fmt.Println()

	// Values that are channels.
	m := map[string]chan int{"a": make(chan int, 3)}
	for k, c := range m {
		fmt.Println(k, cap(c))
	}
	b := Bits{1: make(chan int, 2)}
	for i, c := range b {
		fmt.Println(i, c == nil)
		b[2] = b[1]
	}
	for i, c := range &b {
		fmt.Println(i, c == nil)
	}
	var ds []func() int
	for _, d := range []<-chan int{m["a"]} {
		ds = append(ds, func() int { return cap(d) })
	}
	fmt.Println(ds[0]())
	for _, d := range []chan<- int{m["a"]} {
		d <- 1
	}
	fmt.Println(len(m["a"]))
	for range []chan int{nil, nil} {
		fmt.Print(".")
	}
	for i := range []chan int{nil, nil} {
		fmt.Print(i)
	}
	var d chan int
	for _, d = range []chan int{nil, m["a"]} {
	}
	fmt.Println(<-d)

	// Both targets are evaluated before the first is assigned.
	x := []int{10, 20}
	i = 1
	for i, x[i] = range []int{99} {
		break
	}
	fmt.Println(i, x)

	// Only the length counts.
	var v *[4]int
	n := 0
	try("range p()", func() {
		for range nilArray() {
			n++
		}
	})
	try("range i p()", func() {
		for i := range nilArray() {
			n += i
		}
	})
	try("range *p()", func() {
		for range *nilArray() {
			n++
		}
	})
	try("range *v", func() {
		for range *v {
			n++
		}
	})
	try("range v", func() {
		for range v {
			n++
		}
	})
	try("values", func() {
		for _, y := range v {
			n += y
		}
	})
	fmt.Println(n)
}
