package main

import (
	"crypto/sha256"
	"fmt"
)

// Slices as arrays, parts of values that are not variables, and range statements that assign to two operands.

type (
	block [4]int
	pair  struct{ a, b int }
	grid  struct {
		cells [2][2]pair
		name  string
	}
)

func try(name string, f func()) {
	defer func() { fmt.Println(name, recover()) }()
	f()
}

func arrays() {
	s := []int{1, 2, 3, 4, 5}
	a := [4]int(s)
	p := (*[4]int)(s)
	b := block(s[1:])
	q := (*block)(s)
	s[0] = 9
	q[1] = 8
	fmt.Println(a, *p, b, *q, [2]int(s[3:]) == [2]int{4, 5}, [5]int(s)[4])
	x, y := [2]int(s), [2]int(s[2:])
	s[0], s[2] = -1, -2
	fmt.Println(x, y, len([0]int([]int(nil))), [0]int(s[:0]), (*[0]int)(nil) == nil, (*[0]int)([]int(nil)) == nil, (*[0]int)([]int{}) == nil)
	var none []pair
	empty := [0]pair(none)
	fmt.Println(empty, len(empty))
	pairs := []pair{{1, 2}, {3, 4}}
	both := [2]pair(pairs)
	pairs[0].a = 7
	fmt.Println(both, [1]pair(pairs))
	fmt.Printf("%x %T\n", [4]byte([]byte("abcdef")), block(s))
	sum := sha256.Sum256([]byte("x"))
	fmt.Printf("%x\n", [4]byte(sum[:4]))
	for i := range [3]int(s) {
		fmt.Print(i, " ")
	}
	for i, v := range [3]int(s) {
		s[2] = 50
		fmt.Print(i, v, " ")
	}
	fmt.Println()
	try("short", func() { _ = [4]int(s[:2]) })
	try("short pointer", func() { fmt.Println((*[6]int)(s)) })
	try("nil", func() { _ = [1]string([]string(nil)) })
	fmt.Println(first[[]int, [2]int](s))
}

func first[S ~[]E, A [2]E, E int](s S) A { return A(s) }

func value() grid {
	return grid{[2][2]pair{{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}}, "g"}
}

func parts() {
	grids := map[string]grid{"g": value()}
	arrays := map[int][2][]int{1: {{1, 2}, {3}}}
	i := 1
	fmt.Println(grids["g"].name, grids["g"].cells[i][0].b, grids["none"].cells[i], grids["g"].cells[1][i])
	fmt.Println(arrays[1][i], arrays[1][0][i], len(arrays[2][i]), value().cells[i][i].a, value().cells[1])
	pointers := map[string]*grid{"p": {name: "pointer"}}
	pointers["p"].cells[i][0].a = 11
	pointers["p"].cells[i][0].a++
	fmt.Println(*pointers["p"], pointers["p"].cells[i][0])
	fmt.Println([]string{"a", "b"}[i], [2]pair{{1, 2}, {3, 4}}[i].b, struct{ x [2]int }{[2]int{5, 6}}.x[i], map[string]pair{"k": {1, 2}}["k"].b)
	var any any = value()
	fmt.Println(any.(grid).cells[i][1].a, any.(grid).name)
	c := make(chan grid, 1)
	c <- value()
	fmt.Println((<-c).cells[0][i])
	try("map index", func() { fmt.Println(grids["g"].cells[i+1]) })
	try("array index", func() { fmt.Println([2]int{1, 2}[i+1]) })
	for _, v := range grids["g"].cells {
		fmt.Print(v)
	}
	for k := range grids["g"].cells[0] {
		fmt.Print(k)
	}
	fmt.Println()
}

func ranges() {
	i, list := 0, make([]string, 5)
	for i, list[i] = range []string{"a", "b", "c"} {
		fmt.Print(i, list, " ")
	}
	fmt.Println(i, list)
	var p pair
	m := map[int]int{}
	for p.a, p.b = range []int{5, 6} {
		fmt.Print(p, " ")
	}
	for p.b, m[p.b] = range map[int]int{3: 4} {
		fmt.Print(p, m, " ")
	}
	var runes [3]rune
	for i, runes[i] = range "xyz" {
		fmt.Print(i, runes, " ")
	}
}

func functions() {
	seq := func(yield func(int, string) bool) {
		_ = yield(2, "x") && yield(0, "y") && yield(1, "z")
	}
	i, list := 0, make([]string, 3)
	for i, list[i] = range seq {
		fmt.Print(i, list, " ")
	}
	var boxes [3]any
	var number any
	for number, boxes[i] = range seq {
		fmt.Print(number, boxes, " ")
	}
	fmt.Println()
	try("range index", func() {
		for i, list[i+5] = range []string{"v"} {
		}
	})
	fmt.Println(i)
}

func main() {
	arrays()
	parts()
	ranges()
	functions()
}
