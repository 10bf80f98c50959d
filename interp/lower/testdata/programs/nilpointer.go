package main

import "fmt"

type S struct{ a, b int }

func try(f func()) {
	defer func() { fmt.Println(recover()) }()
	f()
}

func main() {
	var p *int
	var s *S
	var a *[3]int
	m := map[int]int{}
	try(func() { fmt.Println(&*p) })
	try(func() { _ = &*s })
	try(func() { _ = &*a })
	try(func() { _ = &s.b })
	try(func() { m[0] = *p })
	try(func() { m[0] += *p })
	try(func() { m[0], m[1] = 1, *p })
	fmt.Println(len(m))
	n := 3
	p = &n
	q := &*p
	*q = 4
	m[0] = *p
	fmt.Println(n, m)
}
