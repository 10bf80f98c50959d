package main

import (
	"fmt"
	"hash/maphash"
	"runtime"
)

// Map keys and operands of == that turn out to be of a type without ==.

type list []int
type pair struct {
	name  string
	value any
}
type box struct{ list }
type shape interface{ area() int }

func (l list) area() int { return len(l) }
func (b box) area() int  { return 1 }

type square int

func (s square) area() int { return int(s) }

func try(name string, f func()) {
	defer func() {
		r := recover()
		_, isRuntime := r.(runtime.Error)
		fmt.Println(name, r, isRuntime)
	}()
	f()
}

func main() {
	keys := []any{1, "a", list{1}, pair{"a", 1}, pair{"b", list{}}, box{}, [1]any{2}, [1]any{list{}}, [2]pair{{"c", 3}}, []list{}, map[list2]int{}, &list{}, func() {}, struct{ shape }{square(2)}, struct{ shape }{list{}}, nil}
	empty, full, none := map[any]int{}, map[any]int{"x": 1}, map[any]int(nil)
	for i, k := range keys {
		name := fmt.Sprintf("%d %T", i, k)
		for _, m := range []map[any]int{empty, full, none} {
			try(name+" get", func() { fmt.Println(m[k]) })
			try(name+" get ok", func() { v, ok := m[k]; fmt.Println(v, ok) })
			try(name+" delete", func() { delete(m, k) })
			try(name+" set", func() { m[k] = 2 })
			try(name+" add", func() { m[k] += 2 })
			try(name+" increment", func() { m[k]++ })
			delete(empty, "y")
			clear(empty)
		}
		try(name+" literal", func() { fmt.Println(len(map[any]int{k: 1, 7: 2})) })
		try(name+" equal", func() { fmt.Println(k == k, k == keys[0], keys[3] == k) })
		try(name+" parts", func() {
			x, y := pair{"p", k}, pair{"p", k}
			fmt.Println(x == y, x == pair{"q", k}, [2]any{1, k} == [2]any{1, k})
		})
		try(name+" any parts", func() { var x, y any = pair{"p", k}, pair{"p", k}; fmt.Println(x == y, x != y) })
		try(name+" map of pairs", func() { fmt.Println(map[pair]int{{"p", k}: 3}[pair{"p", k}]) })
		try(name+" hash", func() { s := maphash.MakeSeed(); fmt.Println(maphash.Comparable(s, k) == maphash.Comparable(s, k)) })
	}
	shapes := map[shape]string{square(1): "one"}
	for _, s := range []shape{square(1), square(2), list{1}, box{}, &list{}, struct{ shape }{square(3)}, struct{ shape }{list{}}} {
		name := fmt.Sprintf("%T", s)
		try(name+" get", func() { fmt.Println(shapes[s]) })
		try(name+" set", func() { shapes[s] += "x" })
		try(name+" equal", func() { fmt.Println(s == s, s == shape(square(1)), any(s) == any(s)) })
	}
	fmt.Println(len(shapes))
}

type list2 [1]any
