package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
)

// Maps with keys and elements of all kinds, which cells and compiled packages fill and read.

type point struct{ X, Y int }
type small struct {
	A int8
	B bool
}
type gaps struct {
	A int8
	B int64
}
type blanks struct {
	A int
	_ int
	B int
}
type mixed struct {
	Name string
	N    int
	F    float32
}
type nested struct {
	P point
	L [2]int16
}
type holder struct{ V any }
type value struct {
	S    string
	List []int
	P    *point
}

func show[K comparable, V any](name string, m map[K]V, k, absent K, v V) {
	m[k] = v
	got, ok := m[k]
	none, found := m[absent]
	fmt.Println(name, len(m), m[k], got, ok, none, found, fmt.Sprint(m) == fmt.Sprint(map[K]V{k: v}), slices.Collect(maps.Keys(m)))
	c := maps.Clone(m)
	c[absent] = v
	n := 0
	for key := range c {
		if _, ok := c[key]; ok || key != key {
			n++
		}
		if _, ok := m[key]; ok {
			n += 10
		}
	}
	delete(c, k)
	_, ok = c[k]
	fmt.Println(n, len(c), ok)
}

func plain() {
	m := map[point]int{{1, 2}: 3}
	for i := range 100 {
		m[point{i, i % 7}] += i
		m[point{i % 5, 1}]++
	}
	v, ok := m[point{99, 1}]
	fmt.Println(len(m), m[point{3, 1}], v, ok, m[point{}], m[point{-1, 0}])
	for p := range m {
		if p.X > 4 {
			delete(m, p)
		}
	}
	fmt.Println(m)
	grid := map[point]point{}
	for i := range 10 {
		p := point{i, i}
		grid[p] = point{i + 1, i}
		p.X = 100
		q := grid[point{i, i}]
		q.Y = 200
	}
	fmt.Println(grid, grid[point{Y: 3, X: 3}], grid[point{Y: 5}])
	type local struct{ a, b uint32 }
	l := map[local]string{}
	for i := range uint32(20) {
		l[local{a: i}] += "x"
		l[local{b: i / 2}] += "y"
	}
	fmt.Println(len(l), l[local{}], l[local{3, 0}], l[local{0, 3}])
}

func kinds() {
	show("small", map[small]int8{}, small{1, true}, small{1, false}, -5)
	show("gaps", map[gaps]string{}, gaps{1, 2}, gaps{2, 1}, "v")
	show("blanks", map[blanks]float32{}, blanks{A: 1, B: 2}, blanks{A: 2, B: 1}, 1.5)
	show("mixed", map[mixed]value{}, mixed{"a", 1, 0.5}, mixed{"a", 1, -0.5}, value{"s", []int{1}, nil})
	show("nested", map[nested]any{}, nested{point{1, 2}, [2]int16{3, 4}}, nested{}, any(point{5, 6}))
	show("holder", map[holder]bool{}, holder{point{1, 2}}, holder{1}, true)
	show("array", map[[3]int8]uint16{}, [3]int8{1, 2, 3}, [3]int8{}, 65535)
	show("floats", map[float64]complex128{}, 1.5, 2.5, complex(1, -1))
	show("zeros", map[float64]int{}, math.Copysign(0, -1), 1, 7)
	show("complex", map[complex64]rune{}, complex(1, 2), 0, 'x')
	show("interface", map[any]struct{}{}, "a", 1, struct{}{})
	show("bool", map[bool][]string{}, true, false, []string{"x"})
	show("int16", map[int16]map[string]int{}, -3, 3, map[string]int{"k": 1})
	show("string", map[string]value{}, "k", "", value{S: "v", P: nil})
	show("pointers", map[string][2]string{}, "k", "", [2]string{"a", "b"})
	show("functions", map[uint8]chan int{}, 255, 0, nil)
	m := map[float64]int{}
	m[math.NaN()], m[math.NaN()], m[0] = 1, 2, 3
	fmt.Println(len(m), m[math.NaN()], m[math.Copysign(0, -1)])
	clear(m)
	m[0]++
	m[math.Copysign(0, -1)]++
	m[math.NaN()]--
	for k, v := range m {
		if k == 0 {
			fmt.Println(math.Signbit(k), v)
		}
	}
	u := map[uint8]uint64{}
	u[3]--
	u[3] += 1
	u[4] -= 1
	u[5] += u[3] + u[4]
	f := map[string]float64{}
	f["a"]++
	f["a"] += 0.5
	b := map[bool]int64{}
	b[true] += b[false] - 1
	b[false]--
	type id int32
	i := map[id]id{}
	i[1]++
	i[1] += i[1] + 1
	p := map[[2]uint8]uintptr{}
	p[[2]uint8{1, 2}]++
	p[[2]uint8{1, 2}] += 2
	fmt.Println(u, f, b, i, p)
}

func panics() {
	try := func(f func()) {
		defer func() { fmt.Println(recover()) }()
		f()
	}
	var none map[point]int
	try(func() { fmt.Println(none[point{}], len(none)); delete(none, point{}); none[point{1, 1}] = 1 })
	try(func() { none[point{1, 2}]++ })
	try(func() { var m map[string]uint64; fmt.Println(m["a"]); m["a"] += 2 })
	try(func() { m, list := map[point]int{}, []int{1}; m[point{}] += list[len(m)+1] })
	var values map[mixed]value
	try(func() { v, ok := values[mixed{}]; fmt.Println(v, ok); values[mixed{}] = v })
	var any2 map[holder]int
	try(func() { fmt.Println(any2[holder{[]int{}}]) })
	try(func() { map[holder]int{}[holder{func() {}}]++ })
	try(func() { m := map[any]point{}; fmt.Println(m[1], m["x"].X); m[map[int]int{}] = point{} })
}

func compiled() {
	m := map[string]point{}
	fmt.Println(json.Unmarshal([]byte(`{"a":{"X":1,"Y":2},"b":{"Y":3}}`), &m), m["a"], m["b"].Y, m["c"])
	m["a"] = point{m["a"].Y, 7}
	text, err := json.Marshal(m)
	fmt.Println(string(text), err)
	keys := slices.SortedFunc(maps.Keys(map[point]bool{{2, 1}: true, {1, 2}: true}), func(a, b point) int { return a.X - b.X })
	fmt.Println(keys)
	count := map[mixed]int{}
	for _, k := range []mixed{{"a", 1, 0}, {"b", 1, 0}, {"a", 1, 0}, {"a", 1, float32(math.Copysign(0, -1))}} {
		count[k]++
	}
	var list []string
	for k, n := range count {
		list = append(list, fmt.Sprint(k, n))
	}
	sort.Strings(list)
	fmt.Println(list, count[mixed{"a", 1, 0}])
	lists := map[point][]int{}
	for i := range 10 {
		k := point{i % 2, 0}
		lists[k] = append(lists[k], i)
	}
	fmt.Println(lists, len(lists[point{1, 0}]))
	structs := map[int]value{1: {S: "a"}}
	v := structs[1]
	v.List = append(v.List, 1)
	structs[2] = v
	v.S = "changed"
	fmt.Println(structs, v)
	two := map[string]map[point]float64{"x": {}}
	two["x"][point{1, 1}] += 0.5
	two["x"][point{1, 1}] *= 3
	a, b := two["x"][point{1, 1}], two["y"][point{1, 1}]
	fmt.Println(two, a, b)
	visited := map[point]bool{}
	var walk func(p point) int
	walk = func(p point) int {
		if p.X < 0 || p.Y < 0 || visited[p] {
			return 0
		}
		visited[p] = true
		return 1 + walk(point{p.X - 1, p.Y}) + walk(point{p.X, p.Y - 1})
	}
	fmt.Println(walk(point{4, 5}), len(visited), visited[point{4, 5}])
	for i := range 3 {
		k := point{i, i}
		kept := map[any]int{point{i, 0}: i}
		ptr := &point{i, i}
		fmt.Print(visited[*ptr], kept, visited[k], map[point]*point{{i, 1}: ptr}[point{i, 1}].X, " ")
	}
	fmt.Println()
}

func main() {
	plain()
	kinds()
	panics()
	compiled()
}
