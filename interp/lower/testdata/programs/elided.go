package main

import "fmt"

// Composite literals whose type &T is elided.

type point struct{ x, y int }

func trace(s string) int {
	fmt.Print(s, " ")
	return len(s)
}

func pointers() {
	points := []*point{{1, 2}, {y: trace("a")}, nil, {}}
	slices := []*[]int{{1, 2, trace("bb")}, {}, {5: trace("ccc")}}
	maps := map[string]*map[string]int{"m": {"a": trace("d")}, "e": {}}
	arrays := [2]*[2]string{{"x"}, {1: "y"}}
	nested := []*[]*map[int]*point{{{1: {1, trace("e")}}, {}}}
	keys := map[*point]int{{1, 2}: 3, {1, 2}: 4}
	fmt.Println()
	for _, p := range points {
		if p != nil {
			fmt.Print(*p, " ")
		}
	}
	for _, s := range slices {
		*s = append(*s, 9)
		fmt.Print(*s, len(*s), " ")
	}
	(*maps["e"])["k"] = 7
	fmt.Println(*maps["m"], *maps["e"], *arrays[0], *arrays[1], len(keys))
	fmt.Println(*(*(*nested[0])[0])[1], *(*nested[0])[1])
	fmt.Printf("%T %T %T %T\n", slices[0], maps["m"], arrays[0], nested[0])
}

func again() (list []*[]int) {
	for i := range 3 {
		list = append(list, []*[]int{{i}}...)
	}
	return list
}

func generic[T any](x T) []*[]T { return []*[]T{{x}, {x, x}} }

var count int

func next() int {
	count++
	return count
}

func order() {
	p := &map[int]int{next(): next(), count: next()}
	q := []*map[int]int{{next(): next()}, {count: next()}, {count: count, next() + 100: count}}
	r := map[int]*map[int][]int{count: {next(): {next(), count}, count: {next()}}}
	fmt.Println(*p, *q[0], *q[1], *q[2], count)
	for k, v := range r {
		fmt.Println(k, *v)
	}
}

func main() {
	order()
	pointers()
	for _, p := range again() {
		fmt.Print(*p, " ")
	}
	fmt.Println(*&[]int{1}, *&map[string]int{"a": 1}, len(*generic("s")[1]), *generic(2.5)[0])
}
