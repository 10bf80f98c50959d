package main

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
)

type person struct {
	name string
	age  int
}
type people []person

func deep(n int) int {
	if n == 0 {
		return 0
	}
	return 1 + deep(n-1)
}

func try(f func()) {
	defer func() { fmt.Println("recovered", recover()) }()
	f()
}

func byAge(ps []person) func(i, j int) bool {
	return func(i, j int) bool { return ps[i].age < ps[j].age }
}

func sorted(n int) people {
	ps := make(people, n)
	x := uint32(7)
	for i := range ps {
		x = x*1664525 + 1013904223
		ps[i] = person{fmt.Sprint("p", i%10), int(x>>8) % 50}
	}
	calls := 0
	sort.Slice(ps, func(i, j int) bool {
		calls++
		if ps[i].age != ps[j].age {
			return ps[i].age < ps[j].age
		}
		return strings.Compare(ps[i].name, ps[j].name) < 0
	})
	sort.SliceStable(ps, func(i, j int) bool { return ps[i].name > ps[j].name })
	if calls == 0 {
		panic("no calls")
	}
	return ps
}

func deepest(list []int) []int {
	sort.Slice(list, func(i, j int) bool { return deep(100*list[i]) < deep(100*list[j]) })
	return list
}

func nested(lists [][]int) [][]int {
	sort.Slice(lists, func(i, j int) bool {
		sort.Slice(lists[i], func(a, b int) bool { return lists[i][a] < lists[i][b] })
		sort.Slice(lists[j], func(a, b int) bool { return lists[j][a] < lists[j][b] })
		return lists[i][0] < lists[j][0]
	})
	return lists
}

func fails(list []int) { sort.Slice(list, func(i, j int) bool { return list[i+7] < list[j] }) }
func stops(list []int) { sort.Slice(list, func(i, j int) bool { panic(errors.New("stop")) }) }

func main() {
	ps := sorted(200)
	fmt.Println(ps[:3], ps[100], ps[197:])
	sort.Slice(ps, byAge(ps))
	fmt.Println(sort.SliceIsSorted(ps, byAge(ps)), ps[0].age, ps[199].age)
	fmt.Println(deepest([]int{5, 3, 9, 1}), nested([][]int{{5, 4}, {9, 1}, {3}}))
	try(func() { fails([]int{3, 2, 1}) })
	try(func() { stops([]int{3, 2, 1}) })
	try(func() { var less func(i, j int) bool; sort.Slice([]int{2, 1}, less) })
	sort.Slice([]int{}, nil)
	qs := append(people{}, ps...)
	slices.SortFunc(qs, func(a, b person) int { return b.age - a.age })
	fmt.Println(qs[0].age, qs[199].age, slices.IsSortedFunc(qs, func(a, b person) int { return b.age - a.age }))
}
