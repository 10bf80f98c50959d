package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

type person struct {
	name string
	age  int
	size uint8
	id   uint64
	next *person
}

func see(text string, n int) int {
	fmt.Print(text, " ")
	return n
}

func attempt(name string, f func() int) {
	defer func() { fmt.Println(name, recover()) }()
	fmt.Println(name, f())
}

// All arguments of cmp.Or are evaluated, also behind one that is not zero.
func or() {
	p, q := person{name: "a", age: 1}, person{name: "b", age: 1}
	attempt("calls", func() int { return cmp.Or(see("first", 1), see("second", 2), see("third", 0)) })
	attempt("a call between others", func() int { return cmp.Or(1, see("call", 2), cmp.Compare(p.age, q.age)) })
	attempt("a nil pointer", func() int { return cmp.Or(1, p.next.age) })
	attempt("a nil pointer in a call", func() int { return cmp.Or(1, cmp.Compare(p.age, q.next.age)) })
	attempt("an index", func() int { list := []int{}; return cmp.Or(1, list[p.age]) })
	attempt("a division", func() int { return cmp.Or(1, p.age/int(q.size)) })
	attempt("a variable that a call changes", func() int {
		n := 0
		set := func() int { n = 5; return 0 }
		return cmp.Or(n, set(), n)
	})
	fmt.Println(cmp.Or(0, -p.age), cmp.Or(p.name, q.name), cmp.Or("", p.name), cmp.Or("", "", ""), cmp.Or(false, p.age == 1), cmp.Or[int]())
	fmt.Println(cmp.Or(cmp.Compare(p.age, q.age), strings.Compare(p.name, q.name), see("last", 3)))
	fmt.Println(cmp.Or(p.age-q.age, cmp.Compare(q.name, p.name)), cmp.Or(0, 0, p.age+q.age, 9))
}

func compare() {
	for _, a := range []int{-1 << 63, -1, 0, 1, 1<<63 - 1} {
		for _, b := range []int{-1 << 63, -1, 0, 1, 1<<63 - 1} {
			fmt.Print(cmp.Compare(a, b), cmp.Compare(int8(a), int8(b)), cmp.Compare(uint8(a), uint8(b)), cmp.Compare(uint32(a), uint32(b)), cmp.Compare(uint64(a), uint64(b)), " ")
			a = cmp.Compare(a, b)
			fmt.Print(a, " ")
		}
	}
	fmt.Println()
}

func sorted() {
	var people []person
	seed := 1
	for range 500 {
		seed = (seed*1103515245 + 12345) % 2147483648
		people = append(people, person{name: fmt.Sprint(seed % 10), age: seed % 7, id: uint64(seed)})
	}
	byAge := slices.Clone(people)
	slices.SortStableFunc(byAge, func(a, b person) int { return cmp.Or(cmp.Compare(a.age, b.age), strings.Compare(a.name, b.name)) })
	byAll := slices.Clone(people)
	slices.SortFunc(byAll, func(a, b person) int {
		return cmp.Or(-cmp.Compare(a.age, b.age), strings.Compare(a.name, b.name), cmp.Compare(a.id, b.id))
	})
	sum := uint64(0)
	for i := range people {
		sum = sum*31 + byAge[i].id*3 + byAll[i].id
	}
	fmt.Println(sum)
}

func main() {
	or()
	compare()
	sorted()
}
