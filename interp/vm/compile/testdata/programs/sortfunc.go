package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

type person struct {
	name string
	age  int
}

func (p person) compare(q person) int { return cmp.Compare(p.age, q.age) }

func byName(a, b person) int { return strings.Compare(a.name, b.name) }

type people []person

type temperature float32

func sorted[T any](list []T, compare func(a, b T) int) []T {
	list = slices.Clone(list)
	slices.SortFunc(list, compare)
	return list
}

func caught(f func()) {
	defer func() { fmt.Println("caught", recover()) }()
	f()
}

func main() {
	all := people{{"eve", 30}, {"bob", 25}, {"ann", 30}, {"dan", 25}, {"cid", 41}}
	byAge := func(a, b person) int { return cmp.Or(cmp.Compare(a.age, b.age), strings.Compare(a.name, b.name)) }
	fmt.Println(sorted(all, byAge), sorted(all, byName), sorted(all, person.compare)[4])
	slices.SortStableFunc(all, func(a, b person) int { return b.age - a.age })
	fmt.Println(all)

	fmt.Println(sorted([]string{"pear", "fig", "apple"}, strings.Compare))
	fmt.Println(sorted([]string{"pear", "fig", "apple"}, func(a, b string) int { return len(a) - len(b) }))
	fmt.Println(sorted([]int8{3, -7, 0}, func(a, b int8) int { return int(a) - int(b) }))
	fmt.Println(sorted([]uint16{300, 7, 65535}, func(a, b uint16) int { return int(b) - int(a) }))
	fmt.Println(sorted([]temperature{3.5, -7, 0}, func(a, b temperature) int { return cmp.Compare(a, b) }))
	fmt.Println(sorted([]float64{3.5, -7, 0}, cmp.Compare[float64]))
	fmt.Println(sorted([]bool{true, false, true}, func(a, b bool) int {
		switch {
		case a == b:
			return 0
		case b:
			return -1
		}
		return 1
	}))
	fmt.Println(sorted([]any{3, 1, 2}, func(a, b any) int { return a.(int) - b.(int) }))
	fmt.Println(sorted([]complex128{3i, 1, 2i}, func(a, b complex128) int { return cmp.Compare(imag(a), imag(b)) }))
	fmt.Println(sorted([]complex64{3i, 1, 2i}, func(a, b complex64) int { return cmp.Compare(imag(a), imag(b)) }))
	fmt.Println(sorted([][]int{{3, 1}, {1}, {2, 0, 0}}, func(a, b []int) int { return a[0] - b[0] }))
	fmt.Println(sorted([][2]int{{3, 1}, {1, 9}, {2, 0}}, func(a, b [2]int) int { return a[0] - b[0] }))
	fmt.Println(sorted([]struct{}{{}, {}}, func(a, b struct{}) int { return 0 }))
	fmt.Println(len(sorted([]*person{{"b", 2}, {"a", 1}}, func(a, b *person) int { return a.age - b.age })))
	fmt.Println(sorted([]error{errors.New("b"), errors.New("a")}, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) }))

	// A parameter is a copy.
	list := []person{{"b", 2}, {"a", 1}, {"c", 3}}
	slices.SortFunc(list, func(a, b person) int {
		less := a.age - b.age
		a.name, b.age = "changed", 7
		return less
	})
	fmt.Println(list)
	kept := map[string]*person{}
	slices.SortFunc(list, func(a, b person) int {
		kept[a.name] = &a
		return b.age - a.age
	})
	list[0].age = 100
	fmt.Println(list, *kept["b"])

	// A comparison may change the slice, sort another one, or panic.
	list = []person{{"b", 2}, {"a", 1}}
	slices.SortFunc(list, func(a, b person) int {
		list[0].age = 50
		return a.age - b.age
	})
	fmt.Println(list)
	lists := [][]int{{3, 1, 2}, {2, 1}, {0}}
	slices.SortFunc(lists, func(a, b []int) int {
		slices.SortFunc(a, func(x, y int) int { return x - y })
		return slices.Compare(a, b)
	})
	fmt.Println(lists)
	caught(func() { slices.SortFunc(list, func(a, b person) int { panic("no order") }) })
	caught(func() { slices.SortFunc(list, func(a, b person) int { var p *person; return p.age }) })
	caught(func() { slices.SortFunc([]int{2, 1}, nil) })
	caught(func() { slices.SortFunc([]int{1}, nil) })
	slices.SortFunc(list, func(a, b person) int {
		defer func() { recover() }()
		panic("always equal")
	})
	fmt.Println(list)
	slices.SortFunc(people(nil), byName)
	calls := 0
	slices.SortFunc([]int{5, 4, 3, 2, 1}, func(a, b int) int { calls++; return a - b })
	fmt.Println(calls)
}
