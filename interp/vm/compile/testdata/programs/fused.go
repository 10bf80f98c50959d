package main

import (
	"errors"
	"fmt"
)

type item struct {
	n    int
	text string
	next *item
	inner
	small uint8
}

type inner struct {
	list []int
	half float64
}

type point struct{ x, y int }

type labeled struct {
	point
	name string
}

func attempt(name string, f func() any) {
	defer func() {
		if x := recover(); x != nil {
			fmt.Println(name, x)
		}
	}()
	fmt.Println(name, f())
}

// Elements of elements, and fields of elements, with all indexes that are out of range.
func elements() {
	rows := [][]int{{1, 2, 3}, nil, {4}}
	flags := [][]bool{{true, false}, {false}}
	floats := [][]float64{{0.5}, {1.5, 2.5}}
	texts := [][]string{{"a"}, {"b", "c"}}
	items := []item{{n: 1, text: "one", inner: inner{[]int{1, 2}, 0.5}}, {n: 2, text: "two", small: 200}}
	items[0].next = &items[1]
	i, j, big := 0, 2, uint64(1<<63)
	var u8 uint8 = 1
	attempt("element", func() any { return rows[i][j] + rows[2][0] })
	attempt("bool", func() any { return flags[i][i] && !flags[u8][i] })
	attempt("float", func() any { return floats[u8][u8] + floats[i][i] })
	attempt("text", func() any { return texts[u8][u8] + texts[i][i] })
	attempt("first index", func() any { return rows[j+1][i] })
	attempt("second index", func() any { return rows[j][i+1] })
	attempt("row of nothing", func() any { return rows[1][i] })
	attempt("unsigned first index", func() any { return rows[big][i] })
	attempt("unsigned second index", func() any { return rows[i][big] })
	attempt("negative index", func() any { return rows[i][i-1] })
	attempt("same register", func() any { k := 1; k = rows[k-1][k]; return k })
	attempt("update", func() any { rows[i][j] += rows[i][i]; rows[i][j]++; return rows })
	attempt("chain", func() any { return rows[rows[i][i]+1][rows[i][i]-1] })
	attempt("fields", func() any {
		return fmt.Sprint(items[i].n, items[i].text, items[u8].small, items[i].half, items[i].next == &items[1])
	})
	attempt("field of an embedded struct", func() any { return items[i].list[u8] })
	attempt("field through a pointer", func() any { return items[i].next.text })
	attempt("index of a field", func() any { return items[j].text })
	attempt("unsigned index of a field", func() any { return items[big].n })
	attempt("variable of the address", func() any { p := &items[i]; n := p.n; p.n = 7; return n + items[i].n })
	attempt("update of a field", func() any { items[i].n += items[u8].n; items[i].text += items[u8].text; return items[i].text })
	attempt("field to its index", func() any { k := 1; k = items[k].n; return k })
}

func results(s []int) (a, b int) {
	defer func() { recover() }()
	a, b = 1, 2
	a, b = b+10, s[5]
	return a, b
}

// All values of an assignment are computed before the first variable changes.
func assignments() {
	a, b, c := 1, 2, 3
	a, b = b, a+b
	fmt.Println(a, b)
	a, b, c = c, a, b
	fmt.Println(a, b, c)
	a, b = a+1, b-1
	fmt.Println(a, b)
	a, b, c = b, c, a+b+c
	fmt.Println(a, b, c)
	s, t := "s", "t"
	s, t, a = t, s+t, a+1
	fmt.Println(s, t, a)
	x, y := 0.5, 2.0
	for range 3 {
		x, y = x*x-y, 2*x*y
	}
	fmt.Println(x, y)
	var e, f any = 1, "f"
	e, f = f, e
	fmt.Println(e, f)
	var p *item
	var list []int
	p, list = &item{n: 4}, append(list, 1)
	p, list = nil, list
	fmt.Println(p == nil, list)
	var i8 int8 = 127
	i8, a = i8+1, int(i8)
	fmt.Println(i8, a)
	swap := func(n int) (int, int) { return n, a }
	a, b = swap(b)
	fmt.Println(a, b)
	f1 := func() int { a++; return a }
	a, b = b, f1()
	fmt.Println(a, b)
	fmt.Println(results([]int{1}))
}

// Keys of maps whose literals set all fields, some, or none, also at the same place again.
func keys() {
	counts, names := map[point]int{}, map[labeled]int{}
	for i := range 6 {
		counts[point{i % 2, i % 3}]++
		counts[point{y: i % 2}]++
		counts[point{}]++
		names[labeled{point{i % 2, 1}, "a"}]++
		names[labeled{point{x: i % 3}, "b"}] += counts[point{i, counts[point{0, 0}]}] + 1
		names[labeled{point: point{}}]++
	}
	fmt.Println(counts, names)
}

type entry struct {
	name string
	key  int
	at   [2]int8
}

// Literals that are copied, again and again at the same place.
func literals() {
	list := make([]entry, 4)
	var grown []entry
	pairs := map[int]point{}
	var last entry
	var p point
	var anything []any
	for i := range list {
		list[i] = entry{fmt.Sprint("n", i), i * i, [2]int8{1, int8(i)}}
		grown = append(grown, entry{key: i}, entry{name: "x", key: i, at: list[i].at}, entry{})
		pairs[i] = point{y: i}
		pairs[-i] = point{i, pairs[i].y}
		last = entry{name: last.name + "l", key: last.key + 1}
		p = point{p.y, p.x + i}
		p = point{y: p.x, x: p.y}
		anything = append(anything, point{i, i}, entry{key: i})
		attempt("literal with a panic", func() any { return nil })
		for j := range 2 {
			list[i] = entry{list[i].name, list[i].key + j, [2]int8{list[i].at[1], list[i].at[0]}}
			pointer := &list[i]
			*pointer = entry{key: pointer.key, name: pointer.name, at: pointer.at}
		}
	}
	fmt.Println(list, grown, pairs, last, p, anything)
	copies := []entry{}
	for i := 0; ; i++ {
		if copies = append(copies, entry{key: i}); i == 2 {
			break
		}
	}
	fmt.Println(copies)
}

func find(n int) (err error) {
	if n > 2 {
		err = errors.New("large")
	}
	return err
}

// Comparisons of interface values with nil in all kinds of conditions.
func nils() {
	n := 0
	for i := range 5 {
		if err := find(i); err != nil {
			n += 10
		} else if err == nil && i != 1 {
			n++
		}
		err := find(i)
		if !(err == nil) || i == 0 {
			n += 100
		}
		if nil == err || nil != err && i > 3 {
			n += 1000
		}
	}
	k := 0
	for err := find(k); err == nil; err = find(k) {
		k++
	}
	for err := error(nil); err != nil || k < 9; k++ {
	}
	var typed *item
	var x any = typed
	fmt.Println(n, k, x == nil, x != nil)
}

func main() {
	elements()
	assignments()
	keys()
	literals()
	nils()
}
