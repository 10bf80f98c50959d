package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

type id int

type person struct {
	name string
	age  int
}

func (p person) String() string { return fmt.Sprintf("%s(%d)", p.name, p.age) }

type people []person

var names = []string{"Eve", "Bob", "Ann", "Zoe", "Ida", "Max", "Leo", "Kim", "Tom", "Amy"}

func group() people {
	var g people
	for i, n := range names {
		g = append(g, person{n, (i*37 + 5) % 4})
	}
	return g
}

func try(what string, f func()) {
	defer func() {
		if r := recover(); r != nil {
			text, _, _ := strings.Cut(fmt.Sprint(r), " [") // interpreted code does not know the numbers
			fmt.Println(what, "panics:", text)
		}
	}()
	f()
	fmt.Println(what, "does not panic")
}

func main() {
	ints := []int{5, 2, 8, 2, 9, 1, 5, 5, 0, -3, 7}
	ids := []id{5, 2, 8, 2, 9, 1, 5, 5, 0, -3, 7}
	floats := []float64{2.5, math.NaN(), -1, math.Inf(1), 0, 3, 4, 5, 6, 7}

	// order
	a := slices.Clone(ints)
	slices.Sort(a)
	fmt.Println(a, slices.IsSorted(a), slices.IsSorted(ints))
	b := slices.Clone(ids)
	slices.Sort(b)
	fmt.Printf("%v %T\n", b, b)
	f := slices.Clone(floats)
	slices.Sort(f)
	fmt.Println(f)
	slices.SortFunc(b, func(x, y id) int { return cmp.Compare(y, x) })
	fmt.Println(b)
	g := group()
	slices.SortStableFunc(g, func(x, y person) int { return cmp.Compare(x.age, y.age) })
	fmt.Println(g)
	slices.SortFunc(g, func(x, y person) int {
		return cmp.Or(-cmp.Compare(x.age, y.age), strings.Compare(x.name, y.name))
	})
	fmt.Println(g, slices.IsSortedFunc(g, func(x, y person) int { return cmp.Compare(y.age, x.age) }))
	fmt.Println(slices.Min(ids), slices.Max(ids), slices.Min(names), slices.Max(names), slices.Max(floats))
	fmt.Println(slices.MinFunc(g, func(x, y person) int { return x.age - y.age }))
	fmt.Println(slices.MaxFunc(g, func(x, y person) int { return strings.Compare(x.name, y.name) }))
	fmt.Println(slices.BinarySearch(a, 5))
	fmt.Println(slices.BinarySearch(a, 6))
	fmt.Println(slices.BinarySearchFunc(g, 1, func(p person, age int) int { return age - p.age }))

	// search
	fmt.Println(slices.Index(ids, 9), slices.Index(names, "Tom"), slices.Index(names, "Jim"), slices.Index(g, g[4]))
	fmt.Println(slices.IndexFunc(g, func(p person) bool { return p.age == 1 }))
	fmt.Println(slices.Contains(names, "Ann"), slices.Contains(ids[:3], 9), slices.ContainsFunc(names, func(s string) bool { return s > "Y" }))
	anys := []any{1, "a", id(3), person{"Eve", 1}, nil}
	fmt.Println(slices.Index(anys, any(id(3))), slices.Index(anys, any(3)), slices.Index(anys, any(person{"Eve", 1})), slices.Index(anys, nil))

	// compare
	fmt.Println(slices.Equal(ids, b), slices.Equal(ids, slices.Clone(ids)), slices.Equal(g, group()), slices.Equal(g, slices.Clone(g)))
	fmt.Println(slices.EqualFunc(ints, ids, func(x int, y id) bool { return x == int(y) }))
	fmt.Println(slices.Compare(ints, ints[:3]), slices.Compare(ints, []int{5, 3}), slices.Compare([]string{"a"}, []string{"a"}))
	fmt.Println(slices.CompareFunc(ints, ids, func(x int, y id) int { return x - int(y) }))

	// change
	fmt.Println(slices.Insert([]id{1, 2, 3}, 1, 7, 8), slices.Insert(names[:2:2], 2, "x"), slices.Insert([]int(nil), 0))
	w := slices.Grow([]int{1, 2, 3, 4}, 10)
	fmt.Println(slices.Insert(w, 1, w[2:]...), len(w), cap(w) >= 14)
	d := []int{0, 1, 2, 3, 4, 5}
	fmt.Println(slices.Delete(d, 1, 3), d)
	fmt.Println(slices.DeleteFunc(group(), func(p person) bool { return p.age > 1 }))
	fmt.Println(slices.Replace([]int{0, 1, 2, 3}, 1, 3, 9), slices.Replace([]id{0, 1, 2, 3}, 1, 2, 7, 8, 9))
	fmt.Println(slices.Compact([]id{1, 1, 2, 2, 2, 1, 3, 3}), slices.CompactFunc(g, func(x, y person) bool { return x.age == y.age }))
	r := slices.Clone(ids)
	slices.Reverse(r)
	p := group()[:3]
	slices.Reverse(p)
	fmt.Println(r, p)
	fmt.Println(slices.Concat(ids[:2], nil, b[:1]), slices.Repeat([]string{"a", "b"}, 3), slices.Concat[[]int]() == nil)
	fmt.Println(cap(slices.Clip(w)), slices.Clone([]int(nil)) == nil, slices.Clone([]int{}) == nil)
	fmt.Printf("%T %T %T\n", slices.Clone(g), slices.Concat(g, g), slices.Insert(g, 0))

	// iterate
	for i, v := range slices.All(names[:3]) {
		fmt.Print(i, v, " ")
	}
	for i, v := range slices.Backward(ids) {
		if i < 8 {
			break
		}
		fmt.Print(i, v, " ")
	}
	for v := range slices.Values(g) {
		if v.name == "Zoe" {
			continue
		}
		fmt.Print(v, " ")
	}
	for c := range slices.Chunk(ids, 4) {
		fmt.Print(c, len(c), cap(c), " ")
	}
	fmt.Println()
	fmt.Println(slices.Collect(slices.Values(ids)), slices.AppendSeq(people{}, slices.Values(g[:2])))
	fmt.Println(slices.Sorted(slices.Values(ids)), slices.Sorted(strings.SplitSeq("c,a,b", ",")))
	fmt.Println(slices.SortedFunc(slices.Values(g), func(x, y person) int { return cmp.Compare(x.name, y.name) }))
	fmt.Println(slices.SortedStableFunc(slices.Values(names), func(x, y string) int { return cmp.Compare(x[0], y[0]) }))

	// as values
	sort := slices.Sort[[]int]
	sort(ints)
	fmt.Println(ints, cmp.Less(1, 2), cmp.Compare("b", "a"), cmp.Or(0, 0, 4), cmp.Or("", "x"))

	// panics
	try("Insert", func() { slices.Insert(ints, 20, 1) })
	try("Delete", func() { slices.Delete(ints, 4, 2) })
	try("Delete all", func() { slices.Delete(ints, 0, 11) })
	try("Chunk", func() { slices.Chunk(ints, 0) })
	try("Min", func() { slices.Min([]id{}) })
	try("MaxFunc", func() { slices.MaxFunc(people{}, func(x, y person) int { return 0 }) })
	try("Repeat", func() { slices.Repeat(ints, -1) })
	try("Grow", func() { slices.Grow(ints, -1) })
}
